// Abort fails its step; TensorFlow's ends its process, which here nobody's graph may. Timestamp is
// the time now.
#include <chrono>

#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_abort {
namespace {

Status abort_step(KernelContext& c) {
  const auto text = c.attrs().get_or("error_msg", std::string());
  return aborted(text.empty() ? "Abort: the graph asked for the step to end" : text);
}

Status compute_time(KernelContext& c) {
  const std::chrono::duration<double> seconds = std::chrono::system_clock::now().time_since_epoch();
  return c.set_output(0, Tensor::scalar<double>(seconds.count()));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Abort")
      .attr("error_msg: string = ''; exit_without_error: bool = false")
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable("it has no inputs")
      .cpu_kernel(abort_step)
      .doc("Fails its step with ABORTED and the message; the process goes on.");
  library.op("Timestamp")
      .output("ts: double")
      .stateful()
      .roles(Role::random)
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .cpu_kernel(compute_time)
      .doc("Seconds since 1970 when the op runs.");
}

} // namespace troupe::control_abort
