#include "graph/ir/verify.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

std::string named(const Node& node) {
  return str_cat("node '", node.name, "' (", node.op ? node.op_name() : "no op", ")");
}

// Keys of an edge as its source and as its destination see it; the two multisets must be equal.
struct EdgeRecord {
  NodeId src;
  OutEdge edge;
  friend auto operator<=>(const EdgeRecord&, const EdgeRecord&) = default;
};

Status verify_node(const Graph& graph, const Node& node) {
  if (!node.op || node.name.empty())
    return internal(str_cat("node number ", node.id, " has no op or no name"));
  if (graph.find(node.name) != &node)
    return internal(str_cat("the name of ", named(node), " finds another node or none"));
  if (auto op = graph.lookup_op(node.op->name); !op.ok() || *op != node.op)
    return internal(str_cat("the op of ", named(node),
                            " is neither in the graph's registry nor among its functions"));
  auto types = resolve_types(*node.op, node.attrs);
  if (!types.ok())
    return internal(
        str_cat("the dtypes of ", named(node), " cannot be resolved: ", types.status().message()));
  if (types->inputs != node.input_types || types->outputs != node.output_types)
    return internal(str_cat("the dtypes of ", named(node), " are not those of its op and attrs"));
  if (node.inputs.size() != node.input_types.size())
    return internal(
        str_cat(named(node), " has ", node.inputs.size(), " inputs of ", node.input_types.size()));
  return {};
}

Status verify_inputs(const Graph& graph, const Node& node, std::vector<EdgeRecord>& seen) {
  auto is_live = [&](NodeId id) {
    return id >= 0 && id < graph.capacity() && graph.node(id) != nullptr;
  };
  for (int i = 0; i < node.num_inputs(); ++i) {
    Endpoint input = node.inputs[static_cast<std::size_t>(i)];
    if (!is_live(input.node))
      return internal(str_cat("input ", i, " of ", named(node), " is not connected"));
    const Node& src = *graph.node(input.node);
    if (input.slot < 0 || input.slot >= src.num_outputs())
      return internal(str_cat("input ", i, " of ", named(node), " is output ", input.slot, " of ",
                              named(src), ", which has ", src.num_outputs()));
    if (Status status = check_edge_types(src, input.slot, node, i); !status.ok())
      return internal(status.message());
    seen.push_back({input.node, {node.id, i, input.slot}});
  }
  for (NodeId src : node.control_inputs) {
    if (!is_live(src))
      return internal(str_cat("a control input of ", named(node), " is not there"));
    if (src == node.id)
      return internal(str_cat(named(node), " has a control edge to itself"));
    seen.push_back({src, {node.id, -1, -1}});
  }
  return {};
}

} // namespace

Status check_edge_types(const Node& src, int src_slot, const Node& dst, int dst_slot) {
  DType given = src.output_types[static_cast<std::size_t>(src_slot)];
  DType wanted = dst.input_types[static_cast<std::size_t>(dst_slot)];
  if (wanted == given || wanted == remove_ref(given))
    return {};
  return invalid_argument(str_cat("Input ", dst_slot, " of node ", dst.name, " was passed ",
                                  to_string(given), " from ", src.name, ":", src_slot,
                                  " incompatible with expected ", to_string(wanted), "."));
}

Status verify(const Graph& graph) {
  std::vector<EdgeRecord> incoming;
  std::vector<EdgeRecord> outgoing;
  for (const Node* node : graph.nodes()) {
    TROUPE_TRY(verify_node(graph, *node));
    TROUPE_TRY(verify_inputs(graph, *node, incoming));
    for (const OutEdge& edge : node->outs)
      outgoing.push_back({node->id, edge});
  }
  std::sort(incoming.begin(), incoming.end());
  std::sort(outgoing.begin(), outgoing.end());
  if (auto twice = std::adjacent_find(incoming.begin(), incoming.end()); twice != incoming.end())
    return internal(str_cat("the control edge from ", named(*graph.node(twice->src)), " to ",
                            named(*graph.node(twice->edge.dst)), " is there twice"));
  auto [in, out] =
      std::mismatch(incoming.begin(), incoming.end(), outgoing.begin(), outgoing.end());
  if (in != incoming.end() && (out == outgoing.end() || *in < *out))
    return internal(str_cat("an input of ", named(*graph.node(in->edge.dst)),
                            " is not recorded at its source, ", named(*graph.node(in->src))));
  if (out != outgoing.end())
    return internal(str_cat(named(*graph.node(out->src)), " records an edge to node number ",
                            out->edge.dst, " that is not there"));
  auto order = graph.topological_order();
  return order.ok() ? Status() : internal(order.status().message());
}

} // namespace troupe
