// Interpreter: evaluates a graph without loops, node after node on the calling thread, with the
// CPU's kernels. For tests of what makes or rewrites graphs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/ir/graph.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe::testing {

/// Values by "node" or "node:slot", in place of what the node would compute.
using Feeds = std::vector<std::pair<std::string, Tensor>>;

/// What Interpreter::run gives, of nodes that run in `step`, whose device they are on.
Result<std::vector<Tensor>> interpret(const Graph& graph, const KernelRegistry& kernels,
                                      const StepEnvironment& step, const Feeds& feeds,
                                      const std::vector<std::string>& fetches);

/// Variables, resources and random generators live as long as the interpreter.
class Interpreter {
public:
  explicit Interpreter(const KernelRegistry& kernels = op_library().kernels) : kernels_(kernels) {}
  explicit Interpreter(std::unique_ptr<Device> device)
      : kernels_(op_library().kernels), device_(std::move(device)) {}

  /// The fetched values: "node", "node:slot", or "^node" for an op that is only to run (it gives no
  /// value). Only what the fetches need is run. A dead fetch gives a tensor without value, a
  /// reference the variable's value. Fails with the kernels' errors, preceded by the node's name;
  /// UNIMPLEMENTED for a loop, NOT_FOUND for an unknown name.
  Result<std::vector<Tensor>> run(const Graph& graph, const Feeds& feeds,
                                  const std::vector<std::string>& fetches);
  TestDevice& device() { return device_; }

private:
  const KernelRegistry& kernels_;
  TestDevice device_;
};

/// One run with fresh state.
Result<std::vector<Tensor>> evaluate(const Graph& graph, const Feeds& feeds,
                                     const std::vector<std::string>& fetches);

} // namespace troupe::testing
