// The invariants of a Graph, checked.
#pragma once

#include "graph/ir/graph.hpp"

namespace troupe {

/// INTERNAL with a sentence naming the node, at the first of: a node without op or name, a name
/// that finds another node, an edge not recorded at both ends, an unconnected input, a control edge
/// twice or from a node to itself, dtypes that disagree along a data edge or with op and attrs, a
/// cycle that no NextIteration closes. Costs a sort of the edges. Meant for after a pass, in debug
/// builds and tests.
Status verify(const Graph& graph);

/// May output `src_slot` of `src` feed input `dst_slot` of `dst`? A reference may feed a value, not
/// the other way round. INVALID_ARGUMENT in TensorFlow's words: "Input 0 of node c was passed float
/// from a:0 incompatible with expected int32."
Status check_edge_types(const Node& src, int src_slot, const Node& dst, int dst_slot);

} // namespace troupe
