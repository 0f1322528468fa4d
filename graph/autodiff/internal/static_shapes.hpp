// What is known of every output's shape while nodes are being added: inferred once for the graph,
// then node by node.
#pragma once

#include <vector>

#include "graph/ir/shapes.hpp"

namespace troupe::autodiff {

/// Not for several threads. Refers to the graph.
class StaticShapes {
public:
  /// Infers all nodes in topological order; what a shape function refuses counts as unknown.
  explicit StaticShapes(const Graph& graph);

  /// A node that was added after construction and whose inputs are known here.
  void infer(const Node& node);
  PartialShape of(Endpoint e) const;
  /// Adds knowledge from elsewhere; a contradiction is ignored.
  void refine(Endpoint e, const PartialShape& known);
  /// The value of a Const, or of a Shape of a fully known shape; otherwise without value.
  Tensor value(Endpoint e) const;

private:
  const Graph& graph_;
  GraphShapes start_;                             // values known at construction
  std::vector<std::vector<PartialShape>> shapes_; // by node, then slot
};

} // namespace troupe::autodiff
