// What the rules of `simplify` share: looking through a node's inputs, and adding nodes beside it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/ir/shapes.hpp"
#include "graph/passes/pass.hpp"

namespace troupe {

/// The shapes of a graph, inferred when the first rule asks: few rules do, and inferring takes as
/// long as the rest of the pass.
class ShapesOnDemand {
public:
  explicit ShapesOnDemand(const Graph& graph) : graph_(graph) {}
  /// Unknown for nodes that the graph has gained since.
  const PartialShape& of(Endpoint endpoint);

private:
  const Graph& graph_;
  std::optional<GraphShapes> shapes_;
};

/// One node as a rule sees it.
class RuleView {
public:
  RuleView(Graph& graph, const Node& node, const PassContext& context, ShapesOnDemand& shapes)
      : graph_(graph), node_(node), context_(context), shapes_(shapes) {}

  const Node& node() const { return node_; }
  int num_inputs() const { return node_.num_inputs(); }
  Endpoint input(int i) const { return node_.inputs[static_cast<std::size_t>(i)]; }
  DType input_dtype(int i) const {
    return remove_ref(node_.input_types[static_cast<std::size_t>(i)]);
  }
  const PartialShape& shape(Endpoint endpoint) { return shapes_.of(endpoint); }
  const Node& source(int i) const { return *graph_.node(input(i).node); }
  /// The constant behind input i of this node or of another; without value if it is none, or waits
  /// for a control input (it may then be dead while the other inputs are not).
  Tensor constant(int i) const { return constant(node_, i); }
  Tensor constant(const Node& of, int i) const;
  /// The integers of a constant int32 or int64 input.
  std::optional<std::vector<std::int64_t>> ints(int i) const { return ints(node_, i); }
  std::optional<std::vector<std::int64_t>> ints(const Node& of, int i) const;
  /// The producer of input i, if it is a node of `op` that a rule may skip: not preserved, on the
  /// same device, without control inputs. Else null.
  const Node* source_if(int i, std::string_view op) const;

  /// A new constant on the node's device; int32 or int64 as `like`.
  Result<Endpoint> add_ints(std::span<const std::int64_t> values, DType like);
  /// A copy of the node under a new name with other inputs.
  Result<Endpoint> add_copy(std::vector<Endpoint> inputs);

private:
  Graph& graph_;
  const Node& node_;
  const PassContext& context_;
  ShapesOnDemand& shapes_;
};

/// Every element of a non-empty constant equals `number` bit by bit (so 0.0 is not -0.0).
bool is_all(const Tensor& tensor, double number);
/// Broadcasting a value against this constant leaves its shape alone, whatever that is.
bool keeps_shape(const Tensor& tensor);

} // namespace troupe
