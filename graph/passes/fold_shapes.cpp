// Shape, Size, Rank and ShapeN of a statically known shape become constants, whether or not the
// tensor itself is known.
#include <algorithm>
#include <array>

#include "core/base/strings.hpp"
#include "graph/ir/shapes.hpp"
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

bool asks_for_shape(const Node& node) {
  static constexpr std::array names = {"Shape", "ShapeN", "Size", "Rank"};
  return std::ranges::find(names, node.op_name()) != names.end();
}

// With conditionals or loops in the graph the constant must die with the tensor, and run in its
// frame; that is what its control inputs are for. Nothing if a control edge cannot say it.
Result<std::vector<NodeId>> controls_of(const Graph& graph, const Node& node) {
  std::vector<NodeId> controls = node.control_inputs;
  for (Endpoint e : node.inputs) {
    if (is_switch(*graph.node(e.node)))
      return failed_precondition("an output of a Switch dies alone");
    controls.push_back(e.node);
  }
  return controls;
}

Status fold(Graph& graph, NodeId id, const GraphShapes& shapes, bool control_flow,
            PassContext& context) {
  const Node& node = *graph.node(id);
  for (int slot = 0; slot < node.num_outputs(); ++slot) {
    const Tensor& value = shapes.value_of({id, slot});
    bool is_read = std::ranges::any_of(
        node.outs, [&](const OutEdge& e) { return !e.is_control() && e.src_slot == slot; });
    if (!value.has_value() || !is_read)
      continue;
    std::vector<NodeId> controls = node.control_inputs;
    if (control_flow) {
      auto all = controls_of(graph, node);
      if (!all.ok())
        return {};
      controls = *std::move(all);
    }
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

Status run(Graph& graph, PassContext& context) {
  std::vector<NodeId> wanted;
  bool control_flow = false;
  for (const Node* node : graph.nodes()) {
    context.looked_at();
    control_flow = control_flow || is_control_flow(*node);
    if (asks_for_shape(*node) && is_free(*node, context))
      wanted.push_back(node->id);
  }
  if (wanted.empty())
    return {};
  TROUPE_ASSIGN(GraphShapes shapes, infer_graph_shapes(graph, {.ignore_errors = true}));
  for (NodeId id : wanted)
    TROUPE_TRY(fold(graph, id, shapes, control_flow, context));
  return {};
}

} // namespace

Pass pass_fold_shapes() {
  return {"fold_shapes", 5, run};
}

} // namespace troupe
