// Diag: output[i, j, …, i, j, …] = diagonal[i, j, …], zeros elsewhere. DiagPart: the way back.
#include "graph/op/grad_context.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_diag {
namespace {

using array::Dims;

Status infer_diag(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  if (!c.input(0).has_rank())
    return {};
  TROUPE_TRY(shape_rules::check_rank(2 * c.input(0).rank()));
  Dims dims = c.input(0).dims();
  dims.insert(dims.end(), c.input(0).dims().begin(), c.input(0).dims().end());
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status bad_rank(std::string_view shape) {
  return invalid_argument(str_cat("The rank of the tensor should be", // blanks as in TensorFlow's
                                  std::string(42, ' '), "even and positive, got shape ", shape));
}

Status infer_part(ShapeContext& c) {
  const PartialShape& x = c.input(0);
  if (!x.has_rank())
    return {};
  if (x.rank() % 2 != 0 || x.rank() == 0)
    return bad_rank(x.to_string());
  Dims dims;
  for (int i = 0; i < x.rank() / 2; ++i) {
    TROUPE_ASSIGN(const std::int64_t dim,
                  shape_rules::merge_dims(x.dim(i), x.dim(i + x.rank() / 2)));
    dims.push_back(dim);
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status differentiate_diag(GradContext& g) {
  return g.set_input_grad(0, g.op("DiagPart", {g.output_grad(0)}));
}
Status differentiate_part(GradContext& g) {
  return g.set_input_grad(0, g.op("Diag", {g.output_grad(0)}));
}

Status compute_diag(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.shape().rank() < 1)
    return invalid_argument(str_cat("Input must be at least rank 1, got ", x.shape().rank()));
  Dims dims(x.shape().dims().begin(), x.shape().dims().end());
  dims.insert(dims.end(), x.shape().dims().begin(), x.shape().dims().end());
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_TRY(array::fill_with_zeros(c, out));
  const std::int64_t n = x.num_elements();
  for (std::int64_t i = 0; i < n; ++i)
    array::copy_elements(x, i, out, i * (n + 1), 1);
  return {};
}

Status compute_part(KernelContext& c) {
  const Tensor& x = c.input(0);
  const int rank = x.shape().rank(), half = rank / 2;
  if (rank % 2 != 0)
    return bad_rank(str_cat(x.shape()));
  for (int i = 0; i < half; ++i)
    if (x.shape()[i] != x.shape()[i + half])
      return invalid_argument(str_cat("Invalid shape ", x.shape(), ": dimensions ", i, " and ",
                                      i + half, " do not match."));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(x.shape().dims().first(static_cast<std::size_t>(half))));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const std::int64_t n = shape.num_elements();
  for (std::int64_t i = 0; i < n; ++i)
    array::copy_elements(x, i * (n + 1), out, i, 1);
  return {};
}

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T",
                {DType::float32, DType::float64, DType::int32, DType::int64, DType::complex64,
                 DType::complex128, DType::float16, DType::bfloat16}}};
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto types = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}";
  library.op("Diag")
      .input("diagonal: T")
      .output("output: T")
      .attr(types)
      .shape_fn(infer_diag)
      .gradient(differentiate_diag)
      .cpu_kernel(compute_diag, options())
      .doc("A tensor of twice the rank with the given diagonal, and zeros elsewhere.");
  library.op("DiagPart")
      .input("input: T")
      .output("diagonal: T")
      .attr(types)
      .shape_fn(infer_part)
      .gradient(differentiate_part)
      .cpu_kernel(compute_part, options())
      .doc("The diagonal of a tensor whose second half of dimensions repeats the first.");
}

} // namespace troupe::array_diag
