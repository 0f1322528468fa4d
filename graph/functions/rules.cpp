// How each op that calls functions is lowered. The shapes of conditionals and loops are those that
// TensorFlow 1's tf.cond and tf.while_loop make.
#include <algorithm>
#include <array>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"
#include "graph/functions/internal/lower_context.hpp"

namespace troupe::functions {

namespace {

std::vector<Endpoint> inputs_from(const LowerContext& c, int first) {
  const auto& inputs = c.node().inputs;
  return {inputs.begin() + first, inputs.end()};
}

// TensorFlow's notion of truth: numbers that are not zero, texts that are not empty, tensors that
// have elements. The kernel of ToBool knows it. Of a node that TensorFlow lowers itself, the truth
// has to be bool: a loop on a number would run for ever. `use` is what of `op` reads it.
Result<Endpoint> to_bool(LowerContext& c, Endpoint value, std::string_view use,
                         std::string_view op) {
  const DType dtype = remove_ref(c.dtype(value));
  if (dtype == DType::bool_)
    return value;
  if (c.node().attrs.get_or<bool>("_lower_using_switch_merge", false))
    return invalid_argument(str_cat("Input '", use, "' passed ", to_string(dtype),
                                    " expected bool while building NodeDef '", c.node().name, "/",
                                    op, "' using Op<name=", op, ">"));
  return c.op("pred", "ToBool", {value});
}

// Conditionals and loops that TensorFlow does not lower itself give each body to one executor.
Callee body_of(LowerContext& c, const FunctionRef& function) {
  const bool runs_unread = !c.node().attrs.get_or<bool>("_lower_using_switch_merge", false);
  return {function, false, true, runs_unread};
}

Status lower_call(LowerContext& c, const Callee& callee) {
  TROUPE_ASSIGN(InlinedCall body, c.call("", callee, inputs_from(c, 0), &c.node().output_types));
  return c.finish(body.outputs, body.effects);
}

Status lower_partitioned_call(LowerContext& c) {
  TROUPE_ASSIGN(FunctionRef f, c.node().attrs.get<FunctionRef>("f"));
  return lower_call(c, {f});
}

Status lower_symbolic_gradient(LowerContext& c) {
  TROUPE_ASSIGN(FunctionRef f, c.node().attrs.get<FunctionRef>("f"));
  TROUPE_ASSIGN(InlinedCall body, c.call("", {f, true, false, true}, inputs_from(c, 0), nullptr));
  const auto& types = c.node().output_types;
  if (body.outputs.size() != types.size())
    return invalid_argument(str_cat("SymGrad expects to return ", types.size(),
                                    " tensor(s), but get ", body.outputs.size(),
                                    " tensor(s) instead."));
  for (std::size_t i = 0; i < types.size(); ++i)
    if (DType given = remove_ref(c.dtype(body.outputs[i])); given != types[i])
      return invalid_argument(str_cat("The gradient of '", f.name, "' with respect to argument ", i,
                                      " is ", to_string(given), ", but ", to_string(types[i]),
                                      " was expected"));
  return c.finish(body.outputs, body.effects);
}

// A round of a loop: what the body makes of the loop's variables, of the same dtypes.
Result<InlinedCall> call_body(LowerContext& c, std::string_view loop, const FunctionRef& function,
                              const std::vector<Endpoint>& inputs, NodeId pivot) {
  TROUPE_ASSIGN(InlinedCall body, c.call("body", body_of(c, function), inputs, nullptr, pivot));
  const auto& types = c.node().output_types;
  if (body.outputs.size() != types.size())
    return invalid_argument(str_cat(loop, " loop body returned ", body.outputs.size(),
                                    " arguments. Expected: ", types.size()));
  for (std::size_t i = 0; i < types.size(); ++i)
    if (DType given = remove_ref(c.dtype(body.outputs[i])); given != types[i])
      return invalid_argument(str_cat(loop, " loop body returned ", to_string(given),
                                      " as argument ", i, ". Expected: ", to_string(types[i])));
  return body;
}

// The branches of a conditional: `pivots[i]` runs if branch i is taken, which reads inputs[i].
// Their results are merged.
Status lower_branches(LowerContext& c, const std::vector<FunctionRef>& branches,
                      const std::vector<std::string>& parts,
                      const std::vector<std::vector<Endpoint>>& inputs,
                      const std::vector<Endpoint>& pivots) {
  const auto& types = c.node().output_types;
  std::vector<std::vector<Endpoint>> results(types.size());
  std::vector<Endpoint> done;
  bool has_effects = types.empty();
  for (std::size_t i = 0; i < branches.size(); ++i) {
    TROUPE_ASSIGN(InlinedCall body,
                  c.call(parts[i], body_of(c, branches[i]), inputs[i], &types, pivots[i].node));
    for (std::size_t k = 0; k < types.size(); ++k)
      results[k].push_back(body.outputs[k]);
    has_effects = has_effects || !body.effects.empty();
    done.push_back(body.effects.empty() ? pivots[i]
                                        : c.op("done", "Identity", {pivots[i]}, {}, body.effects));
  }
  std::vector<Endpoint> outputs;
  for (const auto& values : results)
    outputs.push_back(c.op("merge", "Merge", values));
  std::vector<NodeId> effects;
  if (has_effects)
    effects.push_back(c.op("branch_executed", "Merge", done).node);
  return c.finish(outputs, effects);
}

Status lower_if(LowerContext& c) {
  TROUPE_ASSIGN(FunctionRef then_branch, c.node().attrs.get<FunctionRef>("then_branch"));
  TROUPE_ASSIGN(FunctionRef else_branch, c.node().attrs.get<FunctionRef>("else_branch"));
  TROUPE_ASSIGN(Endpoint pred, to_bool(c, c.node().inputs[0], "pred", "Switch"));
  Endpoint chosen = c.op("switch_pred", "Switch", {pred, pred});
  Endpoint pivot_else = c.op("pivot_f", "Identity", {chosen});
  Endpoint pivot_then = c.op("pivot_t", "Identity", {{chosen.node, 1}});
  std::vector<Endpoint> when_true, when_false;
  for (Endpoint input : inputs_from(c, 1)) {
    Endpoint branch = c.op("switch", "Switch", {input, pred});
    when_false.push_back(branch);
    when_true.push_back({branch.node, 1});
  }
  return lower_branches(c, {then_branch, else_branch}, {"then", "else"}, {when_true, when_false},
                        {pivot_then, pivot_else});
}

Status lower_case(LowerContext& c) {
  TROUPE_ASSIGN(auto branches, c.node().attrs.get<std::vector<FunctionRef>>("branches"));
  const auto count = static_cast<std::int64_t>(branches.size());
  Endpoint index = c.node().inputs[0];
  auto fork = [&](std::string_view part, Endpoint value) {
    return c.op(part, "_SwitchN", {value, index}, {{"num_outs", count}});
  };
  Endpoint chosen = fork("switch_case_index", index);
  std::vector<Endpoint> forks, pivots;
  for (Endpoint input : inputs_from(c, 1))
    forks.push_back(fork("switch", input));
  std::vector<std::vector<Endpoint>> inputs(branches.size());
  std::vector<std::string> parts;
  for (int i = 0; i < count; ++i) {
    pivots.push_back(c.op("pivot", "Identity", {{chosen.node, i}}));
    for (Endpoint value : forks)
      inputs[static_cast<std::size_t>(i)].push_back({value.node, i});
    parts.push_back(str_cat("branch", i));
  }
  return lower_branches(c, branches, parts, inputs, pivots);
}

// One loop variable on its way round.
struct LoopVariable {
  Endpoint enter;
  Endpoint merge; ///< of an invariant one: enter
  Endpoint fork;  ///< Switch; of an invariant one: enter
  bool is_invariant = false;
};

class While {
public:
  explicit While(LowerContext& c) : c_(c) {}

  Status lower() {
    TROUPE_ASSIGN(condition_, c_.node().attrs.get<FunctionRef>("cond"));
    TROUPE_ASSIGN(body_, c_.node().attrs.get<FunctionRef>("body"));
    parallel_ = c_.node().attrs.get_or<std::int64_t>("parallel_iterations", 10);
    TROUPE_TRY(enter_all());
    TROUPE_ASSIGN(Endpoint goes_on, evaluate_condition());
    for (LoopVariable& one : variables_)
      if (!one.is_invariant)
        one.fork = c_.op("switch", "Switch", {one.merge, goes_on});
    TROUPE_TRY(run_body());
    return leave();
  }

private:
  Endpoint enter(Endpoint input, bool is_invariant) {
    return c_.op("enter", "Enter", {input},
                 {{"frame_name", c_.node().name},
                  {"is_constant", is_invariant},
                  {"parallel_iterations", std::max<std::int64_t>(parallel_, 1)}});
  }

  Status enter_all() {
    for (int i = 0; i < c_.node().num_inputs(); ++i) {
      TROUPE_ASSIGN(int argument, c_.argument_returned(body_, i));
      add(c_.node().inputs[static_cast<std::size_t>(i)], argument == i);
    }
    // The iterations need something that goes round.
    if (std::ranges::all_of(variables_, &LoopVariable::is_invariant))
      add(c_.constant("turn", Tensor::scalar<bool>(true)), false);
    return {};
  }

  void add(Endpoint input, bool is_invariant) {
    LoopVariable one;
    one.is_invariant = is_invariant;
    one.enter = one.merge = one.fork = enter(input, is_invariant);
    if (!is_invariant)
      one.merge = c_.op("merge", "Merge", {one.enter, one.enter});
    variables_.push_back(one);
  }

  Result<Endpoint> evaluate_condition() {
    const LoopVariable& first = *std::ranges::find(variables_, false, &LoopVariable::is_invariant);
    std::vector<Endpoint> inputs;
    for (int i = 0; i < c_.node().num_inputs(); ++i)
      inputs.push_back(variables_[static_cast<std::size_t>(i)].merge);
    TROUPE_ASSIGN(InlinedCall condition,
                  c_.call("cond", body_of(c_, condition_), inputs, nullptr, first.merge.node));
    if (condition.outputs.size() != 1)
      return invalid_argument(str_cat("Expected a single scalar from the condition '",
                                      condition_.name, "', but got ", condition.outputs.size(),
                                      " tensors."));
    TROUPE_ASSIGN(Endpoint pred, to_bool(c_, condition.outputs[0], "input", "LoopCond"));
    return c_.op("loop_cond", "LoopCond", {pred}, {}, condition.effects);
  }

  Status run_body() {
    const LoopVariable& first = *std::ranges::find(variables_, false, &LoopVariable::is_invariant);
    Endpoint pivot = c_.op("body_pivot", "Identity", {{first.fork.node, 1}});
    std::vector<Endpoint> inputs;
    for (int i = 0; i < c_.node().num_inputs(); ++i) {
      const LoopVariable& one = variables_[static_cast<std::size_t>(i)];
      inputs.push_back(one.is_invariant ? one.enter : Endpoint{one.fork.node, 1});
    }
    TROUPE_ASSIGN(InlinedCall body, call_body(c_, "While", body_, inputs, pivot.node));
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const LoopVariable& one = variables_[i];
      if (one.is_invariant)
        continue;
      Endpoint value = i < body.outputs.size() ? body.outputs[i] : pivot;
      // An invariant is there in every round: handed on as it is, it would begin rounds for ever.
      if (is_entered(value))
        value = c_.op("held", "Identity", {value}, {}, {pivot.node});
      Endpoint next = c_.op("next", "NextIteration", {value}, {}, body.effects);
      c_.set_input(one.merge.node, 1, next);
    }
    return {};
  }

  bool is_entered(Endpoint value) const {
    return std::ranges::any_of(variables_, [&](const LoopVariable& one) {
      return one.is_invariant && one.enter == value;
    });
  }

  Status leave() {
    std::vector<Endpoint> outputs;
    std::vector<NodeId> exits;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const LoopVariable& one = variables_[i];
      Endpoint value =
          one.is_invariant ? c_.node().inputs[i] : c_.op("exit", "Exit", {{one.fork.node, 0}});
      if (!one.is_invariant)
        exits.push_back(value.node);
      if (i < static_cast<std::size_t>(c_.node().num_outputs()))
        outputs.push_back(value);
    }
    return c_.finish(outputs, exits, true);
  }

  LowerContext& c_;
  FunctionRef condition_, body_;
  std::int64_t parallel_ = 10;
  std::vector<LoopVariable> variables_;
};

Status lower_while(LowerContext& c) {
  return While(c).lower();
}

// The rounds of a For: body(i, values…) gives the next values while i has not reached the limit.
Status lower_for(LowerContext& c) {
  const Node& node = c.node();
  TROUPE_ASSIGN(FunctionRef function, node.attrs.get<FunctionRef>("body"));
  auto enter = [&](Endpoint input, bool is_constant) {
    return c.op("enter", "Enter", {input},
                {{"frame_name", node.name}, {"is_constant", is_constant}});
  };
  auto loop_head = [&](Endpoint input) {
    Endpoint entered = enter(input, false);
    return c.op("merge", "Merge", {entered, entered});
  };
  Endpoint range = c.op("range", "_ForRange", {node.inputs[0], node.inputs[1], node.inputs[2]});
  Endpoint index = loop_head(range);
  Endpoint limit = enter({range.node, 1}, true);
  Endpoint delta = enter({range.node, 2}, true);
  std::vector<Endpoint> heads{index};
  for (Endpoint input : inputs_from(c, 3))
    heads.push_back(loop_head(input));
  // Which way it counts is known only in the step: 0 < sign(delta) * (limit - i).
  Endpoint left = c.op("left", "Sub", {limit, index});
  Endpoint way = c.op("way", "Sign", {delta});
  Endpoint ahead = c.op("ahead", "Mul", {way, left});
  Endpoint zero = c.op("zero", "ZerosLike", {index});
  Endpoint goes_on = c.op("loop_cond", "LoopCond", {c.op("less", "Less", {zero, ahead})});
  std::vector<Endpoint> now, outputs;
  std::vector<NodeId> exits;
  for (Endpoint head : heads) {
    Endpoint fork = c.op("switch", "Switch", {head, goes_on});
    now.push_back({fork.node, 1});
    outputs.push_back(c.op("exit", "Exit", {fork}));
    exits.push_back(outputs.back().node);
  }
  outputs.erase(outputs.begin());
  Endpoint pivot = c.op("body_pivot", "Identity", {now[0]});
  TROUPE_ASSIGN(InlinedCall body, call_body(c, "For", function, now, pivot.node));
  std::vector<Endpoint> next{c.op("next_index", "Add", {pivot, delta})};
  next.insert(next.end(), body.outputs.begin(), body.outputs.end());
  for (std::size_t i = 0; i < next.size(); ++i)
    c.set_input(heads[i].node, 1, c.op("next", "NextIteration", {next[i]}, {}, body.effects));
  return c.finish(outputs, exits, true);
}

// Its nodes stand on the target, if that is known before the graph is placed; else a kernel calls
// the function there.
Status lower_remote_call(LowerContext& c) {
  TROUPE_ASSIGN(FunctionRef f, c.node().attrs.get<FunctionRef>("f"));
  Tensor target = c.constant_input(0);
  if (!target.has_value() || !target.shape().is_scalar())
    return {};
  const std::string& device = target.value<std::string>();
  if (auto parsed = DeviceName::parse(device); !parsed.ok())
    return parsed.status();
  c.set_device(device);
  TROUPE_ASSIGN(InlinedCall body,
                c.call("", {f, false, false, true}, inputs_from(c, 1), &c.node().output_types));
  return c.finish(body.outputs, body.effects);
}

} // namespace

Status lower_function_op(LowerContext& c) {
  std::vector<std::pair<std::string, AttrValue>> attrs;
  for (const auto& [name, value] : c.node().attrs)
    if (!name.starts_with('_'))
      attrs.emplace_back(name, value);
  FunctionRef function{c.node().op->name, std::make_shared<const AttrMap>(std::move(attrs))};
  bool is_multi_device = c.node().attrs.get_or<bool>("_lower_as_multi_device_function", false);
  return lower_call(c, {std::move(function), false, is_multi_device, !is_multi_device});
}

LowerRule find_rule(std::string_view op) {
  static constexpr std::array<std::pair<std::string_view, LowerRule>, 11> rules{{
      {"Case", lower_case},
      {"For", lower_for},
      {"If", lower_if},
      {"PartitionedCall", lower_partitioned_call},
      {"RemoteCall", lower_remote_call},
      {"StatefulPartitionedCall", lower_partitioned_call},
      {"StatelessCase", lower_case},
      {"StatelessIf", lower_if},
      {"StatelessWhile", lower_while},
      {"SymbolicGradient", lower_symbolic_gradient},
      {"While", lower_while},
  }};
  auto at = std::ranges::lower_bound(rules, op, {}, [](const auto& rule) { return rule.first; });
  return at != rules.end() && at->first == op ? at->second : nullptr;
}

} // namespace troupe::functions
