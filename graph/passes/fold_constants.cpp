// Constant folding: a free node whose inputs are all constant is computed now. A cone of such nodes
// is computed as a whole and leaves one Const at each output that others read. Control inputs of
// the cone become those of the Const, so that inside a conditional it still dies with its branch.
#include <algorithm>
#include <unordered_map>

#include "core/base/strings.hpp"
#include "graph/op/infer.hpp"
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

constexpr std::size_t max_controls = 16; // a cone that waits for more is left alone

struct Folded {
  std::vector<Tensor> outputs;
  std::vector<NodeId> controls; // what the whole cone waits for, sorted
  bool is_const = false;        // was a Const before
};

class Folder {
public:
  Folder(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  Status run() {
    TROUPE_ASSIGN(auto order, graph_.topological_order());
    for (NodeId id : order) {
      if (context_.should_stop())
        return PassContext::stopped();
      try_to_fold(*graph_.node(id));
    }
    for (NodeId id : order)
      if (auto found = folded_.find(id); found != folded_.end() && !found->second.is_const)
        TROUPE_TRY(replace(id, found->second));
    return {};
  }

private:
  void try_to_fold(const Node& node) {
    context_.looked_at(1 + node.num_inputs());
    if (node.has_role(Role::constant)) {
      auto value = node.attrs.get<Tensor>("value");
      if (value.ok() && value->dtype() == node.output_types[0]) { // the step names one that lies
        Folded& entry = folded_[node.id];
        entry.outputs = {*std::move(value)};
        entry.controls = sorted(node.control_inputs);
        entry.is_const = true;
      }
      return;
    }
    if (!context_.evaluator() || node.num_outputs() == 0 || node.inputs.empty() ||
        !is_free(node, context_))
      return;
    Folded entry;
    std::vector<Tensor> inputs;
    entry.controls = sorted(node.control_inputs);
    for (Endpoint e : node.inputs) {
      auto source = folded_.find(e.node);
      if (source == folded_.end())
        return;
      inputs.push_back(source->second.outputs[static_cast<std::size_t>(e.slot)]);
      std::vector<NodeId> both;
      std::ranges::set_union(entry.controls, source->second.controls, std::back_inserter(both));
      entry.controls = std::move(both);
    }
    if (entry.controls.size() > max_controls || is_too_large(node, inputs) ||
        !context_.evaluator()->can_evaluate(node))
      return;
    auto outputs = context_.evaluator()->evaluate(node, inputs);
    // What fails now fails in the step too, and says so there.
    if (!outputs.ok() || outputs->size() != node.output_types.size())
      return;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < outputs->size(); ++i) {
      const auto size = static_cast<std::int64_t>((*outputs)[i].byte_size());
      if ((*outputs)[i].dtype() != node.output_types[i] || size > context_.max_constant_bytes())
        return;
      bytes += size;
    }
    if (!context_.take_folded_bytes(bytes))
      return;
    entry.outputs = *std::move(outputs);
    folded_.emplace(node.id, std::move(entry));
  }

  // Asked before memory is taken. What the shape function cannot tell is found out by trying.
  bool is_too_large(const Node& node, const std::vector<Tensor>& inputs) const {
    std::vector<PartialShape> shapes;
    std::int64_t taken = 0;
    for (const Tensor& input : inputs)
      taken += static_cast<std::int64_t>(input.byte_size());
    if (taken > context_.max_constant_bytes()) // its kernel would take long, whatever it gives
      return true;
    for (const Tensor& input : inputs)
      shapes.emplace_back(input.shape());
    auto outputs = infer_shapes(*node.op, node.attrs, std::move(shapes), inputs);
    if (!outputs.ok())
      return false;
    for (std::size_t i = 0; i < outputs->size(); ++i) {
      if (!(*outputs)[i].is_fully_defined())
        continue;
      auto shape = (*outputs)[i].to_shape();
      auto each = static_cast<std::int64_t>(std::max<std::size_t>(
          1, is_object(node.output_types[i]) ? sizeof(std::string)
                                             : dtype_size(node.output_types[i])));
      if (!shape || shape->num_elements() > context_.max_constant_bytes() / each)
        return true;
    }
    return false;
  }

  static std::vector<NodeId> sorted(std::vector<NodeId> ids) {
    std::ranges::sort(ids);
    return ids;
  }

  bool is_folded_away(NodeId id) const {
    auto found = folded_.find(id);
    return found != folded_.end() && !found->second.is_const;
  }

  // Gives constants to the readers that stay; nodes of the cone itself keep reading each other and
  // are dead then.
  Status replace(NodeId id, const Folded& entry) {
    const std::string name = graph_.node(id)->name;
    for (const OutEdge& edge : std::vector<OutEdge>(graph_.node(id)->outs)) {
      if (edge.is_control()) {
        graph_.remove_control_edge(id, edge.dst);
        for (NodeId control : entry.controls)
          graph_.add_control_edge(control, edge.dst);
        context_.changed();
      } else if (!is_folded_away(edge.dst)) {
        TROUPE_ASSIGN(NodeId constant, constant_for({id, edge.src_slot}, entry));
        graph_.set_input(edge.dst, edge.dst_slot, {constant, 0});
        context_.changed();
      }
    }
    made_.clear();
    return {};
  }

  Result<NodeId> constant_for(Endpoint e, const Folded& entry) {
    if (auto found = made_.find(e.slot); found != made_.end())
      return found->second;
    const Node& node = *graph_.node(e.node);
    const Tensor& value = entry.outputs[static_cast<std::size_t>(e.slot)];
    std::string name = graph_.unique_name(str_cat(node.name, "/folded"));
    TROUPE_ASSIGN(Node * added, graph_.add(name, "Const", {},
                                           {{"value", TensorBox{value}}, {"dtype", value.dtype()}},
                                           entry.controls));
    added->device = node.device;
    added->assigned_device = node.assigned_device;
    made_.emplace(e.slot, added->id);
    return added->id;
  }

  Graph& graph_;
  PassContext& context_;
  std::unordered_map<NodeId, Folded> folded_;
  std::unordered_map<int, NodeId> made_; // by output slot of the node being replaced
};

Status fold_constants(Graph& graph, PassContext& context) {
  return Folder(graph, context).run();
}

} // namespace

Pass pass_fold_constants() {
  return {"fold_constants", 10, fold_constants};
}

} // namespace troupe
