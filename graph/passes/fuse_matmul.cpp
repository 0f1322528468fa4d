// A MatMul and the elementwise op, or the _FusedElementwise, that alone reads it become one node,
// _FusedMatMul: bias, activation and whatever else are done to the product while it is in a cache.
// The single operations and their order stay; a large product is computed in other blocks of rows.
#include "core/base/strings.hpp"
#include "graph/op/elementwise_ops.hpp"
#include "graph/op/members.hpp"
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

constexpr std::size_t max_args = 24;

bool on_cpu(const Node& node) {
  return node.assigned_device.empty() ||
         node.assigned_device.find("/device:CPU:") != std::string::npos;
}

bool is_product(const Node& node) {
  for (const char* op :
       {"MatMul", "_FusedMatMul", "BatchMatMul", "BatchMatMulV2", "Conv2D", "_FusedConv2D"})
    if (node.is_op(op))
      return true;
  return false;
}

/// The node that alone reads the product, if it may be fused.
const Node* reader_of(const Graph& graph, const Node& product, const PassContext& context) {
  if (product.outs.empty())
    return nullptr;
  for (const OutEdge& edge : product.outs)
    if (edge.is_control() || edge.dst != product.outs[0].dst)
      return nullptr;
  const Node& reader = *graph.node(product.outs[0].dst);
  const bool is_free_elementwise =
      reader.is_op("_FusedElementwise")
          ? !context.is_preserved(reader)
          : find_elementwise_op(reader.op_name()) != nullptr && is_free(reader, context);
  const bool fits =
      is_free_elementwise && reader.control_inputs.empty() && reader.device == product.device &&
      reader.assigned_device == product.assigned_device && reader.inputs.size() <= max_args &&
      reader.output_types[0] == product.output_types[0] &&
      reader.attrs.get_or<std::string>("data_format", "NHWC") == "NHWC";
  if (!fits)
    return nullptr;
  // Two products may be computed at the same time: neither waits for the other.
  for (Endpoint input : reader.inputs)
    if (input.node != product.id && is_product(*graph.node(input.node)))
      return nullptr;
  return &reader;
}

/// The reader's lines, with operands numbered anew: 0 the product, then `args`, then results.
Result<std::vector<std::string>> program_of(const Node& reader, NodeId product,
                                            std::vector<Endpoint>& args) {
  std::vector<std::string> lines;
  if (reader.is_op("_FusedElementwise")) {
    TROUPE_ASSIGN(lines, reader.attrs.get<std::vector<std::string>>("program"));
  } else {
    std::string line = reader.op_name();
    for (std::size_t i = 0; i < reader.inputs.size(); ++i)
      str_append(line, " ", i);
    lines.push_back(std::move(line));
  }
  std::vector<std::size_t> number; // of each input of the reader
  for (Endpoint input : reader.inputs) {
    const bool is_product = input.node == product;
    if (!is_product)
      args.push_back(input);
    number.push_back(is_product ? 0 : args.size());
  }
  for (std::string& line : lines) {
    const auto words = str_split(line, ' ');
    std::string renumbered(words[0]);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto old = parse_int(words[i]);
      if (!old || *old < 0)
        return invalid_argument(
            str_cat("'", line, "' in the program of '", reader.name, "' is no instruction"));
      const auto operand = static_cast<std::size_t>(*old);
      str_append(renumbered, " ",
                 operand < number.size() ? number[operand]
                                         : operand - number.size() + args.size() + 1);
    }
    line = std::move(renumbered);
  }
  return lines;
}

Status fuse(Graph& graph, NodeId product_id, NodeId reader_id) {
  const Node &product = *graph.node(product_id), &reader = *graph.node(reader_id);
  std::vector<std::string> members{member_line(product.op_name(), product.name)};
  if (reader.is_op("_FusedElementwise"))
    for (std::string& line : reader.attrs.get_or<std::vector<std::string>>(members_attr, {}))
      members.push_back(std::move(line));
  else
    members.push_back(member_line(reader.op_name(), reader.name));
  std::vector<Endpoint> args;
  TROUPE_ASSIGN(auto program, program_of(reader, product_id, args));
  std::vector<Endpoint> inputs = product.inputs;
  inputs.insert(inputs.end(), args.begin(), args.end());
  AttrMap attrs{{members_attr, std::move(members)},
                {"program", std::move(program)},
                {"num_args", static_cast<std::int64_t>(args.size())},
                {"T", product.output_types[0]}};
  for (const char* name : {"transpose_a", "transpose_b"})
    if (const AttrValue* value = product.attrs.find(name))
      attrs.set(name, *value);
  const std::string name = reader.name;
  TROUPE_ASSIGN(Node * added, graph.add(graph.unique_name(str_cat(name, "/fused")), "_FusedMatMul",
                                        std::move(inputs), std::move(attrs)));
  added->device = graph.node(product_id)->device;
  added->assigned_device = graph.node(product_id)->assigned_device;
  graph.replace_node(reader_id, added->id);
  graph.remove(reader_id);
  graph.remove(product_id);
  graph.rename(added->id, name);
  return {};
}

Status fuse_matmul(Graph& graph, PassContext& context) {
  if (!graph.lookup_op("_FusedMatMul").ok()) // nobody here could run it
    return {};
  TROUPE_ASSIGN(auto order, graph.topological_order());
  for (NodeId id : order) {
    const Node* node = graph.node(id);
    context.looked_at();
    if (!node || !node->is_op("MatMul") || !is_free(*node, context) ||
        !node->control_inputs.empty() || !on_cpu(*node))
      continue;
    const DType type = node->output_types[0];
    if (type != DType::float32 && type != DType::float64)
      continue;
    if (const Node* reader = reader_of(graph, *node, context)) {
      TROUPE_TRY(fuse(graph, id, reader->id));
      context.changed();
    }
  }
  return {};
}

} // namespace

Pass pass_fuse_matmul() {
  return {"fuse_matmul", 85, fuse_matmul};
}

} // namespace troupe
