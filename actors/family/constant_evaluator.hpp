// KernelConstantEvaluator: lets the graph passes compute constants with the CPU's kernels.
#pragma once

#include "actors/family/services.hpp"
#include "graph/passes/pass.hpp"

namespace troupe {

/// Runs kernels on a CPU device of its own, alone on the calling thread; nothing of it reaches the
/// node's devices. For one thread.
class KernelConstantEvaluator final : public ConstantEvaluator {
public:
  explicit KernelConstantEvaluator(const NodeServices& services);
  ~KernelConstantEvaluator() override;
  bool can_evaluate(const Node& node) const override;
  Result<std::vector<Tensor>> evaluate(const Node& node, std::span<const Tensor> inputs) override;

private:
  const KernelRegistry& kernels_;
  std::unique_ptr<Device> device_;
};

} // namespace troupe
