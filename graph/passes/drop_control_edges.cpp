// Control edges that say nothing: beside a data edge from the same node, or from a node that is
// always there at once (a constant without control inputs).
#include <algorithm>

#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

bool is_always_there(const Node& source, const PassContext& context) {
  return source.has_role(Role::constant) && source.control_inputs.empty() &&
         !context.is_preserved(source);
}

// The nodes whose values `node` reads, sorted; none for control flow, which may run without them.
std::vector<NodeId> read_by(const Node& node) {
  std::vector<NodeId> out;
  if (node.control_inputs.empty() || is_control_flow(node))
    return out;
  for (Endpoint e : node.inputs)
    out.push_back(e.node);
  std::ranges::sort(out);
  return out;
}

Status drop_control_edges(Graph& graph, PassContext& context) {
  for (const Node* node : graph.nodes()) {
    context.looked_at(1 + static_cast<std::int64_t>(node->control_inputs.size()));
    std::vector<NodeId> read = read_by(*node);
    for (NodeId from : std::vector<NodeId>(node->control_inputs))
      if (is_always_there(*graph.node(from), context) || std::ranges::binary_search(read, from)) {
        graph.remove_control_edge(from, node->id);
        context.changed();
      }
  }
  return {};
}

} // namespace

Pass pass_drop_control_edges() {
  return {"drop_control_edges", 40, drop_control_edges};
}

} // namespace troupe
