// Loops across devices: what must be added to a placed graph before it is cut.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "graph/ir/graph.hpp"

namespace troupe::partitioning {

using NewName = std::function<std::string(std::string_view)>;

/// Moves Switch, Exit, Enter and NextIteration to the devices of their neighbours.
Status colocate_control_flow(Graph& graph);

/// For each (loop, device) with an edge inside the loop that arrives from another device: Enter →
/// Merge → Switch(LoopCond) → NextIteration on that device, and a control edge from the Merge to
/// the edge's reader.
Status add_control_loops(Graph& graph, const NewName& new_name);

/// A Merge made by add_control_loops.
bool is_control_loop_merge(const Node& node);

} // namespace troupe::partitioning
