#include "actors/master_session/client_graph.hpp"

#include <set>

#include "core/base/device_name.hpp"

namespace troupe {

namespace {

// The nodes that a run depends on, looking no further than fed outputs, and what of them is fed.
struct Reach {
  const Graph& graph;
  std::set<Endpoint> fed = {};
  std::vector<bool> reached = {};
  std::vector<NodeId> nodes = {};

  void visit(NodeId id) {
    if (id < 0 || reached[static_cast<std::size_t>(id)])
      return;
    reached[static_cast<std::size_t>(id)] = true;
    nodes.push_back(id);
  }
  void visit(const std::string& text) {
    auto name = parse_tensor_name(text);
    if (const Node* node = name.ok() ? graph.find(name->node) : nullptr)
      visit(node->id);
  }
};

Reach reach(const Graph& graph, const Signature& signature) {
  Reach out{graph};
  out.reached.assign(static_cast<std::size_t>(graph.capacity()), false);
  for (const std::string& feed : signature.feeds)
    if (auto name = parse_tensor_name(feed); name.ok())
      if (const Node* node = graph.find(name->node))
        out.fed.insert({node->id, name->slot});
  for (const std::string& fetch : signature.fetches)
    out.visit(fetch);
  for (const std::string& target : signature.targets)
    out.visit(target);
  for (std::size_t i = 0; i < out.nodes.size(); ++i) {
    const Node& node = *graph.node(out.nodes[i]);
    for (Endpoint e : node.inputs)
      if (!out.fed.contains(e))
        out.visit(e.node);
    for (NodeId id : node.control_inputs)
      out.visit(id);
  }
  return out;
}

// Of those, what no constant gives: what has a state, is fed, or decides what runs, and what comes
// of it.
std::vector<bool> varying(const Reach& reach) {
  std::vector<bool> out(reach.reached.size(), false);
  std::vector<NodeId> todo;
  auto mark = [&](NodeId id) {
    auto at = static_cast<std::size_t>(id);
    if (reach.reached[at] && !out[at]) {
      out[at] = true;
      todo.push_back(id);
    }
  };
  for (NodeId id : reach.nodes)
    if (const Node& node = *reach.graph.node(id);
        node.op->is_stateful || node.op->roles.has_any(control_flow_roles))
      mark(id);
  for (Endpoint e : reach.fed)
    for (const OutEdge& edge : reach.graph.node(e.node)->outs)
      if (edge.src_slot == e.slot && !edge.is_control())
        mark(edge.dst);
  while (!todo.empty()) {
    const Node& node = *reach.graph.node(todo.back());
    todo.pop_back();
    for (const OutEdge& edge : node.outs)
      if (!edge.is_control())
        mark(edge.dst);
  }
  return out;
}

bool stands_on(const Node& node, const PlacedDevices* placed, std::string_view task) {
  if (placed) {
    auto at = static_cast<std::size_t>(node.id);
    return at < placed->of.size() && placed->of[at] >= 0 &&
           task_of_device(placed->names[static_cast<std::size_t>(placed->of[at])]) == task;
  }
  auto name = DeviceName::parse(node.device);
  if (!name.ok() || !name->job || !name->task)
    return false;
  return task_name(*name->job, *name->task, name->replica.value_or(0)) == task;
}

} // namespace

// Passes may take away what constants give, and what only passes values on.
bool needs_task(const Graph& full, const PlacedDevices* placed, const Signature& signature,
                std::string_view task) {
  const Graph& graph = placed ? *placed->graph : full;
  const Reach needed = reach(graph, signature);
  const std::vector<bool> varies = varying(needed);
  for (NodeId id : needed.nodes) {
    const Node& node = *graph.node(id);
    const bool stays = varies[static_cast<std::size_t>(id)] &&
                       !node.op->roles.has_any({Role::passes_on, Role::no_op, Role::placeholder});
    if (stays && stands_on(node, placed, task))
      return true;
  }
  return false;
}

} // namespace troupe
