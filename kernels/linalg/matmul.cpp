// MatMul: product = op(a) op(b) of two matrices, each transposed if asked.
#include <array>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/linalg/internal/product.hpp"

namespace troupe {
namespace {

struct MatMulAttrs {
  bool transpose_a = false, transpose_b = false;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(bool transpose_a, c.attr<bool>("transpose_a"));
  TROUPE_ASSIGN(bool transpose_b, c.attr<bool>("transpose_b"));
  return prepared(MatMulAttrs{transpose_a, transpose_b});
}

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(bool transpose_a, c.attr<bool>("transpose_a"));
  TROUPE_ASSIGN(bool transpose_b, c.attr<bool>("transpose_b"));
  TROUPE_ASSIGN(auto a, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(auto b, shape_rules::dims_of_rank(c, 1, 2));
  TROUPE_TRY(shape_rules::merge_dims(a[transpose_a ? 0 : 1], b[transpose_b ? 1 : 0]).status());
  return c.set_output(0, {a[transpose_a ? 1 : 0], b[transpose_b ? 0 : 1]});
}

Status compute(KernelContext& c) {
  const auto& attrs = c.prepared<MatMulAttrs>();
  const Tensor& a = c.input(0);
  const Tensor& b = c.input(1);
  if (a.shape().rank() != b.shape().rank())
    return invalid_argument(
        str_cat("In[0] and In[1] has different ndims: ", a.shape(), " vs. ", b.shape()));
  if (a.shape().rank() != 2)
    return invalid_argument(str_cat("In[0] is not a matrix. Instead it has shape ", a.shape()));
  arith::GemmShape shape{
      .m = a.shape()[attrs.transpose_a ? 1 : 0],
      .n = b.shape()[attrs.transpose_b ? 0 : 1],
      .k = a.shape()[attrs.transpose_a ? 0 : 1],
      .transpose_a = attrs.transpose_a,
      .transpose_b = attrs.transpose_b,
  };
  if (shape.k != b.shape()[attrs.transpose_b ? 1 : 0])
    return invalid_argument(
        str_cat("Matrix size-incompatible: In[0]: ", a.shape(), ", In[1]: ", b.shape()));
  TROUPE_ASSIGN(const Shape product, Shape::make(std::array{shape.m, shape.n}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, product));
  if (out.num_elements() > 0)
    linalg::product(c, static_cast<arith::Type>(a.dtype()), shape, a.raw(), b.raw(),
                    out.mutable_raw());
  return {};
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
  const Value a = g.input(0), b = g.input(1), dy = g.output_grad(0);
  TROUPE_TRY(g.set_input_grad(0, transpose_a ? matmul(g, b, dy, transpose_b, true, 0)
                                             : matmul(g, dy, b, false, !transpose_b, 0)));
  return g.set_input_grad(1, transpose_b ? matmul(g, dy, a, true, transpose_a, 1)
                                         : matmul(g, a, dy, !transpose_a, false, 1));
}

} // namespace

void register_linalg_matmul(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64, DType::int32, DType::int64}}};
  options.prepare = prepare;
  options.expensive = true;
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
      .doc("Product of two matrices; each is transposed first if its attribute says so.");
}

} // namespace troupe
