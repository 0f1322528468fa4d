// Log(Softmax(x)), where nothing else reads the Softmax, becomes LogSoftmax(x), as TensorFlow's own
// optimiser has it: finite where a probability is too small for its type, so that the cross-entropy
// that a program writes out by hand is no NaN.
#include "core/base/strings.hpp"
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

/// The Softmax that the Log alone reads, if both may go.
const Node* softmax_of(const Graph& graph, const Node& log, const PassContext& context) {
  const Node& source = *graph.node(log.inputs[0].node);
  const bool may_go = source.is_op("Softmax") && is_free(source, context) &&
                      source.control_inputs.empty() && source.outs.size() == 1 &&
                      source.device == log.device && source.assigned_device == log.assigned_device;
  return may_go ? &source : nullptr;
}

Status fuse_log_softmax(Graph& graph, PassContext& context) {
  if (!graph.lookup_op("LogSoftmax").ok()) // nobody here could run it
    return {};
  TROUPE_ASSIGN(auto order, graph.topological_order());
  for (NodeId id : order) {
    const Node* log = graph.node(id);
    context.looked_at();
    if (!log || !log->is_op("Log") || !is_free(*log, context) || !log->control_inputs.empty())
      continue;
    const Node* softmax = softmax_of(graph, *log, context);
    if (!softmax)
      continue;
    const NodeId softmax_id = softmax->id;
    const std::string name = log->name;
    TROUPE_ASSIGN(Node * fused, graph.add(graph.unique_name(str_cat(name, "/fused")), "LogSoftmax",
                                          {softmax->inputs[0]}, {{"T", softmax->output_types[0]}}));
    fused->device = graph.node(id)->device;
    fused->assigned_device = graph.node(id)->assigned_device;
    graph.replace_node(id, fused->id);
    graph.remove(id);
    graph.remove(softmax_id);
    graph.rename(fused->id, name);
    context.changed();
  }
  return {};
}

} // namespace

Pass pass_fuse_log_softmax() {
  return {"fuse_log_softmax", 75, fuse_log_softmax};
}

} // namespace troupe
