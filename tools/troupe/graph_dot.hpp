// A graph in Graphviz's language.
#pragma once

#include <string>

#include "graph/ir/graph.hpp"

namespace troupe {

/// One box for each node; data edges with their output's number where it is not 0, control edges
/// dashed; nodes with an assigned device in that device's frame.
std::string to_dot(const Graph& graph);

} // namespace troupe
