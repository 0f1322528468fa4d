// Identities that hold bit by bit, floats included: a node that computes nothing new is bypassed.
// One that may fail when it runs is not: its error is part of what the step computes.
// x + 0.0 is not among them (it turns -0.0 into 0.0), x - 0.0 and x * 1 are; x * 0 is not (NaN).
#include <algorithm>
#include <unordered_map>

#include "graph/passes/internal/rewrite.hpp"

namespace troupe {
namespace {

// What output 0 of the node equals, or nothing.
using Found = Result<std::optional<Endpoint>>;
using Rule = Found (*)(RuleView&);

Found nothing() {
  return std::optional<Endpoint>{};
}
Found it_is(Endpoint e) {
  return std::optional<Endpoint>{e};
}

Found input_itself(RuleView& v) {
  return it_is(v.input(0));
}

bool is_neutral(const Tensor& constant, double number) {
  return constant.has_value() && keeps_shape(constant) && is_all(constant, number);
}

Found add(RuleView& v) {
  double zero = is_floating(v.input_dtype(0)) ? -0.0 : 0.0;
  if (is_neutral(v.constant(1), zero))
    return it_is(v.input(0));
  if (is_neutral(v.constant(0), zero))
    return it_is(v.input(1));
  return nothing();
}

Found subtract(RuleView& v) {
  return is_neutral(v.constant(1), 0.0) ? it_is(v.input(0)) : nothing();
}

Found multiply(RuleView& v) {
  if (is_neutral(v.constant(1), 1))
    return it_is(v.input(0));
  if (is_neutral(v.constant(0), 1))
    return it_is(v.input(1));
  return nothing();
}

Found divide_or_power(RuleView& v) {
  return is_neutral(v.constant(1), 1) ? it_is(v.input(0)) : nothing();
}

Found floor_divide(RuleView& v) {
  return is_integer(v.input_dtype(0)) ? divide_or_power(v) : nothing();
}

Found logical_and(RuleView& v) {
  return v.input_dtype(0) == DType::bool_ ? multiply(v) : nothing();
}

Found logical_or(RuleView& v) {
  if (is_neutral(v.constant(1), 0))
    return it_is(v.input(0));
  return is_neutral(v.constant(0), 0) ? it_is(v.input(1)) : nothing();
}

// f(f(x)) = x
Found own_inverse(RuleView& v) {
  const Node* inner = v.source_if(0, v.node().op_name());
  return inner ? it_is(inner->inputs[0]) : nothing();
}

Found cast(RuleView& v) {
  return v.input_dtype(0) == v.node().output_types[0] ? it_is(v.input(0)) : nothing();
}

Found sum_of_one(RuleView& v) {
  return v.num_inputs() == 1 ? it_is(v.input(0)) : nothing();
}

Found reduce_no_axes(RuleView& v) {
  auto axes = v.ints(1);
  return axes && axes->empty() ? it_is(v.input(0)) : nothing();
}

// The integers of a constant vector; none of a scalar or a matrix, which the op refuses.
std::optional<std::vector<std::int64_t>> vector_of(RuleView& v, const Node& node, int i) {
  Tensor constant = v.constant(node, i);
  return constant.has_value() && constant.shape().rank() == 1 ? v.ints(node, i) : std::nullopt;
}

bool has_rank(RuleView& v, Endpoint e, std::size_t rank) {
  const PartialShape& shape = v.shape(e);
  return shape.has_rank() && shape.rank() == static_cast<int>(rank);
}

// Whether every value of `from` can be given the shape `to`: the sizes must divide, or be equal,
// from what is known of them.
bool always_reshapes(const PartialShape& from, const std::vector<std::int64_t>& to) {
  if (to.size() == 1 && to[0] == -1)
    return true;
  if (!from.has_rank())
    return false;
  std::int64_t known = 1, wanted = 1;
  int num_unknown = 0, num_free = 0;
  for (std::int64_t size : from.dims())
    if (size < 0)
      ++num_unknown;
    else if (__builtin_mul_overflow(known, size, &known))
      return false;
  for (std::int64_t size : to)
    if (size == -1)
      ++num_free;
    else if (size <= 0 || __builtin_mul_overflow(wanted, size, &wanted))
      return false;
  return num_free == 1 ? known % wanted == 0 : num_free == 0 && num_unknown == 0 && known == wanted;
}

// The outer shape alone decides.
Found reshape(RuleView& v) {
  const Node* inner = v.source_if(0, "Reshape");
  if (!inner)
    return nothing();
  auto shape = vector_of(v, *inner, 1);
  if (!shape || !always_reshapes(v.shape(inner->inputs[0]), *shape))
    return nothing();
  TROUPE_ASSIGN(Endpoint flat, v.add_copy({inner->inputs[0], v.input(1)}));
  return it_is(flat);
}

bool is_permutation(const std::vector<std::int64_t>& p) {
  std::vector<bool> seen(p.size(), false);
  for (std::int64_t i : p) {
    if (i < 0 || i >= static_cast<std::int64_t>(p.size()) || seen[static_cast<std::size_t>(i)])
      return false;
    seen[static_cast<std::size_t>(i)] = true;
  }
  return true;
}

Found transpose(RuleView& v) {
  auto outer = vector_of(v, v.node(), 1);
  if (!outer || !is_permutation(*outer))
    return nothing();
  if (std::ranges::is_sorted(*outer))
    return has_rank(v, v.input(0), outer->size()) ? it_is(v.input(0)) : nothing();
  const Node* inner = v.source_if(0, "Transpose");
  if (!inner)
    return nothing();
  auto perm = vector_of(v, *inner, 1);
  if (!perm || !is_permutation(*perm) || perm->size() != outer->size())
    return nothing();
  std::vector<std::int64_t> both;
  for (std::int64_t axis : *outer)
    both.push_back((*perm)[static_cast<std::size_t>(axis)]);
  if (std::ranges::is_sorted(both))
    return has_rank(v, inner->inputs[0], both.size()) ? it_is(inner->inputs[0]) : nothing();
  TROUPE_ASSIGN(Endpoint combined, v.add_ints(both, v.input_dtype(1)));
  TROUPE_ASSIGN(Endpoint flat, v.add_copy({inner->inputs[0], combined}));
  return it_is(flat);
}

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> table = {
      {"Add", add},
      {"AddV2", add},
      {"Sub", subtract},
      {"Mul", multiply},
      {"Div", divide_or_power},
      {"RealDiv", divide_or_power},
      {"FloorDiv", floor_divide},
      {"Pow", divide_or_power},
      {"LogicalAnd", logical_and},
      {"LogicalOr", logical_or},
      {"Neg", own_inverse},
      {"LogicalNot", own_inverse},
      {"Invert", own_inverse},
      {"Conj", own_inverse},
      {"Cast", cast},
      {"AddN", sum_of_one},
      {"Sum", reduce_no_axes},
      {"Prod", reduce_no_axes},
      {"Max", reduce_no_axes},
      {"Min", reduce_no_axes},
      {"All", reduce_no_axes},
      {"Any", reduce_no_axes},
      {"Reshape", reshape},
      {"Transpose", transpose},
  };
  return table;
}

Rule rule_of(const Node& node) {
  if (node.has_role(Role::passes_on))
    return input_itself;
  auto known = rules().find(node.op_name());
  return known == rules().end() ? nullptr : known->second;
}

Status simplify(Graph& graph, PassContext& context) {
  TROUPE_ASSIGN(auto order, graph.topological_order());
  ShapesOnDemand shapes(graph);
  for (NodeId id : order) {
    const Node& node = *graph.node(id);
    context.looked_at();
    Rule rule = rule_of(node);
    if (!rule || !is_free(node, context) || !node.control_inputs.empty() || node.outs.empty())
      continue;
    RuleView view(graph, node, context, shapes);
    TROUPE_ASSIGN(std::optional<Endpoint> same, rule(view));
    if (!same)
      continue;
    const Node& by = *graph.node(same->node);
    bool here = by.device == node.device && by.assigned_device == node.assigned_device;
    if (!here || is_ref(by.output_types[static_cast<std::size_t>(same->slot)]) ||
        by.output_types[static_cast<std::size_t>(same->slot)] != node.output_types[0])
      continue;
    if (bypass(graph, id, *same))
      context.changed();
  }
  return {};
}

} // namespace

Pass pass_simplify() {
  return {"simplify", 20, simplify};
}

} // namespace troupe
