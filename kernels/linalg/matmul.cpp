// MatMul: product = op(a) op(b) of two matrices, each transposed if asked.
#include <array>

#include "graph/op/conjugate.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/linalg/internal/product.hpp"

namespace troupe::linalg_matmul {
namespace {

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(linalg::MatMulAttrs attrs, linalg::read_matmul_attrs(c));
  return prepared(attrs);
}

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, linalg::infer_matmul(c));
  return c.set_output(0, std::move(shape));
}

Status compute(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  TROUPE_ASSIGN(const arith::GemmShape shape,
                linalg::matmul_sizes(c, c.prepared<linalg::MatMulAttrs>()));
  TROUPE_ASSIGN(const Shape product, Shape::make(std::array{shape.m, shape.n}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, product));
  TROUPE_ASSIGN(const auto type, arith::gemm_type(a.dtype()));
  if (out.num_elements() > 0)
    linalg::product(c, type, shape, a.raw(), b.raw(), out.mutable_raw());
  return {};
}

/// In a wider dtype, but for bfloat16 where it is multiplied as it is.
Status compute_narrow(KernelContext& c) {
  if (c.input(0).dtype() == DType::bfloat16) {
    TROUPE_ASSIGN(const arith::GemmShape shape,
                  linalg::matmul_sizes(c, c.prepared<linalg::MatMulAttrs>()));
    if (arith::prefers_bfloat16_gemm(shape))
      return compute(c);
  }
  return compute_widened(c, compute);
}

Status compute_on_gpu(KernelContext& c) {
  TROUPE_ASSIGN(const arith::GemmShape shape,
                linalg::matmul_sizes(c, c.prepared<linalg::MatMulAttrs>()));
  TROUPE_ASSIGN(const Shape product, Shape::make(std::array{shape.m, shape.n}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, product));
  return linalg::product_on_gpu(c, shape, c.input(0).raw(), c.input(1).raw(), out);
}

Value matmul(GradContext& g, Value a, Value b, bool transpose_a, bool transpose_b, int of) {
  return g.op("MatMul", {a, b},
              {{"transpose_a", transpose_a},
               {"transpose_b", transpose_b},
               {of == 0 ? "grad_a" : "grad_b", true}});
}

// With C = A B: dA = dC B', dB = A' dC; transposing an operand transposes its gradient.
Status differentiate(GradContext& g) {
  const bool transpose_a = g.attrs().get_or("transpose_a", false);
  const bool transpose_b = g.attrs().get_or("transpose_b", false);
  const Value a = conjugate(g, g.input(0)), b = conjugate(g, g.input(1)), dy = g.output_grad(0);
  TROUPE_TRY(g.set_input_grad(0, transpose_a ? matmul(g, b, dy, transpose_b, true, 0)
                                             : matmul(g, dy, b, false, !transpose_b, 0)));
  return g.set_input_grad(1, transpose_b ? matmul(g, dy, a, true, transpose_a, 1)
                                         : matmul(g, a, dy, !transpose_a, false, 1));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T",
                    {DType::float32, DType::float64, DType::int32, DType::int64, DType::complex64,
                     DType::complex128}}};
  options.prepare = prepare;
  options.expensive = true;
  KernelOptions wide = options;
  wide.types = {{"T", {DType::float16, DType::bfloat16, DType::int16}}};
  library.op("MatMul")
      .input("a: T; b: T")
      .output("product: T")
      .attr("transpose_a: bool = false; transpose_b: bool = false")
      .attr("T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, "
            "complex64, complex128}")
      .attr("grad_a: bool = false; grad_b: bool = false")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, std::move(options))
      .cpu_kernel(compute_narrow, std::move(wide))
      .gpu_kernel(compute_on_gpu, {.types = {{"T", gpu::floats()}}, .prepare = prepare})
      .doc("Product of two matrices; each is transposed first if its attribute says so.");
}

} // namespace troupe::linalg_matmul
