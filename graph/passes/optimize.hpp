// optimize: runs the passes over a graph.
#pragma once

#include <string>
#include <vector>

#include "graph/passes/pass.hpp"

namespace troupe {

struct OptimizeOptions {
  std::vector<std::string> disabled = {}; ///< names of passes that do not run
  std::vector<std::string> preserve = {}; ///< names of nodes that stay as they are
  ConstantEvaluator* evaluator = nullptr; ///< not owned; null: nothing is computed
  std::int64_t max_constant_bytes = std::int64_t{10} << 20; ///< of one folded value
  std::int64_t max_folded_bytes = std::int64_t{64} << 20;   ///< of all of them, in all rounds
  std::function<bool()> should_stop = {}; ///< nobody waits any more; asked often, on this thread
  int max_rounds = 3;                     ///< the passes run again while they find something
  bool verify =
      false; ///< check the invariants after each pass; builds without optimisation always do
};

struct PassTiming {
  std::string name;
  int round = 0;
  std::int64_t micros = 0;
  std::int64_t changes = 0;
  std::int64_t work = 0; ///< nodes and edges looked at
};

/// Our passes that are off when these are: names of ours, and TensorFlow's (the switches and the
/// `optimizers` of RewriterConfig), which stand for those of ours that do the like, or for none.
/// `only`, if not empty, switches off whatever it does not name. Each name once. INVALID_ARGUMENT
/// for a name that is neither's.
Result<std::vector<std::string>> passes_to_disable(std::span<const std::string> disabled,
                                                   std::span<const std::string> only);

/// Rewrites `graph` so that each preserved and each stateful node sees the same values, and nodes
/// that neither these nor anything they read depend on are gone. INVALID_ARGUMENT for an unknown
/// name in `disabled`; INTERNAL naming the pass if one breaks the graph; CANCELLED when it should stop, and
/// the graph is to be thrown away then. `timings` may be null.
Status optimize(Graph& graph, const OptimizeOptions& options,
                std::vector<PassTiming>* timings = nullptr);

} // namespace troupe
