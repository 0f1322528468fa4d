#include "graph/autodiff/internal/rule_context.hpp"

namespace troupe::autodiff {
namespace {

// Zeros that live exactly when branch `slot` of the Switch is taken, for a gradient like `other`.
Value branch_zeros(RuleContext& g, int slot, Value other) {
  Value branch = g.output(slot);
  if (g.dtype(branch) != DType::resource)
    return g.zeros_like(branch);
  return g.op("Fill", {g.op("VariableShape", {branch}, {}), g.scalar_like(other, 0)}, {});
}

} // namespace

Status differentiate_switch(RuleContext& g) {
  Value off = g.output_grad(0), on = g.output_grad(1);
  if (off.is_none() && on.is_none())
    return {};
  if (off.is_none())
    off = branch_zeros(g, 0, on);
  if (on.is_none())
    on = branch_zeros(g, 1, off);
  return g.set_input_grad(0, g.op("Merge", {off, on}, {}));
}

Status differentiate_merge(RuleContext& g) {
  Value dy = g.output_grad(0);
  if (dy.is_none())
    return {};
  Value taken = g.output(1);
  for (int i = 0; i < g.num_inputs(); ++i) {
    Value here = g.op("Equal", {taken, g.constant(Tensor::scalar<std::int32_t>(i))}, {});
    TROUPE_TRY(g.set_input_grad(i, g.slot(g.op("Switch", {dy, here}, {}), 1)));
  }
  return {};
}

} // namespace troupe::autodiff
