#include "graph/functions/lower.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"
#include "graph/functions/internal/bodies.hpp"
#include "graph/functions/internal/implementations.hpp"
#include "graph/functions/internal/inline.hpp"
#include "graph/functions/internal/lower_context.hpp"

namespace troupe {

namespace functions {
namespace {

LowerRule rule_of(const Graph& graph, const Node& node) {
  if (LowerRule rule = find_rule(node.op->name))
    return rule;
  // As Graph::lookup_op: an op of the library goes before a function, and a function before an op
  // that is known by its signature alone.
  const bool is_call = !graph.registry().find(node.op->name) && graph.functions &&
                       graph.functions->find(node.op->name);
  return is_call ? lower_function_op : nullptr;
}

// The type that a call asks for; where it asks for none it will be the processor.
std::string device_type(std::string_view device) {
  auto name = DeviceName::parse(device);
  return name.ok() && name->type ? *name->type : "CPU";
}

// One lowering of a graph: the calls within calls that are under way, and what is left to spend.
class Lowering {
public:
  Lowering(Graph& graph, const LowerOptions& options)
      : graph_(graph), options_(options), bodies_(graph, options.memory, options.max_bytes),
        implementations_(graph.functions.get()), bytes_left_(options.max_bytes) {}

  Status run() {
    if (options_.body_of) {
      TROUPE_ASSIGN(const FunctionBody* body, bodies_.find(*options_.body_of, false));
      calls_.emplace_back(body, options_.body_of->name);
    }
    for (const Node* node : std::as_const(graph_).nodes())
      has_control_flow_ = has_control_flow_ || node->op->roles.has_any(control_flow_roles);
    const NodeId end = graph_.capacity();
    for (NodeId id = 0; id < end; ++id)
      if (graph_.node(id))
        TROUPE_TRY(lower(id, -1));
    return {};
  }

  /// Nothing to do for a node that calls no function.
  Status lower(NodeId id, NodeId trigger);
  Result<InlinedCall> inline_call(const Callee& callee, InlineSite site,
                                  const std::vector<DType>* result_types);
  /// The dtypes of its results if the body around the current node is, or is within, that of the
  /// callee, and the call fits it.
  Result<std::optional<std::vector<DType>>> call_within_itself(const Callee& callee,
                                                               const std::vector<Endpoint>& inputs,
                                                               const std::vector<DType>* results);

  /// What is called where several functions compute the same: the one for the device type.
  Callee implementation(Callee callee, std::string_view device) {
    if (!callee.is_gradient)
      callee.function.name = implementations_.choose(callee.function.name, device_type(device));
    return callee;
  }

  Graph& graph() { return graph_; }
  Bodies& bodies() { return bodies_; }
  bool has_control_flow() const { return has_control_flow_; }
  std::string new_name(std::string_view node, std::string_view part) {
    return graph_.unique_name(str_cat(node, "/", part, "/_", nodes_named_++));
  }
  /// Numbered on their own, as TensorFlow's are: "cond/then/_0", "cond/else/_1".
  std::string new_scope(std::string_view node, std::string_view part) {
    return graph_.unique_name(str_cat(node, "/", part, "/_", scopes_named_++));
  }
  /// Readers of handles read them where they come from: a node that hands on several would tie
  /// their devices together.
  void hand_on(Endpoint from, Endpoint to) {
    to = source_of(to);
    graph_.replace_uses(from, to);
    handles_[from] = to;
  }
  Endpoint source_of(Endpoint e) const {
    auto at = handles_.find(e);
    return at == handles_.end() ? e : at->second;
  }

private:
  Status check_call(const Callee& callee, const FunctionBody& body,
                    const std::vector<Endpoint>& inputs,
                    const std::vector<DType>* result_types) const;
  bool is_under_way(const FunctionBody& body) const {
    return std::ranges::find(calls_, &body, &Calls::value_type::first) != calls_.end();
  }
  Status begin_call(const Callee& callee, const FunctionBody& body, const InlineSite& site);
  Status refuse(Node& node, NodeId trigger, NodeId made_from, const Status& why);

  Graph& graph_;
  const LowerOptions& options_;
  Bodies bodies_;
  Implementations implementations_;
  std::size_t bytes_left_;
  std::size_t nodes_named_ = 0;
  std::size_t scopes_named_ = 0;
  bool has_control_flow_ = false;
  using Calls = std::vector<std::pair<const FunctionBody*, std::string>>;
  Calls calls_; // around the current node
  std::map<Endpoint, Endpoint> handles_;
};

// One node that is being lowered.
class Site final : public LowerContext {
public:
  Site(Lowering& lowering, Node& node, NodeId trigger)
      : lowering_(lowering), graph_(lowering.graph()), node_(node), device_(node.device),
        inputs_(node.inputs.begin(), node.inputs.end()), outer_(trigger),
        made_from_(graph_.capacity()) {}

  const Node& node() const override { return node_; }
  DType dtype(Endpoint e) const override {
    return graph_.node(e.node)->output_types[static_cast<std::size_t>(e.slot)];
  }
  Tensor constant_input(int i) const override {
    const Node& source = *graph_.node(node_.inputs[static_cast<std::size_t>(i)].node);
    return source.has_role(Role::constant) ? source.attrs.get_or<Tensor>("value", {}) : Tensor();
  }
  void set_device(std::string_view device) override { device_ = device; }

  Endpoint op(std::string_view part, std::string_view type, const std::vector<Endpoint>& inputs,
              AttrMap attrs, const std::vector<NodeId>& after) override {
    if (!failed_.ok())
      return {};
    auto added =
        graph_.add(lowering_.new_name(node_.name, part), type, inputs, std::move(attrs), after);
    if (!added.ok()) {
      failed_ = added.status();
      return {};
    }
    (*added)->device = device_;
    NodeId id = (*added)->id;
    // What is the same in every round of a loop is there for rounds that never come, too: whatever
    // reads nothing else waits for the round. What enters a loop of the node's own has rounds of
    // its own, which `after` tells of.
    NodeId waits_for = -1;
    if (after.empty() && std::ranges::all_of(inputs, [&](Endpoint e) {
          return e.node < made_from_ && is_loop_invariant(graph_, e);
        }))
      waits_for = trigger();
    else if (reads_own_input(inputs))
      waits_for = gate();
    if (waits_for >= 0)
      graph_.add_control_edge(waits_for, id);
    return {id, 0};
  }

  void set_input(NodeId to, int slot, Endpoint source) override {
    if (failed_.ok())
      graph_.set_input(to, slot, source);
  }

  Result<int> argument_returned(const FunctionRef& function, int i) override {
    TROUPE_ASSIGN(
        const FunctionBody* body,
        lowering_.bodies().find(lowering_.implementation({function}, device_).function, false));
    if (i >= static_cast<int>(body->results.size()))
      return -1;
    NodeId id = body->results[static_cast<std::size_t>(i)].node;
    auto at = std::ranges::find(body->args, id);
    return at == body->args.end() ? -1 : static_cast<int>(at - body->args.begin());
  }

  Result<InlinedCall> call(std::string_view part, const Callee& named,
                           const std::vector<Endpoint>& inputs,
                           const std::vector<DType>* result_types, NodeId pivot) override {
    TROUPE_TRY(failed_);
    const Callee callee = lowering_.implementation(named, device_);
    TROUPE_ASSIGN(auto results, lowering_.call_within_itself(callee, inputs, result_types));
    if (results)
      return keep_call(part, callee.function, inputs, *std::move(results), pivot);
    InlineSite site;
    site.scope = part.empty() ? node_.name : lowering_.new_scope(node_.name, part);
    site.device = device_;
    site.is_multi_device = callee.is_multi_device;
    site.inputs = inputs;
    site.gate = reads_own_input(inputs) ? gate() : -1;
    site.trigger = pivot >= 0 ? pivot : trigger();
    TROUPE_TRY(failed_);
    TROUPE_ASSIGN(InlinedCall out, lowering_.inline_call(callee, std::move(site), result_types));
    if (out.is_noinline && node_.op->name == named.function.name) // a call by name
      shown_as_ = callee.function.name;
    return out;
  }

  Status finish(const std::vector<Endpoint>& outputs, const std::vector<NodeId>& effects,
                bool outputs_tell) override {
    TROUPE_TRY(failed_);
    if (outputs.size() != node_.output_types.size())
      return internal(str_cat("node '", node_.name, "' was lowered to ", outputs.size(),
                              " outputs and has ", node_.output_types.size()));
    TROUPE_ASSIGN(node_.op, graph_.registry().lookup(outputs.empty() ? "NoOp" : "_Results"));
    for (int i = 0; i < node_.num_inputs(); ++i)
      graph_.set_input(node_.id, i, {});
    node_.inputs.clear();
    node_.input_types.clear();
    AttrMap attrs;
    if (!outputs.empty()) {
      attrs.set("T", node_.output_types);
      if (!shown_as_.empty())
        attrs.set("_shown_as", shown_as_);
      else if (outputs_tell || effects.empty())
        attrs.set("direct", made_here(outputs));
    }
    if (const AttrValue* classes = node_.attrs.find("_class"))
      attrs.set("_class", *classes);
    node_.attrs = std::move(attrs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      graph_.append_input(node_.id, outputs[i], node_.output_types[i]);
    for (NodeId id : effects)
      graph_.add_control_edge(id, node_.id);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (node_.output_types[i] == DType::resource)
        lowering_.hand_on({node_.id, static_cast<int>(i)}, outputs[i]);
    return {};
  }

private:
  Result<InlinedCall> keep_call(std::string_view part, const FunctionRef& function,
                                const std::vector<Endpoint>& inputs, std::vector<DType> results,
                                NodeId pivot) {
    std::vector<DType> types;
    for (Endpoint e : inputs)
      types.push_back(remove_ref(dtype(e)));
    std::vector<NodeId> after;
    if (pivot >= 0 && inputs.empty())
      after.push_back(pivot);
    const std::size_t count = results.size();
    Endpoint kept =
        op(part.empty() ? "call" : part, "StatefulPartitionedCall", inputs,
           {{"Tin", std::move(types)}, {"Tout", std::move(results)}, {"f", function}}, after);
    TROUPE_TRY(failed_);
    InlinedCall out;
    out.effects.push_back(kept.node);
    for (std::size_t i = 0; i < count; ++i)
      out.outputs.push_back({kept.node, static_cast<int>(i)});
    return out;
  }

  /// Those that are no input of the node: an input is there before it runs, and where it does not
  /// run.
  std::vector<std::int64_t> made_here(const std::vector<Endpoint>& outputs) const {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (std::ranges::find(inputs_, outputs[i]) == inputs_.end())
        out.push_back(static_cast<std::int64_t>(i));
    return out;
  }

  bool reads_own_input(const std::vector<Endpoint>& inputs) const {
    return std::ranges::any_of(
        inputs, [&](Endpoint e) { return std::ranges::find(inputs_, e) != inputs_.end(); });
  }

  /// Stands for the node's control inputs; -1: it has none.
  NodeId gate() {
    if (gate_)
      return *gate_;
    gate_ = -1;
    if (!node_.control_inputs.empty())
      gate_ = add_beside("NoOp", {}, node_.control_inputs);
    return *gate_;
  }

  /// What new nodes wait for whose inputs do not tell when the node runs; -1: nothing.
  NodeId trigger() {
    if (gate() >= 0 || outer_ >= 0)
      return gate() >= 0 ? gate() : outer_;
    // A loop or a conditional of version 1 may be around the node: its inputs tell.
    if (!trigger_ && lowering_.has_control_flow())
      for (Endpoint e : inputs_)
        if (!trigger_ && !is_ref(dtype(e)) && !is_loop_invariant(graph_, e))
          trigger_ = add_beside("Identity", {e}, {});
    return trigger_.value_or(-1);
  }

  NodeId add_beside(std::string_view type, std::vector<Endpoint> inputs,
                    const std::vector<NodeId>& after) {
    auto added = graph_.add(lowering_.new_name(node_.name, "input_control_node"), type,
                            std::move(inputs), {}, after);
    if (!added.ok()) {
      failed_ = added.status();
      return -1;
    }
    (*added)->device = device_;
    return (*added)->id;
  }

  Lowering& lowering_;
  Graph& graph_;
  Node& node_;
  std::string device_;
  std::vector<Endpoint> inputs_;
  NodeId outer_;     // of the body around the node
  NodeId made_from_; // from here on nodes are the lowering's
  std::optional<NodeId> gate_, trigger_;
  std::string shown_as_;
  Status failed_;
};

Status Lowering::lower(NodeId id, NodeId trigger) {
  Node& node = *graph_.node(id);
  LowerRule rule = rule_of(graph_, node);
  if (!rule)
    return {};
  const NodeId made_from = graph_.capacity();
  const std::size_t depth = calls_.size();
  Site site(*this, node, trigger);
  Status status = rule(site);
  if (status.ok())
    return status;
  if (status.message().find("[[{{node ") == std::string::npos)
    status = Status(status.code(), str_cat(status.message(), " [[{{node ", node.name, "}}]]"));
  if (status.code() == Code::resource_exhausted)
    return status;
  calls_.resize(depth);
  return refuse(node, trigger, made_from, status);
}

// A node that cannot be lowered fails the step that runs it, and no other.
Status Lowering::refuse(Node& node, NodeId trigger, NodeId made_from, const Status& why) {
  for (NodeId id = graph_.capacity(); id-- > made_from;)
    if (graph_.node(id))
      graph_.remove(id);
  TROUPE_ASSIGN(node.op, graph_.registry().lookup("_Refusal"));
  std::vector<NodeId> after;
  for (int i = 0; i < node.num_inputs(); ++i) {
    after.push_back(node.inputs[static_cast<std::size_t>(i)].node);
    graph_.set_input(node.id, i, {});
  }
  node.inputs.clear();
  node.input_types.clear();
  if (trigger >= 0)
    after.push_back(trigger);
  AttrMap attrs{{"Tout", node.output_types},
                {"code", static_cast<std::int64_t>(why.code())},
                {"message", std::string(why.message())}};
  if (const AttrValue* classes = node.attrs.find("_class"))
    attrs.set("_class", *classes);
  node.attrs = std::move(attrs);
  for (NodeId id : after)
    graph_.add_control_edge(id, node.id);
  return {};
}

Status Lowering::check_call(const Callee& callee, const FunctionBody& body,
                            const std::vector<Endpoint>& inputs,
                            const std::vector<DType>* result_types) const {
  const std::string& name = callee.function.name;
  if (inputs.size() != body.args.size())
    return invalid_argument(str_cat("Expects ", body.args.size(), " arguments, but ", inputs.size(),
                                    " is provided to function ", name));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Node& source = *graph_.node(inputs[i].node);
    DType given = remove_ref(source.output_types[static_cast<std::size_t>(inputs[i].slot)]);
    DType wanted = body.graph.node(body.args[i])->output_types[0];
    if (given != wanted)
      return invalid_argument(str_cat("Expects arg[", i, "] to be ", to_string(wanted), " but ",
                                      to_string(given), " is provided to function ", name, ", by ",
                                      source.name, ":", inputs[i].slot));
  }
  if (!result_types)
    return {};
  if (result_types->size() != body.results.size())
    return invalid_argument(str_cat("Function ", name, " has ", body.results.size(),
                                    " outputs, but ", result_types->size(), " were expected"));
  for (std::size_t i = 0; i < body.results.size(); ++i) {
    Endpoint e = body.results[i];
    DType given =
        remove_ref(body.graph.node(e.node)->output_types[static_cast<std::size_t>(e.slot)]);
    if (given != remove_ref((*result_types)[i]))
      return invalid_argument(str_cat("Output ", i, " of function ", name, " is ", to_string(given),
                                      ", but ", to_string((*result_types)[i]), " was expected"));
  }
  return {};
}

Status Lowering::begin_call(const Callee& callee, const FunctionBody& body,
                            const InlineSite& site) {
  if (is_under_way(body)) // of a gradient
    return invalid_argument(str_cat("The gradient of function '", callee.function.name,
                                    "' needs itself, since the function calls itself; give it a "
                                    "gradient function, or make it a loop"));
  if (calls_.size() >= options_.max_depth)
    return resource_exhausted(str_cat("Function '", callee.function.name,
                                      "' is called within more than ", options_.max_depth,
                                      " other calls"));
  std::size_t nodes = body.graph.num_nodes();
  std::size_t bytes = body.attr_bytes + nodes * site.scope.size();
  if (graph_.num_nodes() + nodes > options_.max_nodes || bytes > bytes_left_)
    return resource_exhausted(
        str_cat("the graph has more than ", options_.max_nodes, " nodes or ", options_.max_bytes,
                " bytes of names when the functions that it calls become part of it; the call of '",
                callee.function.name, "' is one too many"));
  bytes_left_ -= bytes;
  return {};
}

Result<std::optional<std::vector<DType>>>
Lowering::call_within_itself(const Callee& callee, const std::vector<Endpoint>& inputs,
                             const std::vector<DType>* results) {
  std::optional<std::vector<DType>> out;
  if (callee.is_gradient)
    return out;
  TROUPE_ASSIGN(const FunctionBody* body, bodies_.find(callee.function, false));
  if (!is_under_way(*body))
    return out;
  TROUPE_TRY(check_call(callee, *body, inputs, results));
  out.emplace();
  for (Endpoint e : body->results)
    out->push_back(
        remove_ref(body->graph.node(e.node)->output_types[static_cast<std::size_t>(e.slot)]));
  return out;
}

Result<InlinedCall> Lowering::inline_call(const Callee& callee, InlineSite site,
                                          const std::vector<DType>* result_types) {
  TROUPE_ASSIGN(const FunctionBody* body, bodies_.find(callee.function, callee.is_gradient));
  TROUPE_TRY(check_call(callee, *body, site.inputs, result_types));
  TROUPE_TRY(begin_call(callee, *body, site));
  calls_.emplace_back(body, callee.function.name);
  TROUPE_ASSIGN(InlinedBody copy, inline_body(graph_, *body, site));
  for (NodeId id : copy.nodes())
    TROUPE_TRY(lower(id, site.trigger));
  calls_.pop_back();
  InlinedCall out;
  out.is_noinline = body->is_noinline;
  for (Endpoint e : body->results)
    out.outputs.push_back(source_of(copy.of(e)));
  for (NodeId id : body->effects)
    out.effects.push_back(copy.node_of(id));
  if (callee.runs_unread)
    for (NodeId id : body->unread)
      out.effects.push_back(copy.node_of(id));
  return out;
}

} // namespace
} // namespace functions

bool has_function_calls(const Graph& graph) {
  const OpSchema* last = nullptr; // neighbours often have one op
  for (NodeId id = 0; id < graph.capacity(); ++id) {
    const Node* node = graph.node(id);
    if (!node || node->op == last)
      continue;
    last = node->op;
    if (functions::rule_of(graph, *node))
      return true;
  }
  return false;
}

Status lower_functions(Graph& graph, const LowerOptions& options) {
  return functions::Lowering(graph, options).run();
}

} // namespace troupe
