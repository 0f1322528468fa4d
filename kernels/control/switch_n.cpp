// _SwitchN: the input leaves by the output that the index names; the others are dead.
#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_switch_n {
namespace {

Status infer_shapes(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 0));
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.output_like(i, 0));
  return {};
}

Status compute(KernelContext& c) {
  const Tensor& index = c.input(1);
  if (!index.shape().is_scalar())
    return invalid_argument(
        str_cat("The second input must be a scalar, but it has shape ", index.shape()));
  const int last = c.num_outputs() - 1;
  int taken = index.value<std::int32_t>();
  if (taken < 0 || taken > last)
    taken = last;
  for (int i = 0; i <= last; ++i)
    if (i != taken)
      c.set_output_dead(i);
  c.output_entry(taken) = std::move(c.input_entry(0));
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("_SwitchN")
      .input("data: T; output_index: int32")
      .output("outputs: num_outs * T")
      .attr("num_outs: int >= 1; T: type")
      .roles(Role::branch)
      .shape_fn(infer_shapes)
      .not_differentiable("it is there only after differentiation")
      .kernel_on_all_devices(compute, {.host_inputs = {"output_index"}})
      .doc("Sends `data` to the output `output_index`, or to the last if there is no such output.");
}

} // namespace troupe::control_switch_n
