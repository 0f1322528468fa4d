#include "tools/troupe/graph_dot.hpp"

#include <map>

#include "core/base/strings.hpp"

namespace troupe {

std::string to_dot(const Graph& graph) {
  std::string out = "digraph troupe {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  std::map<std::string, std::vector<const Node*>> devices;
  for (const Node* node : graph.nodes())
    devices[node->assigned_device].push_back(node);
  int frame = 0;
  for (const auto& [device, nodes] : devices) {
    std::string indent = device.empty() ? "  " : "    ";
    if (!device.empty())
      str_append(out, "  subgraph cluster_", frame++, " {\n    label=", str_quote(device), ";\n");
    for (const Node* node : nodes)
      str_append(out, indent, "n", node->id,
                 " [label=", str_quote(str_cat(node->name, "\n", node->op_name())), "];\n");
    if (!device.empty())
      out.append("  }\n");
  }
  for (const Node* node : graph.nodes()) {
    for (const Endpoint& input : node->inputs)
      if (input.node >= 0)
        str_append(out, "  n", input.node, " -> n", node->id,
                   input.slot > 0 ? str_cat(" [label=\"", input.slot, "\"]") : std::string(),
                   ";\n");
    for (NodeId control : node->control_inputs)
      str_append(out, "  n", control, " -> n", node->id, " [style=dashed];\n");
  }
  return out + "}\n";
}

} // namespace troupe
