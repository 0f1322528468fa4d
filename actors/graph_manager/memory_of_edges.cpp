#include "actors/graph_manager/memory_of_edges.hpp"

#include <unordered_map>
#include <vector>

#include "core/base/strings.hpp"
#include "devices/device.hpp"
#include "graph/ir/graph.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe {

namespace {

/// By number: whether it is in host memory.
struct Memories {
  std::vector<bool> inputs, outputs;
};

Result<Memories> memories_of(const Node& node, Device& device, const OpLibrary& library) {
  TROUPE_ASSIGN(const KernelDef* kernel,
                library.kernels.find(node.op_name(), node.attrs, device.type(), node.name));
  Memories out;
  TROUPE_ASSIGN(out.inputs, in_host_memory(node.op->inputs, kernel->options.host_inputs, node.attrs,
                                           node.input_types));
  TROUPE_ASSIGN(out.outputs, in_host_memory(node.op->outputs, kernel->options.host_outputs,
                                            node.attrs, node.output_types));
  return out;
}

} // namespace

Status copy_between_memories(Graph& graph, Device& device, const OpLibrary& library) {
  if (!device.has_own_memory())
    return {};
  std::unordered_map<NodeId, Memories> memories;
  for (const Node* node : graph.nodes()) {
    TROUPE_ASSIGN(memories[node->id], memories_of(*node, device, library));
  }
  for (const Node* source : graph.nodes()) {
    const std::vector<bool>& lies_in_host = memories.at(source->id).outputs;
    std::vector<NodeId> copies(lies_in_host.size(), -1);
    const std::vector<OutEdge> edges = source->outs; // they change on the way
    for (const OutEdge& edge : edges) {
      if (edge.is_control())
        continue;
      const auto slot = static_cast<std::size_t>(edge.src_slot);
      const bool from_host = lies_in_host[slot];
      if (memories.at(edge.dst).inputs[static_cast<std::size_t>(edge.dst_slot)] == from_host)
        continue;
      NodeId& copy = copies[slot];
      if (copy < 0) {
        TROUPE_ASSIGN(Node * made,
                      graph.add(graph.unique_name(str_cat(source->name, "/copy_", slot)),
                                from_host ? "_CopyToDevice" : "_CopyToHost",
                                {{source->id, edge.src_slot}}));
        made->assigned_device = device.name();
        copy = made->id;
      }
      graph.set_input(edge.dst, edge.dst_slot, {copy, 0});
    }
  }
  return {};
}

} // namespace troupe
