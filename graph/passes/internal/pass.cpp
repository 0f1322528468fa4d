#include "graph/passes/pass.hpp"

#include <algorithm>
#include <tuple>

#include "graph/passes/internal/pass_list.hpp"

namespace troupe {

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> passes = [] {
    std::vector<Pass> list = listed_passes();
    std::ranges::sort(list, {}, [](const Pass& p) { return std::tuple(p.order, p.name); });
    return list;
  }();
  return passes;
}

bool outputs_die_alone(const Node& node) {
  return node.op->roles.has_any(outputs_die_alone_roles);
}

bool is_control_flow(const Node& node) {
  return node.op->roles.has_any(control_flow_roles);
}

bool has_refs(const Node& node) {
  return std::ranges::any_of(node.input_types, is_ref) ||
         std::ranges::any_of(node.output_types, is_ref);
}

bool reads_reference(const Graph& graph, const Node& node) {
  return std::ranges::any_of(node.inputs, [&](Endpoint e) {
    return is_ref(graph.node(e.node)->output_types[static_cast<std::size_t>(e.slot)]);
  });
}

bool may_be_replaced(const Node& node) {
  return !node.op->is_stateful && !node.op->roles.has_any(not_free_roles) &&
         !is_control_flow(node) && !has_refs(node);
}

bool is_free(const Node& node, const PassContext& context) {
  return may_be_replaced(node) && !context.is_preserved(node);
}

bool bypass(Graph& graph, NodeId id, Endpoint by) {
  const Node& node = *graph.node(id);
  if (!node.control_inputs.empty() || by.node == id)
    return false;
  std::vector<NodeId> waiting;
  for (const OutEdge& edge : node.outs)
    if (edge.is_control())
      waiting.push_back(edge.dst);
  if (!waiting.empty() && outputs_die_alone(*graph.node(by.node)))
    return false;
  graph.replace_uses({id, 0}, by);
  for (NodeId dst : waiting) {
    graph.remove_control_edge(id, dst);
    graph.add_control_edge(by.node, dst);
  }
  return true;
}

} // namespace troupe
