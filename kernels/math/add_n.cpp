// AddN: the sum of N tensors of one shape, added in order.
#include <vector>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_add_n {
namespace {

Status differentiate(GradContext& g) {
  for (int i = 0; i < g.num_inputs(); ++i)
    TROUPE_TRY(g.set_input_grad(i, g.output_grad(0)));
  return {};
}

Status compute(KernelContext& c) {
  if (c.num_inputs() == 1)
    return c.set_output(0, c.input(0));
  const Shape shape = c.input(0).shape();
  const DType dtype = c.input(0).dtype();
  std::vector<const void*> inputs;
  inputs.reserve(static_cast<std::size_t>(c.num_inputs()));
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!(c.input(i).shape() == shape))
      return invalid_argument(str_cat("Inputs to operation ", c.node_name(),
                                      " of type AddN must have the same size and shape.  Input 0: ",
                                      shape, " != input ", i, ": ", c.input(i).shape()));
    inputs.push_back(c.input(i).raw());
  }
  TROUPE_ASSIGN(Tensor sum, c.forward_or_allocate(0, 0, shape));
  if (sum.kind() == MemoryKind::device)
    return math::add_n_on_gpu(c, inputs, sum);
  TROUPE_ASSIGN(const auto add, arith::add_n(dtype));
  void* out = sum.mutable_raw();
  // Small inputs, even many of them, come from the caches.
  const double each = shape.num_elements() > 4096 ? math::cheap : math::cheap / 2;
  c.parallel_for(shape.num_elements(), each * static_cast<double>(inputs.size() - 1),
                 [&](std::int64_t begin, std::int64_t end) {
                   add(inputs.data(), static_cast<int>(inputs.size()), out, begin, end);
                 });
  return {};
}

/// The attribute says the shape, and the inputs do.
Status infer_accumulated(ShapeContext& c) {
  TROUPE_TRY(shape_merge_inputs(c));
  TROUPE_ASSIGN(const auto shape, c.attr<PartialShape>("shape"));
  TROUPE_ASSIGN(PartialShape merged, shape_rules::merge_shapes(c.outputs()[0], shape));
  return c.set_output(0, std::move(merged));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("AddN")
      .input("inputs: N * T")
      .output("sum: T")
      .attr("N: int >= 1")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, variant}")
      .commutative()
      .aggregate()
      .shape_fn(shape_merge_inputs)
      .gradient(differentiate)
      .cpu_kernel(compute, math::for_types(arith::dtypes_of_add_n()))
      .gpu_kernel(compute, math::for_gpu(arith::BinaryOp::add))
      .host_kernel_on_gpu(compute, math::for_types({DType::int32}))
      .doc("The sum of all inputs, which have one shape.");
  library.op("AccumulateNV2")
      .input("inputs: N * T")
      .output("sum: T")
      .attr("N: int >= 1; T: numbertype; shape: shape")
      .commutative()
      .aggregate()
      .shape_fn(infer_accumulated)
      .gradient(differentiate)
      .cpu_kernel(compute, math::for_types(arith::dtypes_of_add_n()))
      .gpu_kernel(compute, math::for_gpu(arith::BinaryOp::add))
      .host_kernel_on_gpu(compute, math::for_types({DType::int32}))
      .doc("The sum of all inputs, which have one shape.");
}

} // namespace troupe::math_add_n
