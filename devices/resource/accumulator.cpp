#include "devices/resource/accumulator.hpp"

#include "core/base/strings.hpp"
#include "devices/resource/batches.hpp"

namespace troupe {
namespace {

using Summed = Types<float, double, Half, BFloat16>;

template <class T>
using Wide = std::conditional_t<sizeof(T) == 2, float, T>;

/// Adds `count` elements of `from` to those of `to`.
void add(Tensor& to, std::int64_t to_at, const Tensor& from, std::int64_t from_at,
         std::int64_t count) {
  Status done = dispatch(Summed{}, to.dtype(), [&]<class T>() -> Status {
    const auto n = static_cast<std::size_t>(count);
    const auto sums = to.mutable_data<T>().subspan(static_cast<std::size_t>(to_at), n);
    const auto more = from.data<T>().subspan(static_cast<std::size_t>(from_at), n);
    for (std::size_t i = 0; i < n; ++i)
      sums[i] = T(static_cast<Wide<T>>(sums[i]) + static_cast<Wide<T>>(more[i]));
    return {};
  });
  TROUPE_CHECK(done.ok(), "the accumulator's dtype was checked when it was made");
}

void divide(Tensor& sum, std::int64_t at, std::int64_t size, std::int64_t count) {
  Status done = dispatch(Summed{}, sum.dtype(), [&]<class T>() -> Status {
    for (T& x : sum.mutable_data<T>().subspan(static_cast<std::size_t>(at),
                                              static_cast<std::size_t>(size)))
      x = T(static_cast<Wide<T>>(x) / static_cast<Wide<T>>(count));
    return {};
  });
  TROUPE_CHECK(done.ok(), "the accumulator's dtype was checked when it was made");
}

} // namespace

std::vector<DType> accumulated_dtypes() {
  return {DType::float16, DType::bfloat16, DType::float32, DType::float64};
}

Status GradientAccumulator::check_same(const Spec& other) const {
  const std::string accumulator = str_cat("Shared conditional accumulator '", name_, "' has ");
  if (other.is_sparse != spec_.is_sparse)
    return invalid_argument(str_cat(accumulator, spec_.is_sparse ? "sparse" : "dense",
                                    " gradients, not ", other.is_sparse ? "sparse" : "dense"));
  if (other.dtype != spec_.dtype)
    return invalid_argument(str_cat(accumulator, "dtype ", to_string(spec_.dtype),
                                    " but requested dtype is ", to_string(other.dtype)));
  if (!(other.shape == spec_.shape))
    return invalid_argument(
        str_cat(accumulator, "shape ", spec_.shape, " but requested shape is ", other.shape));
  if (other.is_mean != spec_.is_mean)
    return invalid_argument(str_cat(accumulator, "reduction type ", spec_.is_mean ? "MEAN" : "SUM",
                                    " but requested reduction type is ",
                                    other.is_mean ? "MEAN" : "SUM"));
  return {};
}

Status GradientAccumulator::apply(std::int64_t local_step, const Tensor& gradient) {
  return locked([&]() -> Status {
    if (local_step < global_step_)
      return {};
    if (count_ > 0 && !(gradient.shape() == sum_.shape()))
      return invalid_argument(
          str_cat("Shape mismatch: expected ", sum_.shape(), ", got ", gradient.shape()));
    if (!spec_.shape.is_compatible_with(PartialShape(gradient.shape())))
      return invalid_argument(
          str_cat("Shape mismatch: expected ", spec_.shape, ", got ", gradient.shape()));
    if (count_ == 0) {
      TROUPE_ASSIGN(sum_, Tensor::allocate(memory_, gradient.dtype(), gradient.shape()));
      copy_elements(gradient, 0, sum_, 0, gradient.num_elements());
    } else {
      add(sum_, 0, gradient, 0, gradient.num_elements());
    }
    ++count_;
    return {};
  });
}

Status GradientAccumulator::check_sparse(const Tensor& indices, const Tensor& values,
                                         const Tensor& shape) const {
  const Shape& v = values.shape();
  if (indices.shape().rank() != 1)
    return invalid_argument(
        str_cat("Input indices should be vector but received shape: ", indices.shape()));
  if (v.rank() == 0)
    return invalid_argument("Values cannot be 0-dimensional.");
  if (indices.num_elements() != v[0])
    return invalid_argument(
        str_cat("Expected ", indices.num_elements(), " non-empty input values, got ", v[0]));
  const int rank = std::max(spec_.shape.rank(), 0);
  const auto expected = [&](int i) { return spec_.shape.dim(i); };
  if (shape.has_value()) {
    const auto dims = shape.data<std::int64_t>();
    if (std::ssize(dims) < rank)
      return invalid_argument(
          str_cat("Shape mismatch: expected shape rank at least ", rank, ", got ", dims.size()));
    for (int i = 0; i < rank; ++i)
      if (expected(i) != -1 && expected(i) != dims[static_cast<std::size_t>(i)])
        return invalid_argument(str_cat("Shape mismatch: expected shape dim ", i, " to be ",
                                        expected(i), ", got ", dims[static_cast<std::size_t>(i)]));
  }
  if (rank > 0 && expected(0) != -1)
    for (std::size_t i = 0; i < indices.data<std::int64_t>().size(); ++i)
      if (const auto index = indices.data<std::int64_t>()[i]; index >= expected(0))
        return invalid_argument(str_cat("Shape mismatch: index of slice ", i,
                                        " exceeded limits of shape; index is ", index, " exceeded ",
                                        expected(0)));
  if (v.rank() < rank)
    return invalid_argument(
        str_cat("Shape mismatch: expected values rank at least ", rank, ", got ", v.rank()));
  for (int i = 1; i < rank; ++i)
    if (expected(i) != -1 && expected(i) != v[i])
      return invalid_argument(str_cat("Shape mismatch: expected values dim ", i, " to be ",
                                      expected(i), ", got ", v[i]));
  if (!row_shape_)
    return {};
  if (v.rank() != row_shape_->rank() + 1)
    return invalid_argument(str_cat("Shape mismatch: expected values rank ", row_shape_->rank() + 1,
                                    ", got ", v.rank()));
  for (int i = 1; i < v.rank(); ++i)
    if (v[i] != (*row_shape_)[i - 1])
      return invalid_argument(str_cat("Shape mismatch: expected values dim ", i, " to be ",
                                      (*row_shape_)[i - 1], ", got ", v[i]));
  return {};
}

Status GradientAccumulator::apply_sparse(std::int64_t local_step, const Tensor& indices,
                                         const Tensor& values, const Tensor& shape) {
  return locked([&]() -> Status {
    if (local_step < global_step_)
      return {};
    TROUPE_TRY(check_sparse(indices, values, shape));
    row_shape_ = values.shape().without(0);
    TROUPE_TRY(add_rows(indices, values));
    ++count_;
    return {};
  });
}

// As TensorFlow does: both lists are merged as if each were sorted and named no row twice. Those of
// a Gather's gradient are neither; what they name twice stays two rows, whose scatter is their sum.
Status GradientAccumulator::add_rows(const Tensor& indices, const Tensor& values) {
  const auto more = indices.data<std::int64_t>();
  const std::int64_t size = row_shape_->num_elements();
  std::vector<Row> merged;
  merged.reserve(rows_.size() + more.size());
  std::vector<std::pair<std::int64_t, std::int64_t>>
      from; // rows of the sum and of values; -1: none
  for (std::size_t i = 0, j = 0; i < rows_.size() || j < more.size();) {
    const bool takes_sum = j == more.size() || (i < rows_.size() && rows_[i].index <= more[j]);
    const bool takes_more = i == rows_.size() || (j < more.size() && more[j] <= rows_[i].index);
    merged.push_back({takes_sum ? rows_[i].index : more[j],
                      (takes_sum ? rows_[i].count : 0) + (takes_more ? 1 : 0)});
    from.emplace_back(takes_sum ? static_cast<std::int64_t>(i++) : -1,
                      takes_more ? static_cast<std::int64_t>(j++) : -1);
  }
  std::vector<std::int64_t> dims{std::ssize(merged)};
  dims.insert(dims.end(), row_shape_->dims().begin(), row_shape_->dims().end());
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor sum, Tensor::allocate(memory_, spec_.dtype, shape));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto [of_sum, of_more] = from[i];
    const std::int64_t at = static_cast<std::int64_t>(i) * size;
    if (of_sum >= 0)
      copy_elements(sum_, of_sum * size, sum, at, size);
    else
      copy_elements(values, of_more * size, sum, at, size);
    if (of_sum >= 0 && of_more >= 0)
      add(sum, at, values, of_more * size, size);
  }
  sum_ = std::move(sum);
  rows_ = std::move(merged);
  return {};
}

void GradientAccumulator::take(Ticket ticket, std::int64_t required, Done done) {
  if (required <= 0)
    return done(
        invalid_argument(str_cat("Argument num_required must be positive, but was ", required)));
  submit(
      ticket, 0,
      [this, required]() -> std::optional<Result<Tensors>> {
        if (count_ < required)
          return std::nullopt;
        return give();
      },
      std::move(done));
}

Result<GradientAccumulator::Tensors> GradientAccumulator::give() {
  Result<Tensors> out = Tensors{};
  if (spec_.is_sparse) {
    out = give_rows();
  } else {
    if (spec_.is_mean)
      divide(sum_, 0, sum_.num_elements(), count_);
    out = Tensors{std::move(sum_)};
  }
  sum_ = Tensor();
  rows_.clear();
  row_shape_.reset();
  count_ = 0;
  ++global_step_;
  return out;
}

Result<GradientAccumulator::Tensors> GradientAccumulator::give_rows() {
  const std::int64_t size = row_shape_->num_elements();
  std::vector<std::int64_t> indices;
  for (const Row& row : rows_) {
    if (spec_.is_mean)
      divide(sum_, std::ssize(indices) * size, size, row.count);
    indices.push_back(row.index);
  }
  std::vector<std::int64_t> shape{spec_.shape.rank() > 0 ? spec_.shape.dim(0) : -1};
  shape.insert(shape.end(), row_shape_->dims().begin(), row_shape_->dims().end());
  return Tensors{Tensor::vector(std::span<const std::int64_t>(indices)), std::move(sum_),
                 Tensor::vector(std::span<const std::int64_t>(shape))};
}

std::int64_t GradientAccumulator::num_accumulated() const {
  return read([&] { return count_; });
}

void GradientAccumulator::set_global_step(std::int64_t step) {
  locked([&] {
    global_step_ = step;
    return 0;
  });
}

std::string GradientAccumulator::description() const {
  return read([&] {
    return str_cat(spec_.is_sparse ? "sparse" : "dense", " gradients of ", to_string(spec_.dtype),
                   ", ", count_, " accumulated");
  });
}

} // namespace troupe
