// What reads a shape alone (Shape, Size, Rank …) becomes a constant where that shape is statically
// known, whether or not the tensor itself is.
#include <algorithm>
#include <optional>

#include "core/base/strings.hpp"
#include "graph/ir/shapes.hpp"
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

constexpr std::size_t most_controls = 16; // a node that waits for more is left alone

// With conditionals or loops in the graph the constant must die with the tensor, and run in its
// frame; that is what its control inputs are for. Nothing if control edges cannot say it, or not
// with a few.
std::optional<std::vector<NodeId>> controls_of(const Graph& graph, const Node& node) {
  std::vector<NodeId> controls = node.control_inputs;
  if (controls.size() + node.inputs.size() > most_controls)
    return std::nullopt;
  for (Endpoint e : node.inputs) {
    if (outputs_die_alone(*graph.node(e.node)))
      return std::nullopt;
    controls.push_back(e.node);
  }
  return controls;
}

// The node that reads the variable whose value the node's inputs are; -1: none does.
NodeId read_before(const Graph& graph, const Node& node) {
  for (Endpoint e : node.inputs) {
    const Node* source = graph.node(e.node);
    while (source->has_role(Role::passes_on) && !source->inputs.empty() &&
           !reads_reference(graph, *source))
      source = graph.node(source->inputs[0].node);
    if (source->has_role(Role::reads_variable) || reads_reference(graph, *source))
      return source->id;
  }
  return -1;
}

std::vector<bool> read_outputs(const Node& node) {
  std::vector<bool> read(node.output_types.size(), false);
  for (const OutEdge& edge : node.outs)
    if (!edge.is_control())
      read[static_cast<std::size_t>(edge.src_slot)] = true;
  return read;
}

Status fold(Graph& graph, NodeId id, const GraphShapes& shapes, bool may_be_dead,
            PassContext& context) {
  const Node& node = *graph.node(id);
  std::vector<NodeId> controls = node.control_inputs;
  if (may_be_dead) {
    auto all = controls_of(graph, node);
    if (!all)
      return {};
    controls = *std::move(all);
  }
  // Where the variable has no value, reading it still fails.
  if (NodeId read = read_before(graph, node);
      read >= 0 && std::ranges::find(controls, read) == controls.end())
    controls.push_back(read);
  std::vector<bool> read = read_outputs(node);
  for (int slot = 0; slot < node.num_outputs(); ++slot) {
    const Tensor& value = shapes.value_of({id, slot});
    if (!value.has_value() || !read[static_cast<std::size_t>(slot)])
      continue;
    TROUPE_ASSIGN(Node * added,
                  graph.add(graph.unique_name(str_cat(node.name, "/folded")), "Const", {},
                            {{"value", TensorBox{value}}, {"dtype", value.dtype()}}, controls));
    added->device = node.device;
    added->assigned_device = node.assigned_device;
    graph.replace_uses({id, slot}, {added->id, 0});
    context.changed();
  }
  return {};
}

Status fold_shapes(Graph& graph, PassContext& context) {
  std::vector<NodeId> wanted;
  bool may_be_dead = false; // some tensor of the graph
  for (const Node* node : graph.nodes()) {
    context.looked_at();
    may_be_dead = may_be_dead || is_control_flow(*node) || outputs_die_alone(*node);
    if (node->has_role(Role::metadata) && is_free(*node, context) && !reads_reference(graph, *node))
      wanted.push_back(node->id);
  }
  if (wanted.empty())
    return {};
  TROUPE_ASSIGN(GraphShapes shapes, infer_graph_shapes(graph, {.ignore_errors = true}));
  for (NodeId id : wanted)
    TROUPE_TRY(fold(graph, id, shapes, may_be_dead, context));
  return {};
}

} // namespace

Pass pass_fold_shapes() {
  return {"fold_shapes", 5, fold_shapes};
}

} // namespace troupe
