#include "graph/autodiff/internal/rule_context.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe::autodiff {
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
  std::vector<Endpoint> endpoints;
  for (Value v : inputs) {
    if (v.is_none())
      return internal(
          str_cat("a gradient rule gave no value for input ", endpoints.size(), " of a ", type));
    endpoints.push_back({v.node, v.slot});
    const Node& source = *graph.node(v.node);
    if (v.slot < 0 || v.slot >= source.num_outputs())
      return internal(str_cat("a gradient rule used output ", v.slot, " of node '", source.name,
                              "', which has ", source.num_outputs()));
  }
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

namespace {

/// Ops that a rule may give complex values to as they are: they conjugate, take the numbers apart,
/// or look at neither.
bool takes_them_as_they_are(const OpRegistry& ops, std::string_view type) {
  static constexpr std::string_view names[] = {"Conj",      "Real",           "Imag",   "SqrtGrad",
                                               "RsqrtGrad", "ReciprocalGrad", "InvGrad"};
  if (std::ranges::find(names, type) != std::end(names) || type.starts_with("BatchMatMul"))
    return true; // the adjoints of BatchMatMul are conjugated
  const OpSchema* schema = ops.find(type);
  return schema && schema->roles.has_any({Role::flat, Role::metadata});
}

} // namespace

bool RuleContext::is_own_complex(Value v) const {
  if (!is_complex(dtype(v)))
    return false;
  const auto& inputs = node().inputs;
  return v.node == node_ || std::ranges::find(inputs, Endpoint{v.node, v.slot}) != inputs.end();
}

Value RuleContext::op(std::string_view type, std::initializer_list<Value> inputs, AttrMap attrs) {
  return op(type, std::vector<Value>(inputs), std::move(attrs));
}

Value RuleContext::op(std::string_view type, const std::vector<Value>& inputs, AttrMap attrs) {
  if (!status_.ok())
    return {};
  if (std::ranges::any_of(inputs, [this](Value v) { return is_own_complex(v); }))
    forgot_to_conjugate_ |= !takes_them_as_they_are(graph_.registry(), type);
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
