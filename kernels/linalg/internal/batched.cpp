#include "kernels/linalg/internal/batched.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

namespace troupe::linalg {

using Dims = std::vector<std::int64_t>;

Dims outer_dims(const Shape& shape, int inner) {
  return {shape.dims().begin(), shape.dims().end() - inner};
}

std::int64_t product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

Result<Matrices> operand(KernelContext& c, int i, ComputedIn computed_in) {
  const Tensor& x = c.input(i);
  const int rank = x.shape().rank();
  if (rank < 2)
    return invalid_argument(str_cat("Input tensor ", i, " must have rank >= 2, got ", rank));
  TROUPE_ASSIGN(Tensor wide, widened(c, x, computed_in(x.dtype())));
  return Matrices{std::move(wide), x.shape()[rank - 2], x.shape()[rank - 1]};
}

Status check_same_batch(KernelContext& c, int count) {
  const Shape& first = c.input(0).shape();
  if (first.rank() < 2)
    return invalid_argument(str_cat("Input tensor 0 must have rank >= 2, got ", first.rank()));
  for (int i = 1; i < count; ++i) {
    const Shape& other = c.input(i).shape();
    if (other.rank() != first.rank())
      return invalid_argument("All input tensors must have the same rank.");
    if (outer_dims(other) != outer_dims(first))
      return invalid_argument("All input tensors must have the same outer dimensions.");
  }
  return {};
}

Status check_square(const Matrices& m) {
  if (m.rows != m.cols)
    return invalid_argument("Input matrix must be square.");
  return {};
}

Result<Tensor> result(KernelContext& c, int i, Dims outer,
                      std::initializer_list<std::int64_t> inner, ComputedIn computed_in) {
  outer.insert(outer.end(), inner);
  TROUPE_ASSIGN(const Shape shape, Shape::make(outer));
  const DType wide = computed_in(c.output_type(i));
  return wide == c.output_type(i) ? c.allocate_output(i, shape) : c.allocate_temp(wide, shape);
}

Result<Matrices> result_matrices(KernelContext& c, int i, Dims outer, std::int64_t rows,
                                 std::int64_t cols, ComputedIn computed_in) {
  TROUPE_ASSIGN(Tensor wide, result(c, i, std::move(outer), {rows, cols}, computed_in));
  return Matrices{std::move(wide), rows, cols};
}

Status for_each_matrix(KernelContext& c, std::int64_t count, double nanoseconds,
                       FunctionView<Status(std::int64_t)> body) {
  std::mutex lock;
  std::int64_t failed_at = count;
  Status failed;
  c.parallel_for(count, nanoseconds, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Status status = body(i);
      if (status.ok())
        continue;
      std::scoped_lock guard(lock);
      if (i < failed_at) {
        failed_at = i;
        failed = std::move(status);
      }
      return;
    }
  });
  return failed;
}

Dims broadcast_indices(const Dims& input, const Dims& batch) {
  const std::size_t missing = batch.size() - input.size();
  Dims indices{0};
  std::int64_t stride = product(input);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::int64_t extent = i < missing ? 1 : input[i - missing];
    stride /= std::max<std::int64_t>(extent, 1);
    Dims next;
    next.reserve(indices.size() * static_cast<std::size_t>(batch[i]));
    for (std::int64_t base : indices)
      for (std::int64_t j = 0; j < batch[i]; ++j)
        next.push_back(base + (extent == 1 ? 0 : j * stride));
    indices = std::move(next);
  }
  return indices;
}

PartialShape outer_of(const PartialShape& shape, int inner) {
  if (!shape.has_rank())
    return {};
  return PartialShape(Dims(shape.dims().begin(), shape.dims().end() - inner));
}

std::int64_t from_end(const PartialShape& shape, int i) {
  return shape.has_rank() ? shape.dim(shape.rank() - i) : shape_rules::unknown_dim;
}

PartialShape with_inner(const PartialShape& outer, std::initializer_list<std::int64_t> inner) {
  if (!outer.has_rank())
    return {};
  Dims dims = outer.dims();
  dims.insert(dims.end(), inner);
  return PartialShape(std::move(dims));
}

Status infer_square(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  const PartialShape& x = c.input(0);
  TROUPE_ASSIGN(const std::int64_t n, shape_rules::merge_dims(from_end(x, 2), from_end(x, 1)));
  return c.set_output(0, with_inner(outer_of(x), {n, n}));
}

KernelOptions kernel_options() {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64, DType::complex64, DType::complex128}}};
  options.expensive = true;
  return options;
}

} // namespace troupe::linalg
