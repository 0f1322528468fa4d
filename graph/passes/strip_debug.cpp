// What only looks for faults goes, where the session asks for it (debug_stripper of TensorFlow's
// RewriterConfig): of Assert and PrintV2 a NoOp stays, of CheckNumerics and Print their first
// input.
#include <algorithm>

#include "core/base/strings.hpp"
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

// The list is TensorFlow's: CheckNumericsV2 is not on it, so that no role of the ops tells.
constexpr std::string_view checks[] = {"Assert", "PrintV2"};
constexpr std::string_view lookers[] = {"CheckNumerics", "Print"};

bool only_checks(const Node& node) {
  return std::ranges::find(checks, node.op_name()) != std::end(checks);
}
bool passes_on(const Node& node) {
  return std::ranges::find(lookers, node.op_name()) != std::end(lookers);
}

class Stripper {
public:
  Stripper(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  Status run() {
    for (NodeId id = 0, end = graph_.capacity(); id < end; ++id) {
      const Node* node = graph_.node(id);
      context_.looked_at();
      if (node && (only_checks(*node) || passes_on(*node)))
        TROUPE_TRY(strip(id));
    }
    return {};
  }

private:
  // Another node takes the name, and all that was said of it; it waits for what was looked at.
  Status strip(NodeId id) {
    const bool has_value = passes_on(*graph_.node(id));
    const std::string name = graph_.node(id)->name;
    graph_.rename(id, graph_.unique_name(name + "/stripped"));
    const Node& old = *graph_.node(id);
    AttrMap attrs;
    std::vector<Endpoint> inputs;
    if (has_value) {
      attrs.set("T", remove_ref(old.input_types[0]));
      inputs.push_back(old.inputs[0]);
    }
    TROUPE_ASSIGN(Node * made, graph_.add(name, has_value ? "Identity" : "NoOp", inputs,
                                          std::move(attrs), old.control_inputs));
    made->device = old.device;
    made->assigned_device = old.assigned_device;
    const NodeId by = made->id;
    for (std::size_t i = inputs.size(); i < graph_.node(id)->inputs.size(); ++i)
      TROUPE_TRY(wait_for(by, graph_.node(id)->inputs[i], name));
    graph_.replace_node(id, by);
    graph_.remove(id);
    context_.changed();
    return {};
  }

  // A branch lives where its output is dead: what waits for the value waits for a copy of it.
  Status wait_for(NodeId node, Endpoint value, const std::string& name) {
    const Node& source = *graph_.node(value.node);
    if (!outputs_die_alone(source)) {
      graph_.add_control_edge(value.node, node);
      return {};
    }
    const DType type = remove_ref(source.output_types[static_cast<std::size_t>(value.slot)]);
    TROUPE_ASSIGN(Node * copy, graph_.add(graph_.unique_name(name + "/waits"), "Identity", {value},
                                          {{"T", type}}));
    copy->device = graph_.node(node)->device;
    copy->assigned_device = graph_.node(node)->assigned_device;
    graph_.add_control_edge(copy->id, node);
    return {};
  }

  Graph& graph_;
  PassContext& context_;
};

Status strip_debug(Graph& graph, PassContext& context) {
  return Stripper(graph, context).run();
}

} // namespace

Pass pass_strip_debug() {
  return {"strip_debug", 1, strip_debug, true};
}

} // namespace troupe
