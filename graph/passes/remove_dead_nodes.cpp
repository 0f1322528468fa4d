// Dead code: removes what no preserved node, no node with state or effects, and nothing that these
// read, depends on.
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

Status remove_dead_nodes(Graph& graph, PassContext& context) {
  std::vector<bool> live(static_cast<std::size_t>(graph.capacity()), false);
  std::vector<NodeId> todo;
  auto visit = [&](NodeId id) {
    if (id >= 0 && !live[static_cast<std::size_t>(id)]) {
      live[static_cast<std::size_t>(id)] = true;
      todo.push_back(id);
    }
  };
  for (const Node* node : graph.nodes())
    if (node->op->is_stateful || node->has_role(Role::side_effect) || has_refs(*node) ||
        context.is_preserved(*node))
      visit(node->id);
  while (!todo.empty()) {
    const Node& node = *graph.node(todo.back());
    todo.pop_back();
    context.looked_at(1 + node.num_inputs());
    for (Endpoint e : node.inputs)
      visit(e.node);
    for (NodeId id : node.control_inputs)
      visit(id);
  }
  for (NodeId id = 0; id < graph.capacity(); ++id)
    if (graph.node(id) && !live[static_cast<std::size_t>(id)]) {
      graph.remove(id);
      context.changed();
    }
  return {};
}

} // namespace

Pass pass_remove_dead_nodes() {
  return {"remove_dead_nodes", 90, remove_dead_nodes};
}

} // namespace troupe
