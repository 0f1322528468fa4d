#include "api/grpc/foreign_graph.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/strings.hpp"
#include "proto/graph.pb.h"

namespace troupe {

namespace {

using tensorflow::NodeDef;

/// A product or convolution to which TensorFlow appends what `fused_ops` names.
struct Fusion {
  std::string_view op, base;
  int num_inputs; ///< of the base; the others are arguments of what is appended
};
constexpr Fusion fusions[] = {{"_FusedMatMul", "MatMul", 2},
                              {"_FusedBatchMatMulV2", "BatchMatMulV2", 2},
                              {"_FusedConv2D", "Conv2D", 2},
                              {"_FusedConv3D", "Conv3D", 2},
                              {"_FusedDepthwiseConv2dNative", "DepthwiseConv2dNative", 2}};
constexpr std::string_view chain_op = "_UnaryOpsComposition";
constexpr std::string_view norm_op = "_FusedBatchNormEx";
/// Of the fusion alone.
constexpr const char* fusion_attrs[] = {"fused_ops", "num_args",        "num_host_args",
                                        "epsilon",   "leakyrelu_alpha", "filter_format",
                                        "TArgs"};
/// Notes of TensorFlow's rewriting. Its shapes have numbers below -1 for sizes that are unknown and
/// alike.
constexpr const char* notes[] = {"_input_shapes", "_output_shapes"};

Status no_such_fusion(const NodeDef& node, std::string_view what) {
  return unimplemented(str_cat(
      "node '", node.name(), "' (", node.op(), ") of TensorFlow's rewriting contains '", what,
      "', which is not known here; switch that rewriting off in the session's ConfigProto: "
      "graph_options.rewrite_options.remapping = RewriterConfig.OFF"));
}

float float_attr(const NodeDef& node, const char* name, float otherwise) {
  auto it = node.attr().find(name);
  return it == node.attr().end() ? otherwise : it->second.f();
}

/// Writes the nodes that one stands for. The last has the name of that one.
class Expansion {
public:
  Expansion(const NodeDef& from, tensorflow::GraphDef& to) : from_(from), to_(to) {}

  NodeDef& add(std::string_view op, std::vector<std::string> inputs) {
    NodeDef& node = *to_.add_node();
    node.set_name(str_cat(from_.name(), "/unfused/", count_++, "_", op));
    node.set_op(std::string(op));
    node.set_device(from_.device());
    for (std::string& input : inputs)
      node.add_input(std::move(input));
    (*node.mutable_attr())["T"] = type();
    value_ = node.name();
    return node;
  }
  /// Of the node's own type, in the frame of `first`.
  std::string constant(float value, const std::string& first) {
    NodeDef& node = *to_.add_node();
    node.set_name(str_cat(from_.name(), "/unfused/", count_++, "_Const"));
    node.set_op("Const");
    node.set_device(from_.device());
    node.add_input("^" + first);
    (*node.mutable_attr())["dtype"].set_type(tensorflow::DT_FLOAT);
    tensorflow::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(tensorflow::DT_FLOAT);
    tensor.mutable_tensor_shape();
    tensor.add_float_val(value);
    const std::string name = node.name();
    const std::string kept = value_;
    NodeDef& cast = add("Cast", {name});
    cast.mutable_attr()->erase("T");
    (*cast.mutable_attr())["SrcT"].set_type(tensorflow::DT_FLOAT);
    (*cast.mutable_attr())["DstT"] = type();
    std::string out = std::exchange(value_, kept);
    return out;
  }
  void apply(std::string_view op, std::vector<std::string> more = {}) {
    more.insert(more.begin(), value_);
    add(op, std::move(more));
  }
  /// x / 2 * (1 + f(x)): erf of x / sqrt(2), or tanh of a polynomial in x near it.
  void gelu(bool is_exact) {
    const std::string x = value_;
    auto number = [&](float value) { return constant(value, x); };
    if (is_exact) {
      apply("Mul", {number(0.70710678118654752F)});
      apply("Erf");
    } else {
      add("Mul", {x, x});
      apply("Mul", {number(0.044715F)});
      apply("AddV2", {number(1)});
      apply("Mul", {x});
      apply("Mul", {number(0.79788456080286536F)});
      apply("Tanh");
    }
    apply("AddV2", {number(1)});
    apply("Mul", {x});
    apply("Mul", {number(0.5F)});
  }
  const std::string& value() const { return value_; }
  /// Requires a node.
  NodeDef& last() { return *to_.mutable_node(to_.node_size() - 1); }
  void set_value(std::string name) { value_ = std::move(name); }
  void finish() { last().set_name(from_.name()); }

private:
  tensorflow::AttrValue type() const {
    auto it = from_.attr().find("T");
    return it == from_.attr().end() ? tensorflow::AttrValue() : it->second;
  }
  const NodeDef& from_;
  tensorflow::GraphDef& to_;
  std::string value_; // what has come out so far
  int count_ = 0;
};

std::vector<std::string> data_inputs(const NodeDef& node) {
  std::vector<std::string> out;
  for (const std::string& input : node.input())
    if (!input.starts_with('^'))
      out.push_back(input);
  return out;
}

void add_control_inputs(const NodeDef& from, NodeDef& to) {
  for (const std::string& input : from.input())
    if (input.starts_with('^'))
      to.add_input(input);
}

bool is_plain_activation(std::string_view op) {
  constexpr std::string_view known[] = {"Relu", "Relu6",   "Elu",      "Selu",
                                        "Tanh", "Sigmoid", "Softplus", "Softsign"};
  return std::ranges::find(known, op) != std::end(known);
}

// Appends what `op` stands for; takes its arguments off the front of `args`.
Status append(const NodeDef& node, const std::string& op, std::vector<std::string>& args,
              Expansion& to) {
  auto next_args = [&](std::size_t n) {
    std::vector<std::string> out(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(n));
    args.erase(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(n));
    return out;
  };
  const std::size_t needed = op == "FusedBatchNorm"                          ? 4
                             : op == "BiasAdd" || op == "Add" || op == "Mul" ? 1
                                                                             : 0;
  if (args.size() < needed)
    return invalid_argument(
        str_cat("node '", node.name(), "' (", node.op(), ") has too few inputs for its fused ops"));
  auto format = node.attr().find("data_format");
  if (op == "BiasAdd") {
    NodeDef& bias = to.add(op, {to.value(), next_args(1)[0]});
    if (format != node.attr().end())
      (*bias.mutable_attr())["data_format"] = format->second;
  } else if (op == "Add" || op == "Mul") {
    to.apply(op == "Add" ? "AddV2" : op, next_args(1));
  } else if (op == "FusedBatchNorm") {
    to.apply("FusedBatchNormV3", next_args(4));
    auto& attrs = *to.last().mutable_attr();
    attrs["U"].set_type(tensorflow::DT_FLOAT);
    attrs["epsilon"].set_f(float_attr(node, "epsilon", 0.0001F));
    attrs["is_training"].set_b(false);
    if (format != node.attr().end())
      attrs["data_format"] = format->second;
  } else if (op == "LeakyRelu") {
    to.apply(op);
    (*to.last().mutable_attr())["alpha"].set_f(float_attr(node, "leakyrelu_alpha", 0.2F));
  } else if (op == "GeluExact" || op == "GeluApproximate") {
    to.gelu(op == "GeluExact");
  } else if (is_plain_activation(op)) {
    to.apply(op);
  } else {
    return no_such_fusion(node, op);
  }
  return {};
}

Status expand_fusion(const NodeDef& node, const Fusion& fusion, tensorflow::GraphDef& out) {
  std::vector<std::string> args = data_inputs(node);
  if (args.size() < static_cast<std::size_t>(fusion.num_inputs))
    return invalid_argument(
        str_cat("node '", node.name(), "' (", node.op(), ") has too few inputs"));
  Expansion to(node, out);
  NodeDef& base = to.add(fusion.base, {args.begin(), args.begin() + fusion.num_inputs});
  args.erase(args.begin(), args.begin() + fusion.num_inputs);
  add_control_inputs(node, base);
  *base.mutable_attr() = node.attr();
  for (const char* attr : fusion_attrs)
    base.mutable_attr()->erase(attr);
  if (auto ops = node.attr().find("fused_ops"); ops != node.attr().end())
    for (const std::string& op : ops->second.list().s())
      TROUPE_TRY(append(node, op, args, to));
  to.finish();
  return {};
}

// Letters and digits: a name of the graph's own bytes.
bool is_op_name(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && letters.find(text[0]) != letters.npos &&
         std::ranges::all_of(text, [&](char c) {
           return letters.find(c) != letters.npos || (c >= '0' && c <= '9');
         });
}

Status expand_chain(const NodeDef& node, tensorflow::GraphDef& out) {
  const std::vector<std::string> inputs = data_inputs(node);
  auto names = node.attr().find("op_names");
  if (inputs.size() != 1 || names == node.attr().end() || names->second.list().s_size() == 0)
    return invalid_argument(
        str_cat("node '", node.name(), "' (", node.op(), ") needs one input and op_names"));
  Expansion to(node, out);
  to.set_value(inputs[0]);
  bool is_first = true;
  for (const std::string& op : names->second.list().s()) {
    if (!is_op_name(op))
      return invalid_argument(
          str_cat("node '", node.name(), "' (", node.op(), ") has op_names that are no ops"));
    to.apply(op);
    if (std::exchange(is_first, false))
      add_control_inputs(node, to.last());
  }
  to.finish();
  return {};
}

// Its other outputs stay those of the node itself, so its first gets another name: `renamed`.
Status expand_norm(const NodeDef& node, tensorflow::GraphDef& out,
                   std::map<std::string, std::string>& renamed) {
  std::vector<std::string> inputs = data_inputs(node);
  if (inputs.size() < 5)
    return invalid_argument(
        str_cat("node '", node.name(), "' (", node.op(), ") has too few inputs"));
  Expansion to(node, out);
  NodeDef& base = *out.add_node();
  base = node;
  base.set_op("FusedBatchNormV3");
  base.clear_input();
  for (int i = 0; i < 5; ++i)
    base.add_input(inputs[static_cast<std::size_t>(i)]);
  add_control_inputs(node, base);
  for (const char* attr : {"activation_mode", "num_side_inputs"})
    base.mutable_attr()->erase(attr);
  to.set_value(node.name());
  if (inputs.size() > 5)
    to.apply("AddV2", {inputs[5]});
  auto mode = node.attr().find("activation_mode");
  const std::string activation = mode == node.attr().end() ? "Identity" : mode->second.s();
  if (activation != "Identity" && !is_plain_activation(activation))
    return no_such_fusion(node, activation);
  if (activation != "Identity")
    to.apply(activation);
  renamed[node.name()] = to.value();
  return {};
}

void rename_inputs(tensorflow::GraphDef& graph, const std::map<std::string, std::string>& renamed) {
  for (NodeDef& node : *graph.mutable_node())
    for (std::string& input : *node.mutable_input()) {
      const std::string name = input.ends_with(":0") ? input.substr(0, input.size() - 2) : input;
      auto it = renamed.find(name);
      const bool is_own = it != renamed.end() && node.name().starts_with(name + "/unfused/");
      if (it != renamed.end() && !is_own)
        input = it->second;
    }
}

bool may_have_fusions(const std::string& bytes) {
  auto has = [&](std::string_view text) { return bytes.find(text) != std::string::npos; };
  return has("_Fused") || has(chain_op) || std::ranges::any_of(notes, has);
}

} // namespace

Result<std::string> without_fused_ops(std::string graph_def) {
  if (!may_have_fusions(graph_def))
    return graph_def;
  tensorflow::GraphDef from, to;
  if (!from.ParseFromString(graph_def))
    return invalid_argument("the registered graph is no GraphDef");
  std::map<std::string, std::string> renamed;
  for (NodeDef& node : *from.mutable_node()) {
    for (const char* note : notes)
      node.mutable_attr()->erase(note);
    auto fusion = std::ranges::find(fusions, node.op(), &Fusion::op);
    if (fusion != std::end(fusions))
      TROUPE_TRY(expand_fusion(node, *fusion, to));
    else if (node.op() == chain_op)
      TROUPE_TRY(expand_chain(node, to));
    else if (node.op() == norm_op)
      TROUPE_TRY(expand_norm(node, to, renamed));
    else
      *to.add_node() = std::move(node);
  }
  rename_inputs(to, renamed);
  from.clear_node();
  from.mutable_node()->Swap(to.mutable_node());
  return from.SerializeAsString();
}

} // namespace troupe
