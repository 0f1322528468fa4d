// One op on one CPU device with a few megabytes, for targets that run kernels.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/base/check.hpp"
#include "devices/cpu/cpu_device.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe {

/// The device of a target; its memory is small enough to be filled at once.
struct Bench {
  DeviceHost host{1, std::int64_t{32} << 20};
  std::unique_ptr<Device> device =
      std::move(make_cpu_devices(host, "/job:localhost/replica:0/task:0", 1)[0]);
};

/// What a step's kernels share.
struct OneStep {
  explicit OneStep(Device& device) {
    environment.step_id = 1;
    environment.device = &device;
    environment.cancellation = &cancellation;
    environment.node_states = &states;
    environment.step_resources = &resources;
  }
  Cancellation cancellation;
  NodeStates states;
  ResourceManager resources;
  StepEnvironment environment;
};

/// Runs an op whose attributes and inputs are right; its outputs, or the kernel's refusal, which
/// says why.
inline Result<std::vector<Tensor>> run_one(Bench& bench, const OpLibrary& library, const char* op,
                                           AttrMap attrs, const std::vector<Tensor>& inputs) {
  const OpSchema* schema = library.ops.find(op);
  TROUPE_CHECK(schema != nullptr, "the op is in the library");
  OneStep step(*bench.device);
  TROUPE_TRY(complete_and_check_attrs(*schema, attrs));
  TROUPE_ASSIGN(const NodeTypes types, resolve_types(*schema, attrs));
  TROUPE_ASSIGN(const KernelNode node,
                bind_kernel(library.kernels, "node", *schema, std::move(attrs), *bench.device));
  std::vector<Entry> from, to(types.outputs.size());
  for (const Tensor& input : inputs)
    from.push_back({input, nullptr});
  KernelContext context(node, step.environment, from, to);
  Status status = node.kernel->compute(context);
  TROUPE_CHECK(status.ok() || !status.message().empty(), "a refusal says why");
  TROUPE_TRY(status);
  std::vector<Tensor> out;
  for (Entry& entry : to)
    out.push_back(std::move(entry.tensor));
  return out;
}

} // namespace troupe
