#include "tests/support/ops/run_kernel.hpp"

#include <condition_variable>
#include <mutex>

#include "core/base/strings.hpp"
#include "devices/cpu/cpu_device.hpp"

namespace troupe::testing {
namespace {

struct Base {
  DeviceHost host{2};
  std::vector<std::unique_ptr<Device>> devices =
      make_cpu_devices(host, "/job:localhost/replica:0/task:0", 1);
};

Device& base_device() {
  static Base base;
  return *base.devices[0];
}

} // namespace

TestDevice::TestDevice() : TestDevice(make_isolated_device(base_device())) {}

TestDevice::TestDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {
  step_.step_id = 1;
  step_.device = device_.get();
  step_.cancellation = &cancellation_;
  step_.node_states = &node_states_;
  step_.step_resources = &step_resources_;
}

TestDevice::~TestDevice() = default;

Status run_kernel(KernelContext& context) {
  const KernelDef& kernel = *context.node().kernel;
  if (kernel.compute)
    return kernel.compute(context);
  std::mutex lock;
  std::condition_variable changed;
  std::optional<Status> result;
  kernel.compute_async(context, [&](Status status) {
    std::scoped_lock guard(lock);
    result = std::move(status);
    changed.notify_one();
  });
  std::unique_lock guard(lock);
  changed.wait(guard, [&] { return result.has_value(); });
  return *result;
}

Result<std::vector<Entry>> run_kernel(const KernelNode& node, const StepEnvironment& step,
                                      std::vector<Entry> inputs,
                                      std::span<const std::string> input_names) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].ref || is_ref(node.io->types.inputs[i]))
      continue;
    inputs[i].tensor = inputs[i].ref->snapshot();
    if (!inputs[i].tensor.has_value() && !node.schema->allows_uninitialized_input)
      return failed_precondition(str_cat("Attempting to use uninitialized value ", input_names[i]));
    inputs[i].ref = nullptr;
  }
  std::vector<Entry> outputs(node.io->types.outputs.size());
  KernelContext context(node, step, inputs, outputs);
  for (const Entry& input : inputs)
    context.is_input_dead = context.is_input_dead || !input.has_value();
  TROUPE_TRY(run_kernel(context));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].tensor.has_value() &&
        outputs[i].tensor.dtype() != remove_ref(node.io->types.outputs[i]))
      return internal(str_cat("Output ", i, " of node '", node.name, "' has dtype ",
                              to_string(outputs[i].tensor.dtype()), ", declared is ",
                              to_string(node.io->types.outputs[i])));
  return outputs;
}

} // namespace troupe::testing
