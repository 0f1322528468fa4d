// A row of a case table on a GPU: that of the driver's double, or with TROUPE_TEST_GPU=real in the
// environment the first one of this machine.
#pragma once

#include <string>
#include <vector>

#include "kernels/framework/context.hpp"
#include "tests/support/ops/internal/case_node.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe::testing {

/// One run of a kernel, which lives in a step: values are where the kernel wants them, on the
/// device or the host.
class GpuRun {
public:
  GpuRun(const std::vector<CaseInput>& inputs, const KernelDef& kernel, const CaseNode& node);
  TestDevice& device() { return device_; }
  /// For the kernel; once.
  std::vector<Entry> entries() { return std::move(entries_); }
  /// The inputs that are variables.
  const std::vector<Entry>& variables() const { return variables_; }
  /// Copies values, and what variables hold, for looking at.
  void to_host(std::vector<Entry>& entries);
  void variables_to_host();
  /// Drops everything, and says what was wrong: uses of memory out of order, memory not given back,
  /// errors of the stream.
  std::vector<std::string> end();

private:
  Tensor copied(const Tensor& value, bool to_device);

  std::vector<CaseInput> inputs_;
  TestDevice device_;
  std::vector<Entry> entries_, variables_;
};

} // namespace troupe::testing
