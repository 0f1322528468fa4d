// Switch: the input leaves by output 1 when the predicate is true, else by output 0; the other is
// dead.
#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_switch {
namespace {

Status infer_shapes(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 0));
  TROUPE_TRY(c.output_like(0, 0));
  return c.output_like(1, 0);
}

Status compute(KernelContext& c) {
  const Tensor& pred = c.input(1);
  if (!pred.shape().is_scalar())
    return invalid_argument(
        str_cat("The second input must be a scalar, but it has shape ", pred.shape()));
  const int taken = pred.value<bool>() ? 1 : 0;
  c.output_entry(taken) = std::move(c.input_entry(0));
  c.set_output_dead(1 - taken);
  return {};
}

constexpr auto conditionals = "graph/autodiff differentiates conditionals as a whole";
const KernelOptions options{.host_inputs = {"pred"}};

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Switch")
      .input("data: T; pred: bool")
      .output("output_false: T; output_true: T")
      .attr("T: type")
      .roles(Role::branch)
      .shape_fn(infer_shapes)
      .not_differentiable(conditionals)
      .host_kernel_on_gpu(compute, {.types = {{"T", {DType::int32}}}})
      .kernel_on_all_devices(compute, options)
      .doc("Sends `data` to output_true if `pred` holds, else to output_false.");
  library.op("RefSwitch")
      .input("data: Ref(T); pred: bool")
      .output("output_false: Ref(T); output_true: Ref(T)")
      .attr("T: type")
      .allows_uninitialized_input()
      .roles(Role::branch)
      .shape_fn(infer_shapes)
      .not_differentiable(conditionals)
      .kernel_on_all_devices(compute, options)
      .doc("Sends the reference to output_true if `pred` holds, else to output_false.");
}

} // namespace troupe::control_switch
