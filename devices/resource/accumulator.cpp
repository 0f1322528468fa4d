#include "devices/resource/accumulator.hpp"

#include "core/base/strings.hpp"
#include "devices/resource/batches.hpp"

namespace troupe {
namespace {

using Summed = Types<float, double, Half, BFloat16>;

template <class T>
using Wide = std::conditional_t<sizeof(T) == 2, float, T>;

/// sum += more
void add(Tensor& sum, const Tensor& more, std::int64_t more_at) {
  Status done = dispatch(Summed{}, sum.dtype(), [&]<class T>() -> Status {
    const auto to = sum.mutable_data<T>();
    const auto from = more.data<T>().subspan(static_cast<std::size_t>(more_at), to.size());
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = T(static_cast<Wide<T>>(to[i]) + static_cast<Wide<T>>(from[i]));
    return {};
  });
  TROUPE_CHECK(done.ok(), "the accumulator's dtype was checked when it was made");
}

void divide(Tensor& sum, std::int64_t count) {
  Status done = dispatch(Summed{}, sum.dtype(), [&]<class T>() -> Status {
    for (T& x : sum.mutable_data<T>())
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
      add(sum_, gradient, 0);
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

Status GradientAccumulator::add_rows(const Tensor& indices, const Tensor& values) {
  const auto all = indices.data<std::int64_t>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    Row& row = rows_[all[i]];
    if (row.count++ == 0) {
      TROUPE_ASSIGN(row.sum, row_of(values, at, memory_));
    } else {
      add(row.sum, values, at * row.sum.num_elements());
    }
  }
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
      divide(sum_, count_);
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
  std::vector<std::int64_t> indices;
  std::vector<Tensor> values;
  for (auto& [index, row] : rows_) {
    indices.push_back(index);
    if (spec_.is_mean)
      divide(row.sum, row.count);
    values.push_back(std::move(row.sum));
  }
  std::vector<std::int64_t> shape{spec_.shape.rank() > 0 ? spec_.shape.dim(0) : -1};
  shape.insert(shape.end(), row_shape_->dims().begin(), row_shape_->dims().end());
  TROUPE_ASSIGN(Tensor whole, stack_rows(values, spec_.dtype, *row_shape_, memory_));
  return Tensors{Tensor::vector(std::span<const std::int64_t>(indices)), std::move(whole),
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
