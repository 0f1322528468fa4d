// Runs one bound kernel to its end on the calling thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::testing {

/// A device with resources of its own, and what its kernels share in a step. Node state and
/// variables last as long as it does.
class TestDevice {
public:
  /// A CPU of this process.
  TestDevice();
  explicit TestDevice(std::unique_ptr<Device> device);
  ~TestDevice();
  Device& device() { return *device_; }
  StepEnvironment& step() { return step_; }

private:
  std::unique_ptr<Device> device_;
  Cancellation cancellation_;
  NodeStates node_states_;
  ResourceManager step_resources_;
  StepEnvironment step_;
};

/// Runs it and waits for an asynchronous one.
Status run_kernel(KernelContext& context);
/// Dereferences reference inputs that the op declares as values, then runs with the outputs empty
/// before. FAILED_PRECONDITION "Attempting to use uninitialized value NAME" with the producers'
/// names in `input_names`.
Result<std::vector<Entry>> run_kernel(const KernelNode& node, const StepEnvironment& step,
                                      std::vector<Entry> inputs,
                                      std::span<const std::string> input_names);

} // namespace troupe::testing
