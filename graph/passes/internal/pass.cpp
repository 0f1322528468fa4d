#include "graph/passes/pass.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
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

namespace {

// Asked of every node by every pass: lengths are compared first.
bool is_one_of(std::span<const std::string_view> names, std::string_view op) {
  return std::ranges::any_of(names, [&](std::string_view name) {
    return name.size() == op.size() && name[0] == op[0] && name == op;
  });
}

} // namespace

bool outputs_die_alone(const Node& node) {
  static constexpr std::array<std::string_view, 5> names = {"Switch", "RefSwitch", "_SwitchN",
                                                            "_Recv", "_HostRecv"};
  return is_one_of(names, node.op_name());
}

bool is_control_flow(const Node& node) {
  static constexpr std::array<std::string_view, 13> names = {
      "Switch",        "RefSwitch", "_SwitchN", "Merge",         "RefMerge",         "Enter",
      "RefEnter",      "Exit",      "RefExit",  "NextIteration", "RefNextIteration", "LoopCond",
      "ControlTrigger"};
  return is_one_of(names, node.op_name());
}

bool has_refs(const Node& node) {
  return std::ranges::any_of(node.input_types, is_ref) ||
         std::ranges::any_of(node.output_types, is_ref);
}

bool is_free(const Node& node, const PassContext& context) {
  return !node.op->is_stateful && !has_refs(node) && !is_control_flow(node) &&
         !node.op_name().starts_with("Placeholder") && !node.op_name().starts_with('_') &&
         !context.is_preserved(node);
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
