// Shapes of all outputs of a graph, as far as they are known before it runs.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"

namespace troupe {

class GraphShapes {
public:
  /// Unknown for an endpoint that the graph does not have.
  const PartialShape& of(Endpoint endpoint) const;
  /// The value of an output that is a constant, or that follows from shapes alone (Shape, Size,
  /// Rank …); otherwise a tensor without value.
  const Tensor& value_of(Endpoint endpoint) const;

private:
  friend class ShapeInference;
  struct NodeShapes {
    std::vector<PartialShape> outputs;
    std::vector<Tensor> values; ///< empty: none known
  };
  std::vector<NodeShapes> nodes_; // by id
};

struct ShapeInferenceOptions {
  /// An op whose shape function refuses its inputs gets unknown shapes instead of failing all.
  bool ignore_errors = false;
};

/// Visits nodes in topological order. A Merge's shape is what all its inputs agree on; loops are
/// repeated until nothing changes, so a loop variable keeps the dimensions that do not change.
/// INVALID_ARGUMENT naming the node and its input shapes, or a cycle.
Result<GraphShapes> infer_graph_shapes(const Graph& graph, ShapeInferenceOptions options = {});

} // namespace troupe
