// DeviceIndex: which of some device types the node stands on; a Case picks the branch made for it.
#include <algorithm>

#include "devices/device.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_device_index {
namespace {

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(auto names, c.attr<std::vector<std::string>>("device_names"));
  auto at = std::ranges::find(names, c.device().type());
  return c.set_output(0,
                      Tensor::scalar<std::int32_t>(static_cast<std::int32_t>(at - names.begin())));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("DeviceIndex")
      .output("index: int32")
      .attr("device_names: list(string)")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .kernel_on_all_devices(compute, {.host_outputs = {"index"}})
      .doc("The index of the node's device type in `device_names`; their number if it is none of "
           "them.");
}

} // namespace troupe::control_device_index
