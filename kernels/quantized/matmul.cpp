// QuantizedMatMul: the product of two matrices of quantised numbers, in qint32.
#include "kernels/arith/gemm.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/quantized/internal/offsets.hpp"

namespace troupe::quantized_matmul {
namespace {

using quantized::Range;

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto a, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(const auto b, shape_rules::dims_of_rank(c, 1, 2));
  const bool ta = c.attrs().get_or("transpose_a", false);
  const bool tb = c.attrs().get_or("transpose_b", false);
  TROUPE_TRY(shape_rules::merge_dims(a[ta ? 0 : 1], b[tb ? 1 : 0]).status());
  TROUPE_TRY(c.set_output(0, {a[ta ? 1 : 0], b[tb ? 0 : 1]}));
  return quantized::infer_ranges(c, 2, 6);
}

Result<Range> factor_range(KernelContext& c, int at, std::string_view name) {
  Range out;
  for (const bool most : {false, true}) {
    const Tensor& bound = c.input(at + most);
    if (bound.num_elements() != 1 || (at == 2 && !most && bound.shape().rank() > 0))
      return invalid_argument(
          str_cat(most ? "max_" : "min_", name, " must be a scalar, but got shape", bound.shape()));
    (most ? out.most : out.least) = bound.data<float>()[0];
  }
  return out;
}

Status check_range(Range range, std::string_view name) {
  if (!(range.least < range.most))
    return invalid_argument(str_cat("max_", name, " must be larger than min_", name, "."));
  return {};
}

Status compute(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  TROUPE_ASSIGN(const Range a_range, factor_range(c, 2, "a"));
  TROUPE_ASSIGN(const Range b_range, factor_range(c, 4, "b"));
  TROUPE_TRY(check_range(a_range, "a"));
  TROUPE_TRY(check_range(b_range, "b"));
  for (int i : {0, 1})
    if (c.input(i).shape().rank() != 2)
      return invalid_argument(str_cat("In[", i, "] is not a matrix"));
  const bool ta = c.attrs().get_or("transpose_a", false);
  const bool tb = c.attrs().get_or("transpose_b", false);
  const arith::GemmShape s{.m = a.shape()[ta ? 1 : 0],
                           .n = b.shape()[tb ? 0 : 1],
                           .k = a.shape()[ta ? 0 : 1],
                           .transpose_a = ta,
                           .transpose_b = tb};
  if (s.k != b.shape()[tb ? 1 : 0])
    return invalid_argument(
        str_cat("Matrix size-incompatible: In[0]: ", a.shape(), ", In[1]: ", b.shape()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{s.m, s.n}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_ASSIGN(const Tensor left, quantized::from_zero<QUInt8>(c, a, a_range));
  TROUPE_ASSIGN(const Tensor right, quantized::from_zero<QUInt8>(c, b, b_range));
  TROUPE_ASSIGN(const auto type, arith::gemm_type(DType::int32));
  if (out.num_elements() > 0)
    c.parallel_for(s.m, 0.3 * static_cast<double>(s.n) * static_cast<double>(s.k + 1),
                   [&](std::int64_t begin, std::int64_t end) {
                     arith::gemm_rows(type, s, left.raw(), right.raw(), out.mutable_raw(), begin,
                                      end);
                   });
  return quantized::set_range(c, 1, quantized::product_range<QUInt8, QUInt8>(a_range, b_range));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T1", {DType::quint8}}, {"T2", {DType::quint8}}, {"Toutput", {DType::qint32}}};
  options.expensive = true;
  library.op("QuantizedMatMul")
      .input("a: T1; b: T2; min_a: float; max_a: float; min_b: float; max_b: float")
      .output("out: Toutput; min_out: float; max_out: float")
      .attr("T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = DT_QINT32")
      .attr("transpose_a: bool = false; transpose_b: bool = false")
      .attr("Tactivation: quantizedtype = DT_QUINT8")
      .shape_fn(infer)
      .not_differentiable(quantized::no_gradient)
      .cpu_kernel(compute, options)
      .doc("The product of two quantised matrices, and its range.");
}

} // namespace troupe::quantized_matmul
