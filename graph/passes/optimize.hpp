// optimize: runs the passes over a graph.
#pragma once

#include <string>
#include <vector>

#include "graph/passes/pass.hpp"

namespace troupe {

struct OptimizeOptions {
  std::vector<std::string> disabled = {}; ///< names of passes that do not run
  std::vector<std::string> enabled = {};  ///< of those that run on request
  std::vector<std::string> preserve = {}; ///< names of nodes that stay as they are
  ConstantEvaluator* evaluator = nullptr; ///< not owned; null: nothing is computed
  std::int64_t max_constant_bytes = std::int64_t{10} << 20; ///< of one folded value
  std::int64_t max_folded_bytes = std::int64_t{64} << 20;   ///< of all of them, in all rounds
  std::function<bool()> should_stop =
      {};             ///< true: the result is not wanted any more; asked often, on this thread
  int max_rounds = 3; ///< the passes run again while they find something
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

/// The names of our passes that these names switch off. A name may be ours, or TensorFlow's (the
/// switches and the `optimizers` of RewriterConfig), which stands for those of our passes that do
/// the same, or for none. If `only` is not empty, every pass that it does not name is off; names in
/// it that are neither ours nor TensorFlow's stand for none. Each name once. INVALID_ARGUMENT for
/// such a name in `disabled`.
Result<std::vector<std::string>> passes_to_disable(std::span<const std::string> disabled,
                                                   std::span<const std::string> only);
/// The names of our passes that run on request and that these names, ours or TensorFlow's, ask for.
/// Other names stand for none.
std::vector<std::string> passes_on_request(std::span<const std::string> names);

/// Rewrites `graph`. Each preserved and each stateful node sees the same values as before; nodes on
/// which none of these depends, directly or not, are removed. Errors: INVALID_ARGUMENT for an
/// unknown name in `disabled`; INTERNAL naming the pass if one breaks the graph; CANCELLED when it
/// should stop: then the graph must be thrown away. `timings` may be null.
Status optimize(Graph& graph, const OptimizeOptions& options,
                std::vector<PassTiming>* timings = nullptr);

} // namespace troupe
