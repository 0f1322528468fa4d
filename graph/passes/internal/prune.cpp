#include "graph/passes/prune.hpp"

#include <algorithm>
#include <set>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

Result<Endpoint> find_endpoint(const Graph& graph, const std::string& text, bool feed) {
  TROUPE_ASSIGN(TensorName name, parse_tensor_name(text));
  const Node* node = graph.find(name.node);
  if (!feed && (name.slot < 0 || (node && node->num_outputs() == 0)))
    return invalid_argument(
        str_cat("Tried to fetch data for '", text,
                "', which produces no output.  To run to a node but not fetch any "
                "data, pass '",
                text,
                "' as an argument to the 'target_node_names' argument of the "
                "Session::Run API."));
  if (name.slot < 0)
    return invalid_argument(str_cat("'", text,
                                    "' cannot be fed: a control edge has no value; feed one "
                                    "of the node's outputs"));
  std::string canonical = str_cat(name.node, ":", name.slot);
  if (!node)
    return not_found(feed ? str_cat("FeedInputs: unable to find feed output ", canonical)
                          : str_cat("FetchOutputs node ", canonical, ": not found"));
  if (name.slot >= node->num_outputs())
    return invalid_argument(feed ? str_cat("FeedInputs: ", canonical,
                                           " should have output index < ", node->num_outputs())
                                 : str_cat("FetchOutputs ", canonical,
                                           ": output index too large, must be < ",
                                           node->num_outputs()));
  return Endpoint{node->id, name.slot};
}

/// A connection's ends.
struct Joined {
  Endpoint from, to;
};

struct Resolved {
  std::vector<Endpoint> feeds, fetches;
  std::vector<NodeId> targets;
  std::vector<Joined> connections;

  /// What is read in place of `e`: another tensor that is connected to it, or nothing if it is fed.
  Endpoint read_for(Endpoint e) const {
    for (const Joined& joined : connections)
      if (joined.to == e)
        return joined.from;
    return fed.contains(e) ? Endpoint{} : e;
  }
  std::set<Endpoint> fed; ///< connected ones, too
};

// Its control edges come from what takes its place.
bool is_placeholder(const Node& node) {
  return node.has_role(Role::placeholder);
}

/// `visit(NodeId)` for whatever `node` waits for.
template <class Visit>
void for_each_source(const Graph& graph, const Node& node, const Resolved& names, Visit visit) {
  for (Endpoint e : node.inputs)
    visit(names.read_for(e).node);
  for (NodeId id : node.control_inputs)
    visit(is_placeholder(*graph.node(id)) ? names.read_for({id, 0}).node : id);
}

/// All that `todo` waits for, and `todo`.
std::vector<bool> waited_for(const Graph& graph, const Resolved& names,
                             const std::vector<NodeId>& ends) {
  std::vector<bool> reached(static_cast<std::size_t>(graph.capacity()), false);
  std::vector<NodeId> todo;
  auto visit = [&](NodeId id) {
    if (id >= 0 && !reached[static_cast<std::size_t>(id)]) {
      reached[static_cast<std::size_t>(id)] = true;
      todo.push_back(id);
    }
  };
  for (NodeId id : ends)
    visit(id);
  while (!todo.empty()) {
    const Node& node = *graph.node(todo.back());
    todo.pop_back();
    for_each_source(graph, node, names, visit);
  }
  return reached;
}

DType value_type(const Graph& graph, Endpoint e) {
  return remove_ref(graph.node(e.node)->output_types[static_cast<std::size_t>(e.slot)]);
}

Status connect(const Graph& graph, const TensorConnection& connection, Resolved& out) {
  auto name = parse_tensor_name(connection.from);
  const Node* node = name.ok() ? graph.find(name->node) : nullptr;
  if (!node || name->slot < 0) // TensorFlow names the other end
    return invalid_argument(
        str_cat("Requested tensor connection from unknown node: \"", connection.to, "\"."));
  if (name->slot >= node->num_outputs())
    return invalid_argument(str_cat("Requested tensor connection from unknown edge: \"",
                                    connection.to,
                                    "\" (actual number of outputs = ", node->num_outputs(), ")."));
  const Endpoint from{node->id, name->slot};
  TROUPE_ASSIGN(const Endpoint to, find_endpoint(graph, connection.to, true));
  if (out.fed.contains(to))
    return invalid_argument(str_cat("Endpoint \"", connection.to, "\" fed more than once."));
  if (value_type(graph, from) != value_type(graph, to))
    return invalid_argument(str_cat("Requested tensor connection from '", connection.from,
                                    "' of type ", to_string(value_type(graph, from)), " to '",
                                    connection.to, "' of type ", to_string(value_type(graph, to)),
                                    "; connect tensors of one type"));
  if (waited_for(graph, out, {from.node})[static_cast<std::size_t>(to.node)])
    return invalid_argument(str_cat("Requested Tensor connection between nodes \"",
                                    graph.node(to.node)->name, "\" and \"", node->name,
                                    "\" would create a cycle."));
  out.connections.push_back({from, to});
  out.fed.insert(to);
  return {};
}

Result<Resolved> resolve(const Graph& graph, const Signature& signature) {
  if (signature.fetches.empty() && signature.targets.empty())
    return invalid_argument("Must specify at least one target to fetch or execute.");
  Resolved out;
  std::set<Endpoint> fetched;
  for (const auto& text : signature.feeds) {
    TROUPE_ASSIGN(Endpoint e, find_endpoint(graph, text, true));
    if (!out.fed.insert(e).second)
      return invalid_argument(str_cat("Endpoint \"", text, "\" fed more than once."));
    out.feeds.push_back(e);
  }
  for (const TensorConnection& connection : signature.connections)
    TROUPE_TRY(connect(graph, connection, out));
  for (const auto& text : signature.fetches) {
    TROUPE_ASSIGN(Endpoint e, find_endpoint(graph, text, false));
    if (out.fed.contains(e))
      return invalid_argument(str_cat(text, " is both fed and fetched."));
    if (!fetched.insert(e).second)
      return invalid_argument(str_cat("Endpoint \"", text, "\" fetched more than once."));
    out.fetches.push_back(e);
  }
  std::string missing;
  for (const auto& name : signature.targets) {
    auto target = parse_tensor_name(name); // TensorFlow takes "x:0" for "x" here
    if (const Node* node = target.ok() ? graph.find(target->node) : nullptr)
      out.targets.push_back(node->id);
    else
      str_append(missing, name, " ");
  }
  if (!missing.empty())
    return not_found(str_cat("PruneForTargets: Some target nodes not found: ", missing));
  return out;
}

// The graph lacks the runtime's own ops only if the process registered none of them.
Status require_ops(const Graph& graph, const ClientEnds* ends) {
  for (const char* op : {ends ? "_Recv" : "_Arg", ends ? "_Send" : "_Retval"}) {
    TROUPE_ASSIGN(auto schema, graph.registry().lookup(op));
    static_cast<void>(schema);
  }
  return {};
}

/// A feed or a fetch, by its number in the signature.
struct End {
  Endpoint tensor;
  DType type = DType::invalid;
  std::size_t index = 0;
  bool is_feed = false;
};

// The node that stands for it: beside the tensor's own, or where the client's ends are.
Result<Node*> add_end(Graph& graph, const End& end, const ClientEnds* ends) {
  const Node& node = *graph.node(end.tensor.node);
  const char* op = ends ? (end.is_feed ? "_Recv" : "_Send") : end.is_feed ? "_Arg" : "_Retval";
  const char* prefix = ends          ? (end.is_feed ? "_recv_" : "_send_")
                       : end.is_feed ? "_arg_"
                                     : "_retval_";
  std::string name = str_cat(prefix, node.name, "_", end.tensor.slot, "_", end.index);
  std::vector<Endpoint> inputs;
  if (!end.is_feed)
    inputs.push_back(end.tensor);
  if (!ends) {
    TROUPE_ASSIGN(Node * added,
                  graph.add(graph.unique_name(name), op, std::move(inputs),
                            {{"T", end.type}, {"index", static_cast<std::int64_t>(end.index)}}));
    added->device = node.device;
    added->assigned_device = node.assigned_device;
    return added;
  }
  TROUPE_ASSIGN(Node * added, graph.add(graph.unique_name(name), op, std::move(inputs),
                                        {{end.is_feed ? "tensor_type" : "T", end.type},
                                         {"tensor_name", str_cat(node.name, ":", end.tensor.slot)},
                                         {"send_device", ends->device},
                                         {"send_device_incarnation",
                                          static_cast<std::int64_t>(ends->incarnation)},
                                         {"recv_device", ends->device},
                                         {"client_terminated", true}}));
  added->assigned_device = ends->device;
  return added;
}

void take_place_of(Graph& graph, Endpoint e, NodeId with) {
  const Node& node = *graph.node(e.node);
  graph.replace_uses(e, {with, 0});
  if (is_placeholder(node))
    for (OutEdge edge : std::vector<OutEdge>(node.outs))
      if (edge.is_control()) {
        graph.remove_control_edge(node.id, edge.dst);
        graph.add_control_edge(with, edge.dst);
      }
}

Status feed(Graph& graph, const End& end, const ClientEnds* ends) {
  TROUPE_ASSIGN(Node * arg, add_end(graph, end, ends));
  take_place_of(graph, end.tensor, arg->id);
  return {};
}

Status join(Graph& graph, const Joined& joined) {
  const Node& to = *graph.node(joined.to.node);
  const std::string name = graph.unique_name(str_cat("_identity_", to.name, "_", joined.to.slot));
  TROUPE_ASSIGN(Node * identity, graph.add(name, "Identity", {joined.from},
                                           {{"T", value_type(graph, joined.from)}}));
  identity->device = to.device;
  identity->assigned_device = to.assigned_device;
  take_place_of(graph, joined.to, identity->id);
  return {};
}

// What the fetches and targets need, looking no further than fed outputs.
std::vector<bool> reached_from(const Graph& graph, const Resolved& names) {
  std::vector<NodeId> ends = names.targets;
  for (Endpoint e : names.fetches)
    ends.push_back(e.node);
  return waited_for(graph, names, ends);
}

// A node with the attribute "direct" stands for its inputs: who reads an output that it lists needs
// only what that one comes from. Whether anything changed.
bool read_at_source(Graph& graph, const Resolved& names) {
  bool changed = false;
  for (NodeId id = 0; id < graph.capacity(); ++id) {
    const Node* node = graph.node(id);
    const AttrValue* direct = node ? node->attrs.find("direct") : nullptr;
    const auto* outputs = direct ? std::get_if<std::vector<std::int64_t>>(direct) : nullptr;
    if (!outputs)
      continue;
    for (std::int64_t i : *outputs) {
      const Endpoint output{id, static_cast<int>(i)};
      if (i < 0 || i >= node->num_inputs() ||
          std::ranges::find(names.feeds, output) != names.feeds.end())
        continue;
      graph.replace_uses(output, node->inputs[static_cast<std::size_t>(i)]);
      changed = true;
    }
  }
  return changed;
}

// A fed value is no reference: who assigns to it cannot run.
Status check_references(const Graph& graph, const Resolved& names,
                        const std::vector<bool>& reached) {
  for (Endpoint e : names.fed)
    for (const OutEdge& edge : graph.node(e.node)->outs) {
      const Node& reader = *graph.node(edge.dst);
      if (edge.src_slot == e.slot && !edge.is_control() &&
          reached[static_cast<std::size_t>(edge.dst)] &&
          is_ref(reader.input_types[static_cast<std::size_t>(edge.dst_slot)]))
        return invalid_argument(str_cat("'", graph.node(e.node)->name, ":", e.slot,
                                        "' cannot be fed: '", reader.name, "' (", reader.op_name(),
                                        ") needs the reference itself"));
    }
  return {};
}

} // namespace

Result<PrunedTypes> prune(Graph& graph, const Signature& signature, const ClientEnds* ends) {
  TROUPE_TRY(require_ops(graph, ends));
  TROUPE_ASSIGN(Resolved names, resolve(graph, signature));
  PrunedTypes types;
  for (Endpoint e : names.feeds)
    types.feeds.push_back(value_type(graph, e));
  for (Endpoint e : names.fetches)
    types.fetches.push_back(value_type(graph, e));

  std::vector<bool> keep = reached_from(graph, names);
  TROUPE_TRY(check_references(graph, names, keep));
  if (read_at_source(graph, names))
    keep = reached_from(graph, names);
  NodeId original = graph.capacity();
  for (std::size_t i = 0; i < names.feeds.size(); ++i)
    TROUPE_TRY(feed(graph, {names.feeds[i], types.feeds[i], i, true}, ends));
  for (const Joined& joined : names.connections)
    TROUPE_TRY(join(graph, joined));
  for (std::size_t i = 0; i < names.fetches.size(); ++i)
    TROUPE_TRY(add_end(graph, {names.fetches[i], types.fetches[i], i, false}, ends).status());
  for (NodeId id = 0; id < original; ++id)
    if (graph.node(id) && !keep[static_cast<std::size_t>(id)])
      graph.remove(id);
  for (NodeId id = graph.capacity();
       id-- > original;) // what is given and nothing reads; the last first
    if (!graph.node(id)->op->roles.has_any({Role::result, Role::send}) &&
        graph.node(id)->outs.empty())
      graph.remove(id);
  return types;
}

Status check_signature(const Graph& graph, const Signature& signature) {
  return resolve(graph, signature).status();
}

std::string unfed_input(const Graph& graph, const std::vector<std::string>& fetches,
                        const std::vector<std::string>& fed,
                        const std::vector<std::string>& unfed) {
  auto endpoints = [&](const std::vector<std::string>& names, bool feeds) {
    std::vector<Endpoint> out;
    for (const std::string& name : names)
      if (auto e = find_endpoint(graph, name, feeds); e.ok())
        out.push_back(*e);
    return out;
  };
  Resolved names;
  names.fetches = endpoints(fetches, false);
  for (Endpoint e : endpoints(fed, true))
    names.fed.insert(e);
  for (Endpoint e : endpoints(unfed, true))
    names.fed.insert(e); // nothing behind it is of interest
  const std::vector<bool> reached = reached_from(graph, names);
  for (const std::string& name : unfed)
    if (auto e = find_endpoint(graph, name, true); e.ok())
      for (const OutEdge& edge : graph.node(e->node)->outs)
        if (reached[static_cast<std::size_t>(edge.dst)] &&
            (edge.is_control() ? is_placeholder(*graph.node(e->node)) : edge.src_slot == e->slot))
          return name;
  return {};
}

} // namespace troupe
