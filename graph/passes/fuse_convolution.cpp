// A convolution, the bias or the batch normalisation (with given mean and variance) after it, an
// addition and Relu become one node, _FusedConv2D, whose kernel does all of it while a result is
// still in registers. Each may be missing; each but the last is read by the next alone. Scaling
// happens after the sum of products, as in the nodes: results differ by roundings only.
#include "graph/op/members.hpp"
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

class Chain {
public:
  Chain(Graph& graph, const PassContext& context, Node& convolution)
      : graph_(graph), context_(context),
        last_(&convolution), members_{convolution.id}, lines_{member_line(convolution.op_name(),
                                                                          convolution.name)} {}

  /// Follows the chain as far as it can be fused.
  void follow() {
    if (const Node* next = only_reader("BiasAdd"); next && next->inputs[0].node == last_->id)
      take("BiasAdd", *next, {next->inputs[1]});
    else if (const Node* norm = only_reader("FusedBatchNormV3"); norm && is_fixed(*norm))
      take("FusedBatchNorm", *norm,
           {norm->inputs[1], norm->inputs[2], norm->inputs[3], norm->inputs[4]});
    else
      return;
    const Node* sum = only_reader("AddV2");
    if (!sum)
      sum = only_reader("Add");
    if (sum)
      take("Add", *sum, {sum->inputs[sum->inputs[0].node == last_->id ? 1 : 0]});
    if (const Node* relu = only_reader("Relu"))
      take("Relu", *relu, {});
  }

  bool is_worth_it() const { return !fused_.empty(); }

  Status replace() {
    const Node& convolution = *graph_.node(members_.front());
    AttrMap attrs{{members_attr, lines_},
                  {"fused_ops", fused_},
                  {"num_args", static_cast<std::int64_t>(args_.size())}};
    for (const char* name : {"strides", "padding", "explicit_paddings", "data_format", "dilations"})
      if (const AttrValue* value = convolution.attrs.find(name))
        attrs.set(name, *value);
    attrs.set("T", DType::float32);
    attrs.set("epsilon", epsilon_);
    std::vector<Endpoint> inputs = convolution.inputs;
    inputs.insert(inputs.end(), args_.begin(), args_.end());
    const std::string name = last_->name;
    TROUPE_ASSIGN(Node * added, graph_.add(graph_.unique_name(str_cat(name, "/fused")),
                                           "_FusedConv2D", std::move(inputs), std::move(attrs)));
    added->device = convolution.device;
    added->assigned_device = convolution.assigned_device;
    graph_.replace_node(last_->id, added->id);
    for (NodeId id : members_)
      graph_.remove(id);
    graph_.rename(added->id, name);
    return {};
  }

private:
  /// The node that alone reads output 0 of the last one, if it is of that op and may be fused.
  const Node* only_reader(std::string_view op) const {
    if (last_->outs.size() != 1 || last_->outs[0].is_control() || last_->outs[0].src_slot != 0)
      return nullptr;
    const Node& reader = *graph_.node(last_->outs[0].dst);
    const bool fits = reader.is_op(op) && is_free(reader, context_) &&
                      reader.control_inputs.empty() && reader.device == last_->device &&
                      reader.assigned_device == last_->assigned_device &&
                      reader.output_types[0] == DType::float32 &&
                      reader.attrs.get_or<std::string>("data_format", "NHWC") == "NHWC";
    return fits ? &reader : nullptr;
  }

  /// Normalises this chain by given numbers, and only the result is read.
  bool is_fixed(const Node& norm) const {
    if (norm.inputs[0].node != last_->id || norm.attrs.get_or("is_training", true))
      return false;
    for (const OutEdge& edge : norm.outs)
      if (!edge.is_control() && edge.src_slot != 0)
        return false;
    return true;
  }

  void take(const char* op, const Node& node, std::vector<Endpoint> args) {
    fused_.emplace_back(op);
    args_.insert(args_.end(), args.begin(), args.end());
    if (std::string_view(op) == "FusedBatchNorm")
      epsilon_ = node.attrs.get_or("epsilon", 0.0001F);
    last_ = &node;
    members_.push_back(node.id);
    lines_.push_back(member_line(node.op_name(), node.name));
  }

  Graph& graph_;
  const PassContext& context_;
  const Node* last_;
  std::vector<NodeId> members_;
  std::vector<std::string> lines_; // for errors: a line for each member
  std::vector<std::string> fused_;
  std::vector<Endpoint> args_;
  float epsilon_ = 0.0001F;
};

bool is_candidate(const Node& node, const PassContext& context) {
  return node.is_op("Conv2D") && is_free(node, context) && node.control_inputs.empty() &&
         node.output_types[0] == DType::float32 &&
         node.attrs.get_or<std::string>("data_format", "NHWC") == "NHWC" &&
         (node.assigned_device.empty() ||
          node.assigned_device.find("/device:CPU:") != std::string::npos);
}

Status fuse_convolution(Graph& graph, PassContext& context) {
  if (!graph.lookup_op("_FusedConv2D").ok()) // nobody here could run it
    return {};
  TROUPE_ASSIGN(auto order, graph.topological_order());
  for (NodeId id : order) {
    Node* node = graph.node(id);
    context.looked_at();
    if (!node || !is_candidate(*node, context))
      continue;
    Chain chain(graph, context, *node);
    chain.follow();
    if (!chain.is_worth_it())
      continue;
    TROUPE_TRY(chain.replace());
    context.changed();
  }
  return {};
}

} // namespace

Pass pass_fuse_convolution() {
  return {"fuse_convolution", 70, fuse_convolution};
}

} // namespace troupe
