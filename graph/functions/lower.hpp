// Lowering: every node that calls a function is replaced by the function's body, and If, While and
// Case by Switch, Merge and loops. What follows (placement, passes, partition) knows no calls. Two
// kinds of nodes keep their functions: those whose op runs functions by itself
// (Role::runs_functions), and calls of a function within itself.
#pragma once

#include "graph/ir/graph.hpp"

namespace troupe {

struct LowerOptions {
  std::size_t max_nodes = 1'000'000;     ///< of the graph, lowered
  std::size_t max_depth = 100;           ///< calls within calls
  std::size_t max_bytes = 1'000'000'000; ///< of names and texts copied, and of definitions read
  Allocator* memory = nullptr;           ///< for the constants of bodies; null: host_allocator()
  /// The graph is the body of this function, whose calls are calls within itself. Null: of none.
  const FunctionRef* body_of = nullptr;
};

/// Some node calls a function, or is a conditional or a loop with functions.
bool has_function_calls(const Graph& graph);

/// Lowers them all. Such a node keeps its id, its name and its outputs, so that it may be fetched,
/// fed and waited for as before: it becomes an IdentityN of its results, or a NoOp. A body's nodes
/// are named "<node>/<name in the body>". Calls are lowered in order of id, so a graph that was
/// extended gets the same names again.
///
/// A body runs as its call would: after the call's control inputs, not at all in a branch that is
/// not taken. Its control outputs have run before the call's node does.
///
/// A call of a function within its own body stays a call: a StatefulPartitionedCall, whose kernel
/// runs the function.
///
/// A call that does not fit the function, or is of an unknown function or of the gradient of one
/// that calls itself, becomes a `_Refusal`: the step that runs it ends with an error that names the
/// node. RESOURCE_EXHAUSTED beyond the limits; then the graph is not fit for use.
Status lower_functions(Graph& graph, const LowerOptions& options = {});

} // namespace troupe
