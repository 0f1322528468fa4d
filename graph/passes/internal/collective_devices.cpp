#include "graph/passes/collective_devices.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {
namespace {

int input_named(const OpSchema& op, std::string_view name) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].name == name)
      return static_cast<int>(i); // those before it are one tensor each
  return -1;
}

bool is_collective(const OpSchema& op) {
  return op.roles.has(Role::blocks) &&
         (op.find_attr("group_key") || input_named(op, "group_key") >= 0 ||
          input_named(op, "communicator") >= 0);
}

std::optional<std::int64_t> key_of(const Graph& graph, const Node& node) {
  if (node.op->find_attr("group_key"))
    return node.attrs.get_or<std::int64_t>("group_key", 0);
  const int input = input_named(*node.op, "group_key");
  if (input < 0)
    return std::nullopt;
  const Node& source = *graph.node(node.inputs[static_cast<std::size_t>(input)].node);
  if (!source.has_role(Role::constant))
    return std::nullopt;
  const auto value = source.attrs.get_or<Tensor>("value", {});
  if (!value.has_value() || value.dtype() != DType::int32 || value.num_elements() != 1)
    return std::nullopt;
  return value.value<std::int32_t>();
}

} // namespace

void note_collective_devices(Graph& graph) {
  std::vector<std::pair<Node*, std::optional<std::int64_t>>> nodes;
  std::map<std::int64_t, std::set<std::string>> by_key;
  std::set<std::string> of_unknown, all;
  for (Node* node : graph.nodes()) {
    if (!is_collective(*node->op))
      continue;
    const auto key = key_of(graph, *node);
    nodes.emplace_back(node, key);
    all.insert(node->assigned_device);
    (key ? by_key[*key] : of_unknown).insert(node->assigned_device);
  }
  for (auto& [node, key] : nodes) {
    std::set<std::string> devices = key ? by_key[*key] : all;
    if (key)
      devices.insert(of_unknown.begin(), of_unknown.end());
    node->attrs.set("_group_devices", std::vector<std::string>(devices.begin(), devices.end()));
  }
}

} // namespace troupe
