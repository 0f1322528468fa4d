#include "api/scope.hpp"

#include <optional>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"
#include "graph/autodiff/gradients.hpp"
#include "graph/convert/graph_def.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe {

std::string Output::name() const {
  return graph_ ? str_cat(graph_->node(endpoint_.node)->name, ":", endpoint_.slot) : std::string();
}
std::string Output::node_name() const {
  return graph_ ? graph_->node(endpoint_.node)->name : std::string();
}
DType Output::dtype() const {
  return graph_ ? remove_ref(graph_->node(endpoint_.node)
                                 ->output_types[static_cast<std::size_t>(endpoint_.slot)])
                : DType::invalid;
}

Output Input::resolve(const Scope& scope) const {
  if (const Output* output = std::get_if<Output>(&value_))
    return *output;
  return scope.constant(std::get<Tensor>(value_));
}

std::string Operation::name() const {
  return graph_ ? graph_->node(node_)->name : std::string();
}
int Operation::num_outputs() const {
  return graph_ ? graph_->node(node_)->num_outputs() : 0;
}

Scope Scope::root() {
  Scope out;
  out.state_ = std::make_shared<State>();
  out.state_->graph = std::make_shared<Graph>(op_library().ops);
  out.state_->graph->versions.producer = graph_def_version;
  return out;
}

Scope Scope::sub(std::string_view name) const {
  Scope out = *this;
  out.prefix_ = prefix_.empty() ? std::string(name) : str_cat(prefix_, "/", name);
  out.next_name_.clear();
  return out;
}

Scope Scope::on(std::string_view device) const {
  Scope out = *this;
  auto parsed = DeviceName::parse(device);
  if (!parsed.ok())
    fail(parsed.status());
  out.device_ = device;
  return out;
}

Scope Scope::named(std::string_view name) const {
  Scope out = *this;
  out.next_name_ = name;
  return out;
}

Scope Scope::after(const std::vector<Operation>& operations) const {
  Scope out = *this;
  for (const Operation& operation : operations)
    if (operation.is_valid() && owns(operation.graph(), operation.name()))
      out.control_.push_back(operation.id());
  return out;
}

Scope Scope::after(const Output& output) const {
  Scope out = *this;
  if (output.is_valid() && owns(output.graph(), output.name()))
    out.control_.push_back(output.endpoint().node);
  return out;
}

Scope Scope::colocated_with(const Output& output) const {
  Scope out = *this;
  if (output.is_valid() && owns(output.graph(), output.name()))
    out.colocate_ = output.node_name();
  out.device_.clear();
  return out;
}

Status Scope::status() const {
  return state_->status;
}

void Scope::fail(const Status& status) const {
  if (state_->status.ok())
    state_->status = status;
}

bool Scope::owns(const std::shared_ptr<Graph>& graph, std::string_view what) const {
  if (graph == state_->graph)
    return true;
  fail(invalid_argument(str_cat("'", what,
                                "' is of another graph than the scope; what is joined must be made "
                                "by copies of one Scope::root()")));
  return false;
}

Operation Scope::add(std::string_view op, const std::vector<Output>& inputs, AttrMap attrs) const {
  if (!state_->status.ok())
    return {};
  Graph& graph = *state_->graph;
  std::vector<Endpoint> endpoints;
  for (const Output& input : inputs) {
    if (!input.is_valid()) {
      fail(invalid_argument(str_cat("an input of a new ", op, " is empty")));
      return {};
    }
    if (!owns(input.graph(), input.name()))
      return {};
    endpoints.push_back(input.endpoint());
  }
  if (!colocate_.empty())
    attrs.set("_class", std::vector<std::string>{str_cat("loc:@", colocate_)});
  std::string base = next_name_.empty() ? std::string(op) : next_name_;
  std::string name = graph.unique_name(prefix_.empty() ? base : str_cat(prefix_, "/", base));
  auto node = graph.add(name, op, std::move(endpoints), std::move(attrs), control_);
  if (!node.ok()) {
    fail(node.status());
    return {};
  }
  (*node)->device = device_;
  return {state_->graph, (*node)->id};
}

Operation Scope::add(std::string_view op, const std::vector<Input>& inputs, AttrMap attrs) const {
  std::vector<Output> resolved;
  for (const Input& input : inputs)
    resolved.push_back(input.resolve(for_constants()));
  return add(op, resolved, std::move(attrs));
}

Output Scope::constant(Tensor value) const {
  AttrMap attrs;
  attrs.set("dtype", value.dtype());
  attrs.set("value", TensorBox{std::move(value)});
  return add("Const", std::vector<Output>{}, std::move(attrs)).output(0);
}

Scope Scope::for_constants() const {
  Scope out = next_name_.empty() ? *this : sub(next_name_);
  out.control_.clear();
  return out;
}

std::string Scope::graph_def() const {
  auto bytes = graph_def_from(0);
  if (bytes.ok())
    return *std::move(bytes);
  fail(bytes.status());
  return {};
}

Result<std::string> Scope::graph_def_from(NodeId first) const {
  return write_graph_bytes(*state_->graph, {.first = first});
}

Status Scope::import(std::string_view graph_def) const {
  return extend_graph_bytes(*state_->graph, graph_def);
}

Result<Output> Scope::find(std::string_view tensor_name) const {
  TROUPE_ASSIGN(TensorName name, parse_tensor_name(tensor_name));
  const Node* node = state_->graph->find(name.node);
  if (!node || name.slot < 0 || name.slot >= node->num_outputs())
    return invalid_argument(str_cat("the graph has no tensor '", tensor_name, "'"));
  return Output(state_->graph, {node->id, name.slot});
}

std::vector<Output> gradients(const Scope& scope, const std::vector<Output>& ys,
                              const std::vector<Output>& xs, const std::vector<Output>& grad_ys) {
  std::vector<Output> out(xs.size());
  for (const auto* outputs : {&ys, &xs, &grad_ys})
    for (const Output& output : *outputs)
      if (output.is_valid() && output.graph() != scope.graph())
        scope.fail(invalid_argument(str_cat("'", output.name(),
                                            "' is of another graph than the scope that is to hold "
                                            "its gradients")));
  if (!scope.status().ok())
    return out;
  auto endpoints = [](const std::vector<Output>& outputs) {
    std::vector<Endpoint> list;
    for (const Output& output : outputs)
      list.push_back(output.endpoint());
    return list;
  };
  std::vector<std::optional<Endpoint>> given(grad_ys.size());
  for (std::size_t i = 0; i < grad_ys.size(); ++i)
    if (grad_ys[i].is_valid())
      given[i] = grad_ys[i].endpoint();
  auto found = add_gradients(*scope.graph(), endpoints(ys), endpoints(xs), given);
  if (!found.ok()) {
    scope.fail(found.status());
    return out;
  }
  for (std::size_t i = 0; i < xs.size(); ++i)
    if ((*found)[i])
      out[i] = Output(scope.graph(), *(*found)[i]);
  return out;
}

} // namespace troupe
