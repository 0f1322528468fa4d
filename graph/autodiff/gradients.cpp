#include "graph/autodiff/gradients.hpp"

#include <algorithm>
#include <set>

#include "core/base/strings.hpp"
#include "graph/autodiff/internal/rule_context.hpp"

namespace troupe {
namespace {

using autodiff::RuleContext;
using autodiff::Site;
using autodiff::StaticShapes;

// Any op that is not flat and has no rule is an error on the way: a missing gradient must not pass
// for zero.
bool is_flat(const Node& node) {
  return node.has_role(Role::flat);
}
bool is_loop(const Node& node) {
  return node.op->roles.has_any(
      {Role::enter, Role::exit, Role::next_iteration, Role::loop_condition});
}
bool carries_gradient(DType t) {
  t = remove_ref(t);
  return is_floating(t) || is_complex(t) || t == DType::resource || t == DType::variant;
}

std::string endpoint_name(const Graph& graph, Endpoint e) {
  return str_cat(graph.node(e.node)->name, ":", e.slot);
}

Status check_endpoint(const Graph& graph, Endpoint e, std::string_view what, std::size_t index) {
  if (e.node < 0 || e.node >= graph.capacity() || !graph.node(e.node))
    return invalid_argument(str_cat(what, "[", index, "] names no node of the graph"));
  const Node& node = *graph.node(e.node);
  if (e.slot < 0 || e.slot >= node.num_outputs())
    return invalid_argument(str_cat(what, "[", index, "] is output ", e.slot, " of node '",
                                    node.name, "', which has ", node.num_outputs(), " outputs"));
  return {};
}

class Backward {
public:
  Backward(Graph& graph, const GradientOptions& options)
      : graph_(graph), options_(options), shapes_(graph) {}

  Result<std::vector<std::optional<Endpoint>>>
  run(std::span<const Endpoint> ys, std::span<const Endpoint> xs,
      std::span<const std::optional<Endpoint>> grad_ys) {
    for (std::size_t i = 0; i < ys.size(); ++i)
      TROUPE_TRY(check_endpoint(graph_, ys[i], "ys", i));
    for (std::size_t i = 0; i < xs.size(); ++i)
      TROUPE_TRY(check_endpoint(graph_, xs[i], "xs", i));
    for (std::size_t i = 0; i < options_.stop_at.size(); ++i)
      TROUPE_TRY(check_endpoint(graph_, options_.stop_at[i], "stop_at", i));
    if (!grad_ys.empty() && grad_ys.size() != ys.size())
      return invalid_argument(str_cat("grad_ys has ", grad_ys.size(),
                                      " entries, expected one for each of the ", ys.size(),
                                      " ys, or none"));
    choose_scope();
    TROUPE_ASSIGN(auto order, graph_.topological_order());
    mark_between(order, ys, xs);
    for (std::size_t i = 0; i < ys.size(); ++i)
      TROUPE_TRY(seed(ys[i], grad_ys.empty() ? std::nullopt : grad_ys[i], i));
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      if (between_[static_cast<std::size_t>(*it)])
        TROUPE_TRY(differentiate(*it));
    std::vector<std::optional<Endpoint>> out;
    for (Endpoint x : xs) {
      TROUPE_ASSIGN(Value gradient, collect(x));
      if (gradient.is_none())
        out.emplace_back();
      else
        out.emplace_back(Endpoint{gradient.node, gradient.slot});
    }
    return out;
  }

private:
  void choose_scope() {
    std::set<std::string, std::less<>> taken;
    for (const Node* node : std::as_const(graph_).nodes())
      if (node->name.starts_with(options_.scope))
        taken.emplace(std::string_view(node->name).substr(0, node->name.find('/')));
    scope_ = options_.scope;
    for (int i = 1; taken.contains(scope_); ++i)
      scope_ = str_cat(options_.scope, "_", i);
  }

  std::size_t index(Endpoint e) const {
    return first_output_[static_cast<std::size_t>(e.node)] + static_cast<std::size_t>(e.slot);
  }

  void number_outputs() {
    std::size_t count = 0;
    first_output_.assign(static_cast<std::size_t>(graph_.capacity()), 0);
    for (const Node* node : std::as_const(graph_).nodes()) {
      first_output_[static_cast<std::size_t>(node->id)] = count;
      count += node->output_types.size();
    }
    is_x_.assign(count, false);
    is_stop_.assign(count, false);
    wanted_.assign(count, false);
    gradients_.resize(count);
  }

  // What depends on an x through `e` may carry a gradient back over it.
  bool carries(Endpoint e) const {
    if (e.node < 0)
      return false;
    const Node& source = *graph_.node(e.node);
    if (!carries_gradient(source.output_types[static_cast<std::size_t>(e.slot)]))
      return false;
    return is_x_[index(e)] ||
           (reached_[static_cast<std::size_t>(e.node)] && !is_stop_[index(e)] && !is_flat(source));
  }

  // A node is between if some input depends on an x and some y depends on it, each through edges
  // that carry gradients.
  void mark_between(const std::vector<NodeId>& order, std::span<const Endpoint> ys,
                    std::span<const Endpoint> xs) {
    number_outputs();
    for (Endpoint x : xs)
      is_x_[index(x)] = wanted_[index(x)] = true;
    for (Endpoint y : ys)
      wanted_[index(y)] = true;
    for (Endpoint e : options_.stop_at)
      is_stop_[index(e)] = true;
    reached_.assign(first_output_.size(), false);
    for (NodeId id : order)
      reached_[static_cast<std::size_t>(id)] =
          std::ranges::any_of(graph_.node(id)->inputs, [&](Endpoint e) { return carries(e); });
    between_.assign(first_output_.size(), false);
    for (Endpoint y : ys)
      between_[static_cast<std::size_t>(y.node)] = true;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      auto at = static_cast<std::size_t>(*it);
      const Node& node = *graph_.node(*it);
      between_[at] = between_[at] && reached_[at] && !is_flat(node);
      if (!between_[at])
        continue;
      for (Endpoint e : node.inputs)
        if (carries(e)) {
          wanted_[index(e)] = true;
          if (!is_stop_[index(e)])
            between_[static_cast<std::size_t>(e.node)] = true;
        }
    }
  }

  Status seed(Endpoint y, const std::optional<Endpoint>& given, std::size_t i) {
    const Node& node = *graph_.node(y.node);
    DType dtype = remove_ref(node.output_types[static_cast<std::size_t>(y.slot)]);
    if (given) {
      TROUPE_TRY(check_endpoint(graph_, *given, "grad_ys", i));
      DType got =
          remove_ref(graph_.node(given->node)->output_types[static_cast<std::size_t>(given->slot)]);
      if (got != dtype)
        return invalid_argument(str_cat(
            "grad_ys[", i, "] '", endpoint_name(graph_, *given), "' has dtype ", to_string(got),
            ", expected ", to_string(dtype), " like '", endpoint_name(graph_, y), "'"));
      contribute(y, {given->node, given->slot});
      return {};
    }
    bool is_needed = between_[static_cast<std::size_t>(y.node)] || is_x_[index(y)];
    if (!is_needed || (!is_floating(dtype) && !is_complex(dtype)))
      return {};
    if (is_complex(dtype))
      return invalid_argument(str_cat("Gradients of complex tensors must set grad_ys ('",
                                      endpoint_name(graph_, y), "' has dtype ", to_string(dtype),
                                      ")"));
    Site site = autodiff::site_of(node, scope_, options_.colocate);
    site.scope = scope_;
    RuleContext g(graph_, shapes_, site, y.node, {});
    Value value{y.node, y.slot};
    Value one = g.scalar_like(value, 1.0);
    PartialShape shape = g.shape(value);
    Value ones =
        shape.has_rank() && shape.rank() == 0 ? one : g.op("Fill", {g.shape_of(value), one}, {});
    TROUPE_TRY(g.status());
    shapes_.refine({ones.node, ones.slot}, shape);
    contribute(y, ones);
    return {};
  }

  void contribute(Endpoint e, Value gradient) {
    if (wanted_[index(e)])
      gradients_[index(e)].push_back(gradient);
  }

  // The sum of what arrived at `e`; none if nothing did. Only asked for when all uses are done.
  Result<Value> collect(Endpoint e) {
    std::vector<Value>& terms = gradients_[index(e)];
    if (terms.empty())
      return Value{};
    if (terms.size() > 1) {
      // Beside the first term: where x is a variable elsewhere, one sum travels there, not each
      // term.
      const Node& term = *graph_.node(terms[0].node);
      Site site{scope_, term.device,
                options_.colocate ? term.attrs.get_or<std::vector<std::string>>("_class", {})
                                  : std::vector<std::string>{}};
      TROUPE_ASSIGN(Value sum, autodiff::add_node(graph_, shapes_, site, "AddN", terms, {}));
      if (!is_handle(e))
        shapes_.refine({sum.node, sum.slot}, shapes_.of(e));
      terms.assign(1, sum);
    }
    return terms[0];
  }

  bool is_handle(Endpoint e) const {
    DType t = graph_.node(e.node)->output_types[static_cast<std::size_t>(e.slot)];
    return t == DType::resource || t == DType::variant;
  }

  Status differentiate(NodeId id) {
    int num_outputs = graph_.node(id)->num_outputs();
    std::vector<Value> output_grads;
    bool any = false;
    for (int slot = 0; slot < num_outputs; ++slot) {
      Value gradient;
      if (!is_stop_[index({id, slot})]) {
        TROUPE_ASSIGN(gradient, collect({id, slot}));
      }
      any = any || !gradient.is_none();
      output_grads.push_back(gradient);
    }
    if (!any)
      return {};
    const Node& node = *graph_.node(id);
    RuleContext g(graph_, shapes_, autodiff::site_of(node, scope_, options_.colocate), id,
                  std::move(output_grads));
    Status done = apply_rule(g);
    if (!done.ok())
      return done;
    TROUPE_TRY(g.status().ok() ? Status{} : g.status().with_context(describe(node)));
    for (int i = 0; i < g.num_inputs(); ++i)
      if (Value gradient = g.input_grads()[static_cast<std::size_t>(i)]; !gradient.is_none())
        contribute(g.node().inputs[static_cast<std::size_t>(i)], gradient);
    return {};
  }

  static std::string describe(const Node& node) {
    return str_cat("the gradient of node '", node.name, "' (", node.op_name(), ")");
  }

  static Status apply_rule(RuleContext& g) {
    const Node& node = g.node();
    if (is_loop(node))
      return unimplemented(str_cat("Gradients through while loops are not supported: node '",
                                   node.name, "' (op type: ", node.op_name(),
                                   ") lies between the ys and the xs; unroll the loop, or put a "
                                   "StopGradient before it"));
    if (node.has_role(Role::branch))
      return autodiff::differentiate_switch(g);
    if (node.has_role(Role::merge))
      return autodiff::differentiate_merge(g);
    if (!node.op->gradient) {
      std::string why = node.op->not_differentiable.empty() ? std::string("it has no gradient rule")
                                                            : node.op->not_differentiable;
      return invalid_argument(str_cat("No gradient defined for operation '", node.name,
                                      "' (op type: ", node.op_name(), "): ", why));
    }
    Status status = node.op->gradient(g);
    if (g.forgot_to_conjugate()) // wrong values, not an error
      return unimplemented(str_cat("the gradient rule of ", g.node().op_name(),
                                   " is not one for complex numbers: node '", g.node().name,
                                   "' (op type: ", g.node().op_name(),
                                   ") lies between the ys and the xs; put a StopGradient before "
                                   "it"));
    return status.ok() ? status : status.with_context(describe(g.node()));
  }

  Graph& graph_;
  const GradientOptions& options_;
  StaticShapes shapes_;
  std::string scope_;
  // Of the nodes and outputs present at the start; outputs are numbered through.
  std::vector<std::size_t> first_output_;
  std::vector<bool> reached_, between_;
  std::vector<bool> is_x_, is_stop_, wanted_; ///< wanted: somebody needs its gradient
  std::vector<std::vector<Value>> gradients_; ///< what arrived so far
};

} // namespace

Result<std::vector<std::optional<Endpoint>>>
add_gradients(Graph& graph, std::span<const Endpoint> ys, std::span<const Endpoint> xs,
              std::span<const std::optional<Endpoint>> grad_ys, const GradientOptions& options) {
  return Backward(graph, options).run(ys, xs, grad_ys);
}

} // namespace troupe
