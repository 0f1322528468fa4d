#include "graph/functions/internal/bodies.hpp"

#include "core/base/strings.hpp"
#include "graph/autodiff/gradients.hpp"

namespace troupe::functions {

namespace {

// A call by name as a node of an op that has a gradient: the function's own.
Status call_by_attribute(Graph& graph, Node& node) {
  TROUPE_ASSIGN(const OpSchema* op, graph.registry().lookup("StatefulPartitionedCall"));
  AttrMap attrs{{"Tin", node.input_types},
                {"Tout", node.output_types},
                {"f", FunctionRef{node.op->name, std::make_shared<const AttrMap>(node.attrs)}}};
  TROUPE_TRY(complete_and_check_attrs(*op, attrs));
  node.op = op;
  node.attrs = std::move(attrs);
  return {};
}

Result<NodeId> add_arg(FunctionBody& body, std::string_view name, DType type) {
  TROUPE_ASSIGN(Node * arg,
                body.graph.add(body.graph.unique_name(name), "_Arg", {},
                               {{"T", remove_ref(type)},
                                {"index", static_cast<std::int64_t>(body.args.size())}}));
  body.args.push_back(arg->id);
  return arg->id;
}

} // namespace

Result<const FunctionBody*> Bodies::find(const FunctionRef& function, bool is_gradient) {
  AttrMap attrs = function.attrs ? *function.attrs : AttrMap();
  auto& known = instances_[function.name];
  for (const Instance& one : known)
    if (one.is_gradient == is_gradient && one.attrs == attrs)
      return &one.body;
  auto body = is_gradient ? make_gradient(function, attrs) : make(function, attrs);
  if (!body.ok())
    return body.status();
  known.push_back({is_gradient, std::move(attrs), *std::move(body)});
  return &known.back().body;
}

Result<FunctionBody> Bodies::make(const FunctionRef& function, AttrMap attrs) {
  const FunctionDefinition* definition =
      graph_.functions ? graph_.functions->find(function.name) : nullptr;
  if (!definition && graph_.registry().find(function.name))
    return body_of_op(function, std::move(attrs));
  if (!definition)
    return not_found(str_cat("Function ", function.name, " is not defined."));
  if (definition->bytes.size() > bytes_left_)
    return resource_exhausted(
        str_cat("the functions that the graph calls, each read once for every "
                "set of attributes, are too large; function '",
                function.name, "' is the first without room"));
  bytes_left_ -= definition->bytes.size();
  // As in TensorFlow, attributes of a call that the function does not declare are ignored.
  for (const auto& [name, value] : AttrMap(attrs))
    if (!definition->signature.find_attr(name))
      attrs.erase(name);
  return instantiate_function(*definition, std::move(attrs), graph_.registry(), graph_.functions,
                              budget_);
}

// TensorFlow takes the name of an op for a function of one node.
Result<FunctionBody> Bodies::body_of_op(const FunctionRef& function, AttrMap attrs) {
  FunctionBody body{Graph(graph_.registry())};
  body.graph.functions = graph_.functions;
  TROUPE_ASSIGN(const OpSchema* op, graph_.registry().lookup(function.name));
  TROUPE_TRY(complete_and_check_attrs(*op, attrs));
  TROUPE_ASSIGN(NodeTypes types, resolve_types(*op, attrs));
  for (DType type : types.inputs)
    TROUPE_TRY(add_arg(body, "x", type).status());
  TROUPE_ASSIGN(Node * node,
                body.graph.add_unconnected(body.graph.unique_name("y"), *op, std::move(attrs)));
  for (int i = 0; i < node->num_inputs(); ++i)
    body.graph.set_input(node->id, i, {body.args[static_cast<std::size_t>(i)], 0});
  for (int i = 0; i < node->num_outputs(); ++i)
    body.results.push_back({node->id, i});
  return body;
}

Result<FunctionBody> Bodies::make_gradient(const FunctionRef& function, AttrMap attrs) {
  if (graph_.functions) {
    const auto& gradients = graph_.functions->gradients();
    if (auto own = gradients.find(function.name); own != gradients.end())
      return make({own->second, function.attrs}, std::move(attrs));
  }
  TROUPE_ASSIGN(FunctionBody body, make(function, std::move(attrs)));
  Graph& graph = body.graph;
  for (Node* node : graph.nodes())
    if (!graph.registry().find(node->op->name) && graph_.functions &&
        graph_.functions->find(node->op->name))
      TROUPE_TRY(call_by_attribute(graph, *node));
  std::vector<Endpoint> xs;
  for (NodeId arg : body.args)
    xs.push_back({arg, 0});
  std::vector<std::optional<Endpoint>> given;
  for (Endpoint y : body.results) {
    DType type = graph.node(y.node)->output_types[static_cast<std::size_t>(y.slot)];
    TROUPE_ASSIGN(NodeId gradient, add_arg(body, "dy", type));
    given.push_back(Endpoint{gradient, 0});
  }
  TROUPE_ASSIGN(auto gradients, add_gradients(graph, body.results, xs, given, {.colocate = false}));
  body.results.clear();
  for (std::size_t i = 0; i < xs.size(); ++i) {
    std::optional<Endpoint> gradient = gradients[i];
    if (!gradient) {
      TROUPE_ASSIGN(Node * zeros, graph.add(graph.unique_name("zeros"), "ZerosLike", {xs[i]}));
      gradient = Endpoint{zeros->id, 0};
    }
    body.results.push_back(*gradient);
  }
  body.unread = unread_effects(body);
  return body;
}

} // namespace troupe::functions
