// Reverse-mode differentiation: adds to a graph the nodes that compute d sum(ys) / d xs. The rule
// of one op stands beside its kernel (OpSchema::gradient); here is the walk that applies them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace troupe {

struct GradientOptions {
  /// New nodes stand under this name; "_1", "_2" … is appended while other nodes already do.
  std::string scope = "gradients";
  /// Adds "loc:@<node>" to the gradient's nodes, beside giving them the node's device.
  bool colocate = true;
  /// Treated as constants: nothing flows through them.
  std::vector<Endpoint> stop_at = {};
};

/// One entry for each x: its gradient, or nothing where no y depends on x through differentiable
/// ops. `grad_ys` is empty (ones) or has one entry for each y, nothing meaning ones.
///
/// An x may be any output: a placeholder, an intermediate value, a variable. The gradient with
/// respect to a variable's reference or handle is that of all its reads together, and is a value.
/// Outputs of integer, bool and string dtype carry no gradient. Conditionals made of Switch and
/// Merge are differentiated; loops are not (UNIMPLEMENTED).
///
/// Errors: INVALID_ARGUMENT for unknown endpoints, a gradient of the wrong dtype, or an op on the
/// way that has no gradient ("No gradient defined for operation 'x' (op type: Y)" and its reason).
/// After an error the graph keeps the nodes added so far; nothing else reads them.
/// Linear in the size of the graph.
Result<std::vector<std::optional<Endpoint>>>
add_gradients(Graph& graph, std::span<const Endpoint> ys, std::span<const Endpoint> xs,
              std::span<const std::optional<Endpoint>> grad_ys = {},
              const GradientOptions& options = {});

} // namespace troupe
