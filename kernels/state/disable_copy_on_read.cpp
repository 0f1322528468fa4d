// DisableCopyOnRead: of a variable that copies what is read of it. Here a reader's value never
// changes under it, without copies, so there is nothing to be switched off.
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe::state_disable_copy_on_read {
namespace {

Status compute(KernelContext& c) {
  return readable_variable(c, 0).status();
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("DisableCopyOnRead")
      .input("resource: resource")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable("it has no outputs")
      .cpu_kernel(compute)
      .doc("Lets reads of the variable share its memory again, which they always do here.");
}

} // namespace troupe::state_disable_copy_on_read
