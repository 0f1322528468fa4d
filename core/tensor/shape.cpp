#include "core/tensor/shape.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"

namespace troupe {

Shape::Shape(std::initializer_list<std::int64_t> dims)
    : Shape(std::span<const std::int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) {
  assign(dims);
}

Shape::Shape(const Shape& other) : elements_(other.elements_), rank_(other.rank_) {
  if (rank_ > in_place)
    heap_ = new std::int64_t[static_cast<std::size_t>(rank_)];
  std::copy_n(other.data(), rank_, rank_ > in_place ? heap_ : local_);
}

Shape::Shape(Shape&& other) noexcept : elements_(other.elements_), rank_(other.rank_) {
  if (rank_ > in_place) {
    heap_ = other.heap_;
    other.rank_ = 0;
    other.elements_ = 1;
  } else {
    std::copy_n(other.local_, rank_, local_);
  }
}

Shape& Shape::operator=(const Shape& other) {
  if (this != &other)
    *this = Shape(other);
  return *this;
}

Shape& Shape::operator=(Shape&& other) noexcept {
  if (this == &other)
    return *this;
  release();
  elements_ = other.elements_;
  rank_ = other.rank_;
  if (rank_ > in_place) {
    heap_ = other.heap_;
    other.rank_ = 0;
    other.elements_ = 1;
  } else {
    std::copy_n(other.local_, rank_, local_);
  }
  return *this;
}

void Shape::assign(std::span<const std::int64_t> dims) {
  rank_ = static_cast<std::int32_t>(dims.size());
  if (rank_ > in_place)
    heap_ = new std::int64_t[dims.size()];
  elements_ = 1;
  bool is_empty = false, is_too_large = false;
  std::int64_t* out = rank_ > in_place ? heap_ : local_;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    out[i] = dims[i];
    TROUPE_CHECK(dims[i] >= 0, "a dimension is never negative");
    is_empty = is_empty || dims[i] == 0;
    is_too_large |=
        __builtin_mul_overflow(elements_, std::max<std::int64_t>(dims[i], 1), &elements_);
  }
  elements_ = is_too_large ? too_many : is_empty ? 0 : elements_;
}

Status Shape::check_size() const {
  return elements_ == too_many || rank_ > max_rank ? make(dims()).status() : Status{};
}

Result<Shape> Shape::make(std::span<const std::int64_t> dims) {
  if (dims.size() > max_rank)
    return invalid_argument(str_cat("a shape has at most 254 dimensions, got ", dims.size()));
  std::int64_t elements = 1;
  for (std::int64_t dim : dims) {
    if (dim < 0)
      return invalid_argument(
          str_cat("shape [", str_join(dims, ","), "] has a negative dimension"));
    const std::int64_t before = elements;
    if (__builtin_mul_overflow(before, std::max<std::int64_t>(dim, 1), &elements))
      return invalid_argument(str_cat("Encountered overflow when multiplying ", before, " with ",
                                      dim, ": shape [", str_join(dims, ","),
                                      "] has more than 2^63 - 1 elements"));
  }
  return Shape(dims);
}

namespace {

/// Room for dimensions on the stack: shapes are made in every step.
struct Dims {
  std::int64_t values[Shape::max_rank + 1];
  std::span<const std::int64_t> first(int count) const {
    return {values, static_cast<std::size_t>(count)};
  }
};

} // namespace

Shape Shape::with_appended(std::int64_t dim) const {
  Dims dims;
  std::copy_n(data(), rank_, dims.values);
  dims.values[rank_] = dim;
  return Shape(dims.first(rank_ + 1));
}

Shape Shape::with_dim(int i, std::int64_t value) const {
  Dims dims;
  std::copy_n(data(), rank_, dims.values);
  dims.values[i] = value;
  return Shape(dims.first(rank_));
}

Shape Shape::without(int i) const {
  Dims dims;
  std::copy_n(data(), i, dims.values);
  std::copy(data() + i + 1, data() + rank_, dims.values + i);
  return Shape(dims.first(rank_ - 1));
}

std::string Shape::to_string() const {
  return str_cat("[", str_join(dims(), ","), "]");
}

bool operator==(const Shape& a, const Shape& b) noexcept {
  return a.rank_ == b.rank_ && std::equal(a.data(), a.data() + a.rank_, b.data());
}

bool PartialShape::is_fully_defined() const noexcept {
  return dims_ && std::all_of(dims_->begin(), dims_->end(), [](std::int64_t d) { return d >= 0; });
}

std::optional<Shape> PartialShape::to_shape() const {
  if (!is_fully_defined())
    return std::nullopt;
  auto shape = Shape::make(*dims_);
  if (!shape.ok())
    return std::nullopt;
  return *std::move(shape);
}

bool PartialShape::is_compatible_with(const PartialShape& other) const {
  return merge(other).has_value();
}

std::optional<PartialShape> PartialShape::merge(const PartialShape& other) const {
  if (!dims_)
    return other;
  if (!other.dims_)
    return *this;
  if (dims_->size() != other.dims_->size())
    return std::nullopt;
  std::vector<std::int64_t> out(dims_->size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::int64_t a = (*dims_)[i], b = (*other.dims_)[i];
    if (a >= 0 && b >= 0 && a != b)
      return std::nullopt;
    out[i] = a >= 0 ? a : b;
  }
  return PartialShape(std::move(out));
}

std::string PartialShape::to_string() const {
  if (!dims_)
    return "?";
  std::string out = "[";
  for (std::size_t i = 0; i < dims_->size(); ++i) {
    if (i)
      out += ',';
    if ((*dims_)[i] < 0)
      out += '?';
    else
      str_append(out, (*dims_)[i]);
  }
  return out + "]";
}

Result<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  if (a == b)
    return a;
  int rank = std::max(a.rank(), b.rank());
  Dims out;
  for (int i = 0; i < rank; ++i) {
    int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    std::int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1)
      return invalid_argument(str_cat("Incompatible shapes: ", a, " vs. ", b));
    out.values[i] = da == 1 ? db : da;
  }
  return Shape::make(out.first(rank));
}

} // namespace troupe
