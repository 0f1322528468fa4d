// NoOp and ControlTrigger: nodes that only carry control edges.
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_no_op {
namespace {

Status compute(KernelContext&) {
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("NoOp")
      .roles(Role::no_op)
      .shape_fn(shape_none)
      .not_differentiable("it has no inputs")
      .kernel_on_all_devices(compute)
      .doc("Does nothing; runs after its control inputs.");
  library.op("ControlTrigger")
      .roles(Role::trigger)
      .shape_fn(shape_none)
      .not_differentiable("it has no inputs")
      .kernel_on_all_devices(compute)
      .doc("Does nothing, and is never dead: it runs after its control inputs even where they are "
           "dead.");
}

} // namespace troupe::control_no_op
