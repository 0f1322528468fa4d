#include "graph/autodiff/internal/rule_context.hpp"

#include "core/base/strings.hpp"

namespace troupe::autodiff {
namespace {

bool is_variadic(const ArgDef& arg) {
  return !arg.number_attr.empty() || !arg.type_list_attr.empty();
}

// How many tensors the list argument takes: what its attr says, else all that the others leave.
Result<std::size_t> list_length(const OpSchema& schema, const ArgDef& arg, const AttrMap& attrs,
                                std::size_t num_inputs) {
  if (!arg.number_attr.empty() && attrs.contains(arg.number_attr)) {
    TROUPE_ASSIGN(auto n, attrs.get<std::int64_t>(arg.number_attr));
    return static_cast<std::size_t>(n);
  }
  if (!arg.type_list_attr.empty() && attrs.contains(arg.type_list_attr)) {
    TROUPE_ASSIGN(auto types, attrs.get<std::vector<DType>>(arg.type_list_attr));
    return types.size();
  }
  std::size_t lists = 0;
  for (const ArgDef& other : schema.inputs)
    lists += is_variadic(other);
  if (lists > 1)
    return invalid_argument(str_cat("op ", schema.name, " has several input lists, so attr '",
                                    arg.number_attr, arg.type_list_attr, "' must be given"));
  return num_inputs - std::min(num_inputs, schema.inputs.size() - 1);
}

Status fill_in_attrs(const OpSchema& schema, const std::vector<DType>& types, AttrMap& attrs) {
  std::size_t at = 0;
  for (const ArgDef& arg : schema.inputs) {
    std::size_t count = 1;
    if (is_variadic(arg)) {
      TROUPE_ASSIGN(count, list_length(schema, arg, attrs, types.size()));
    }
    if (count > types.size() - at)
      return invalid_argument(str_cat("op ", schema.name, " takes more than the ", types.size(),
                                      " inputs that were given: ", schema.signature()));
    if (!arg.number_attr.empty() && !attrs.contains(arg.number_attr))
      attrs.set(arg.number_attr, static_cast<std::int64_t>(count));
    if (!arg.type_list_attr.empty() && !attrs.contains(arg.type_list_attr))
      attrs.set(arg.type_list_attr,
                std::vector<DType>(types.begin() + static_cast<std::ptrdiff_t>(at),
                                   types.begin() + static_cast<std::ptrdiff_t>(at + count)));
    if (!arg.type_attr.empty() && count > 0 && !attrs.contains(arg.type_attr))
      attrs.set(arg.type_attr, types[at]);
    at += count;
  }
  return {};
}

} // namespace

Site site_of(const Node& node, std::string_view scope, bool colocate) {
  Site site{str_cat(scope, "/", node.name, "_grad"), node.device, {}};
  if (!colocate)
    return site;
  for (const auto& name : node.attrs.get_or<std::vector<std::string>>("_class", {}))
    if (name.starts_with("loc:@"))
      site.colocation.push_back(name);
  if (site.colocation.empty())
    site.colocation.push_back(str_cat("loc:@", node.name));
  return site;
}

Result<Value> add_node(Graph& graph, StaticShapes& shapes, const Site& site, std::string_view type,
                       const std::vector<Value>& inputs, AttrMap attrs) {
  TROUPE_ASSIGN(const OpSchema* schema, graph.registry().lookup(type));
  std::vector<Endpoint> endpoints;
  std::vector<DType> types;
  for (Value v : inputs) {
    if (v.is_none())
      return internal(
          str_cat("a gradient rule gave no value for input ", endpoints.size(), " of a ", type));
    endpoints.push_back({v.node, v.slot});
    const Node& source = *graph.node(v.node);
    if (v.slot < 0 || v.slot >= source.num_outputs())
      return internal(str_cat("a gradient rule used output ", v.slot, " of node '", source.name,
                              "', which has ", source.num_outputs()));
    types.push_back(remove_ref(source.output_types[static_cast<std::size_t>(v.slot)]));
  }
  TROUPE_TRY(fill_in_attrs(*schema, types, attrs));
  if (!site.colocation.empty())
    attrs.set("_class", site.colocation);
  std::string name = graph.unique_name(str_cat(site.scope, "/", type));
  TROUPE_ASSIGN(Node * node, graph.add(name, type, std::move(endpoints), std::move(attrs)));
  node->device = site.device;
  shapes.infer(*node);
  return Value{node->id, 0};
}

RuleContext::RuleContext(Graph& graph, StaticShapes& shapes, Site site, NodeId node,
                         std::vector<Value> output_grads)
    : graph_(graph), shapes_(shapes), site_(std::move(site)), node_(node),
      output_grads_(std::move(output_grads)), input_grads_(graph.node(node)->inputs.size()) {}

int RuleContext::num_inputs() const {
  return node().num_inputs();
}
int RuleContext::num_outputs() const {
  return node().num_outputs();
}
Value RuleContext::input(int i) const {
  Endpoint e = node().inputs[static_cast<std::size_t>(i)];
  return {e.node, e.slot};
}
Value RuleContext::output(int i) const {
  return {node_, i};
}
Value RuleContext::output_grad(int i) const {
  return output_grads_[static_cast<std::size_t>(i)];
}
const AttrMap& RuleContext::attrs() const {
  return node().attrs;
}
DType RuleContext::dtype(Value v) const {
  if (v.is_none())
    return DType::invalid;
  return remove_ref(graph_.node(v.node)->output_types[static_cast<std::size_t>(v.slot)]);
}
PartialShape RuleContext::shape(Value v) const {
  return shapes_.of({v.node, v.slot});
}

Value RuleContext::op(std::string_view type, std::initializer_list<Value> inputs, AttrMap attrs) {
  return op(type, std::vector<Value>(inputs), std::move(attrs));
}

Value RuleContext::op(std::string_view type, const std::vector<Value>& inputs, AttrMap attrs) {
  if (!status_.ok())
    return {};
  auto added = add_node(graph_, shapes_, site_, type, inputs, std::move(attrs));
  if (!added.ok()) {
    status_ = added.status();
    return {};
  }
  return *added;
}

Value RuleContext::constant(Tensor value) {
  DType dtype = value.dtype();
  return op("Const", {}, {{"value", TensorBox{std::move(value)}}, {"dtype", dtype}});
}

Status RuleContext::set_input_grad(int i, Value gradient) {
  if (!status_.ok())
    return status_;
  if (gradient.is_none())
    return {};
  if (i < 0 || i >= num_inputs())
    return status_ = internal(str_cat("the gradient rule of ", node().op_name(), " sets input ", i,
                                      " of ", num_inputs()));
  DType want = dtype(input(i)), got = dtype(gradient);
  if (want != got && want != DType::resource && want != DType::variant)
    return status_ = internal(str_cat("the gradient of input ", i, " has dtype ", to_string(got),
                                      ", expected ", to_string(want)));
  Endpoint e{gradient.node, gradient.slot};
  if (want == got)
    shapes_.refine(e, shape(input(i)));
  input_grads_[static_cast<std::size_t>(i)] = gradient;
  return {};
}

} // namespace troupe::autodiff
