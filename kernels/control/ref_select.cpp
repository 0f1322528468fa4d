// RefSelect: one of several references, by number.
#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_ref_select {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  PartialShape common = c.input(1);
  for (int i = 2; i < c.num_inputs(); ++i)
    if (!(c.input(i) == common))
      common = PartialShape();
  return c.set_output(0, common.is_fully_defined() ? std::move(common) : PartialShape());
}

Status compute(KernelContext& c) {
  const Tensor& index = c.input(0);
  if (!index.shape().is_scalar())
    return invalid_argument(str_cat("Index must be a scalar, but it has shape ", index.shape()));
  const int chosen = index.value<std::int32_t>(), count = c.num_inputs() - 1;
  if (chosen < 0 || chosen >= count)
    return invalid_argument(
        str_cat("Index must be in the range [0, ", count, ") but got ", chosen));
  c.output_entry(0) = std::move(c.input_entry(chosen + 1));
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("RefSelect")
      .input("index: int32; inputs: Ref(N * T)")
      .output("output: Ref(T)")
      .attr("T: type; N: int >= 1")
      .shape_fn(infer_shape)
      .not_differentiable("it hands a reference on")
      .kernel_on_all_devices(compute, {.host_inputs = {"index"}})
      .doc("inputs[index].");
}

} // namespace troupe::control_ref_select
