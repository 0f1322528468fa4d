// Control edges that say nothing: beside a data edge from the same node, or from a node that is
// always there at once (a Const without control inputs).
#include <algorithm>

#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

bool says_nothing(const Graph& graph, NodeId from, const Node& to, const PassContext& context) {
  const Node& source = *graph.node(from);
  if (source.is_op("Const") && source.control_inputs.empty() && !context.is_preserved(source))
    return true;
  return !is_control_flow(to) &&
         std::ranges::any_of(to.inputs, [&](Endpoint e) { return e.node == from; });
}

Status run(Graph& graph, PassContext& context) {
  for (const Node* node : graph.nodes()) {
    context.looked_at(1 + static_cast<std::int64_t>(node->control_inputs.size()));
    for (NodeId from : std::vector<NodeId>(node->control_inputs))
      if (says_nothing(graph, from, *node, context)) {
        graph.remove_control_edge(from, node->id);
        context.changed();
      }
  }
  return {};
}

} // namespace

Pass pass_drop_control_edges() {
  return {"drop_control_edges", 40, run};
}

} // namespace troupe
