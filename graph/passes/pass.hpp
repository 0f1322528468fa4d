// Pass: one named rewriting of a graph that does not change what a step computes, unless that is
// asked for. Every source file directly in this folder is a pass: `fold_constants.cpp` defines
// `Pass pass_fold_constants()`, and CMake makes the list. What is not a pass lies in internal/.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph/ir/graph.hpp"

namespace troupe {

/// Runs stateless ops at optimisation time. Implemented above this folder, where kernels are known.
class ConstantEvaluator {
public:
  virtual ~ConstantEvaluator() = default;
  /// There is a kernel that `evaluate` could run for this node.
  virtual bool can_evaluate(const Node& node) const = 0;
  /// The node's outputs for these input values (one for each input, in host memory).
  virtual Result<std::vector<Tensor>> evaluate(const Node& node,
                                               std::span<const Tensor> inputs) = 0;
};

/// What a pass knows besides the graph, and where it reports.
class PassContext {
public:
  /// Names of nodes that must stay as they are: fed, fetched, targets. Null evaluator: only what
  /// needs no kernel is folded.
  PassContext(std::unordered_set<std::string> preserved, ConstantEvaluator* evaluator,
              std::int64_t max_constant_bytes, std::int64_t folded_bytes,
              std::function<bool()> should_stop)
      : preserved_(std::move(preserved)), evaluator_(evaluator),
        max_constant_bytes_(max_constant_bytes), folded_bytes_left_(folded_bytes),
        should_stop_(std::move(should_stop)) {}

  bool is_preserved(const Node& node) const { return preserved_.contains(node.name); }
  ConstantEvaluator* evaluator() const { return evaluator_; }
  std::int64_t max_constant_bytes() const { return max_constant_bytes_; }
  /// Takes bytes from the budget of all folded values; false, and nothing taken, when too few are
  /// left.
  bool take_folded_bytes(std::int64_t bytes) {
    if (bytes > folded_bytes_left_)
      return false;
    folded_bytes_left_ -= bytes;
    return true;
  }
  /// Whether the graph is not wanted any more. A pass that may take long asks now and then, and
  /// then returns `stopped()`.
  bool should_stop() const { return should_stop_ && should_stop_(); }
  static Status stopped() {
    return cancelled("nobody waits for the graph any more that was being optimised");
  }

  /// The pass made a change.
  void changed() { ++changes_; }
  std::int64_t changes() const { return changes_; }
  /// The pass looked at one node or edge: tests count this instead of time.
  void looked_at(std::int64_t count = 1) { work_ += count; }
  std::int64_t work() const { return work_; }

private:
  std::unordered_set<std::string> preserved_;
  ConstantEvaluator* evaluator_;
  std::int64_t max_constant_bytes_;
  std::int64_t folded_bytes_left_;
  std::function<bool()> should_stop_;
  std::int64_t changes_ = 0;
  std::int64_t work_ = 0;
};

struct Pass {
  std::string_view name;
  int order = 0; ///< lower runs first
  Status (*run)(Graph&, PassContext&) = nullptr;
  bool on_request = false; ///< it changes what a step does: runs only where that is asked for
};

/// All passes in the order in which they run.
const std::vector<Pass>& all_passes();

/// The op decides which nodes run, and how often (control_flow_roles).
bool is_control_flow(const Node& node);
/// A branch, or a receive whose value may be dead: the node itself is alive while its outputs are
/// dead, so a control edge from it does not carry their deadness.
bool outputs_die_alone(const Node& node);
/// Some input or output is a reference.
bool has_refs(const Node& node);
/// A variable that nobody has assigned has a shape, too; reading it is an error all the same.
bool reads_reference(const Graph& graph, const Node& node);
/// The op gives equal outputs for equal inputs, has no effect and is no control flow: its node may
/// be dropped, folded or merged with an equal one, unless the node itself is preserved.
bool may_be_replaced(const Node& node);
/// may_be_replaced, and not preserved.
bool is_free(const Node& node, const PassContext& context);

/// Replaces `node`'s output 0 by `by`: its readers read `by`, and its control successors wait for
/// `by`. Refused (false, nothing changed) where that would lose a control dependency: `node` has
/// control inputs, or it has control successors and the outputs of `by`'s node can be dead while
/// that node is alive. The node stays, unused.
bool bypass(Graph& graph, NodeId node, Endpoint by);

} // namespace troupe
