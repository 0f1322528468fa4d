// collective_devices: which devices of a step may compute collectives together.
#pragma once

#include "graph/ir/graph.hpp"

namespace troupe {

/// Gives every node of a collective the attribute `_group_devices`: the devices of all nodes here
/// whose group may be its own, in order. A group has a key: an attribute or an input, which may be
/// a constant. A key that is known only when the step runs may be any. For pruned and placed
/// graphs.
void note_collective_devices(Graph& graph);

} // namespace troupe
