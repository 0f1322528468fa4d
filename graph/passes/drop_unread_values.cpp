// Values that nobody reads: a node of which others only wait is not computed, they wait for its
// inputs. Gradients have such nodes, since all gradients of an op are joined before any is used,
// and that of a fed input is used by nothing.
#include <algorithm>

#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

// The nodes whose outputs or ends the node waits for, each once.
std::vector<NodeId> sources_of(const Node& node) {
  std::vector<NodeId> out(node.control_inputs.begin(), node.control_inputs.end());
  for (Endpoint e : node.inputs)
    out.push_back(e.node);
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// The nodes that wait for it; none if somebody reads it, or if it may go for another reason.
std::vector<NodeId> who_only_waits(const Graph& graph, const Node& node,
                                   const PassContext& context) {
  if (!is_free(node, context) || node.has_role(Role::check) || reads_reference(graph, node) ||
      std::ranges::any_of(node.outs, [](const OutEdge& edge) { return !edge.is_control(); }))
    return {};
  std::vector<NodeId> out;
  for (const OutEdge& edge : node.outs)
    out.push_back(edge.dst);
  return out;
}

Status drop_unread_values(Graph& graph, PassContext& context) {
  TROUPE_ASSIGN(std::vector<NodeId> order, graph.topological_order());
  std::ranges::reverse(order); // what one node leaves unread is seen after it
  for (NodeId id : order) {
    const Node& node = *graph.node(id);
    context.looked_at();
    std::vector<NodeId> waiting = who_only_waits(graph, node, context);
    if (waiting.empty())
      continue;
    std::vector<NodeId> sources = sources_of(node);
    // Not more edges than there were; and a dead value must not be lost with the edge it came by.
    bool grows = sources.size() * waiting.size() > sources.size() + waiting.size();
    bool may_die = std::ranges::any_of(
        sources, [&](NodeId from) { return outputs_die_alone(*graph.node(from)); });
    if (grows || may_die)
      continue;
    context.looked_at(static_cast<std::int64_t>(sources.size() + waiting.size()));
    graph.remove(id);
    for (NodeId from : sources)
      for (NodeId to : waiting)
        graph.add_control_edge(from, to);
    context.changed();
  }
  return {};
}

} // namespace

Pass pass_drop_unread_values() {
  return {"drop_unread_values", 45, drop_unread_values};
}

} // namespace troupe
