// Momentum on some rows of the variables; the formulas are those of momentum.cpp.
#include "kernels/train/internal/rule.hpp"

namespace troupe::train_momentum_rows {
namespace {

template <class T>
struct Momentum {
  const T lr, momentum;
  const bool nesterov;
  explicit Momentum(const train::Numbers& n)
      : lr(n.get<T>(0)), momentum(n.get<T>(1)), nesterov(n.flags[0]) {}
  void operator()(T& var, T& accum, T grad) const {
    accum = accum * momentum + grad;
    if (nesterov)
      var -= grad * lr + accum * momentum * lr;
    else
      var -= accum * lr;
  }
};

template <class T>
struct KerasMomentum {
  const T lr, momentum;
  const bool nesterov;
  explicit KerasMomentum(const train::Numbers& n)
      : lr(n.get<T>(0)), momentum(n.get<T>(1)), nesterov(n.flags[0]) {}
  void operator()(T& var, T& accum, T grad) const {
    accum = accum * momentum - grad * lr;
    if (nesterov)
      var += accum * momentum - grad * lr;
    else
      var += accum;
  }
};

constexpr auto nesterov = "use_nesterov: bool = false";
constexpr train::Rule momentum{
    .name = "Momentum",
    .variables = "var accum",
    .sparse_numbers = "lr grad momentum",
    .flags = nesterov,
    .find = train::find_update<Momentum, 2, train::RuleTypes::all>,
    .doc = "accum = accum * momentum + grad; var -= lr * accum, in the rows that indices name.",
    .is_dense = false,
    .adam_wording = true,
};
constexpr train::Rule keras{
    .name = "KerasMomentum",
    .variables = "var accum",
    .sparse_numbers = "lr grad momentum",
    .flags = nesterov,
    .find = train::find_update<KerasMomentum, 2, train::RuleTypes::all>,
    .doc = "accum = accum * momentum - lr * grad; var += accum, in the rows that indices name.",
    .is_dense = false,
    .has_refs = false,
};

} // namespace

void register_ops(OpLibrary& library) {
  train::add_rule<momentum>(library);
  train::add_rule<keras>(library);
}

} // namespace troupe::train_momentum_rows
