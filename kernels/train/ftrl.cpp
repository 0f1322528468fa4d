// Follow the regularised leader (McMahan et al., 2013):  linear collects the gradients, corrected
// for the step sizes accum^-lr_power / lr; var is what minimises their sum with l1 and l2.
#include "core/base/strings.hpp"
#include "kernels/train/internal/rule.hpp"

namespace troupe::train_ftrl {
namespace {

template <class T>
struct Ftrl {
  T lr, l1, l2, shrinkage = T(0), lr_power;
  bool by_lr;
  explicit Ftrl(const train::Numbers& n)
      : lr(n.get<T>(0)), l1(n.get<T>(1)), l2(n.get<T>(2)), lr_power(n.get<T>(3)),
        by_lr(n.flags[0]) {}
  T rate(T accum) const {
    return lr_power == T(-0.5f) ? train::root(accum) : train::power(accum, -lr_power);
  }
  void operator()(T& var, T& accum, T& linear, T grad) const {
    const T shrunk = grad + T(2) * shrinkage * var;
    const T new_accum = accum + grad * grad;
    const T sigma = rate(new_accum) - rate(accum);
    linear += by_lr ? shrunk * lr - sigma * var : shrunk - sigma / lr * var;
    const T bound = by_lr ? l1 * lr : l1;
    const T divisor = by_lr ? rate(new_accum) + T(2) * l2 * lr : rate(new_accum) / lr + T(2) * l2;
    var =
        train::magnitude(linear) > bound ? (bound * train::sign(linear) - linear) / divisor : T(0);
    accum = new_accum;
  }
};

/// With a shrinkage of the gradient by l2_shrinkage.
template <class T>
struct FtrlV2 : Ftrl<T> {
  explicit FtrlV2(const train::Numbers& n) : Ftrl<T>(n) {
    this->shrinkage = n.get<T>(3);
    this->lr_power = n.get<T>(4);
  }
};

/// Of the scalars, which are the last inputs: lr, l1, l2, perhaps l2_shrinkage, lr_power.
Status check(const KernelContext& c, bool sparse) {
  if (!sparse)
    return {};
  constexpr int lr = 5;
  const bool by_lr = c.attrs().get_or("multiply_linear_by_lr", false);
  if (const Status refused = train::check_scalar(
          c, lr, "positive", [&](double x) { return x > 0 || (x == 0 && by_lr); });
      !refused.ok())
    return invalid_argument(
        str_cat("lr is not a positive scalar (or zero if multiply_linear_by_lr is set): ",
                c.input(lr).shape()));
  for (int i = lr + 1; i + 1 < c.num_inputs(); ++i) // l1, l2, perhaps l2_shrinkage
    TROUPE_TRY(train::check_scalar(c, i, "non-negative", [](double x) { return x >= 0; }));
  return train::check_scalar(c, c.num_inputs() - 1, "non-positive",
                             [](double x) { return x <= 0; });
}

constexpr auto by_lr = "multiply_linear_by_lr: bool = false";
constexpr train::Rule ftrl{
    .name = "Ftrl",
    .variables = "var accum linear",
    .numbers = "grad lr l1 l2 lr_power",
    .sparse_numbers = "grad lr l1 l2 lr_power",
    .flags = by_lr,
    .find = train::find_update<Ftrl, 3, train::RuleTypes::reals>,
    .doc = "One step of FTRL-proximal with l1 and l2 regularisation.",
    .check = check,
    .rows_have_elements = true,
};
constexpr train::Rule ftrl_v2{
    .name = "FtrlV2",
    .variables = "var accum linear",
    .numbers = "grad lr l1 l2 l2_shrinkage lr_power",
    .sparse_numbers = "grad lr l1 l2 l2_shrinkage lr_power",
    .flags = by_lr,
    .find = train::find_update<FtrlV2, 3, train::RuleTypes::reals>,
    .doc = "One step of FTRL-proximal with l1 and l2 regularisation and shrinkage.",
    .check = check,
    .rows_have_elements = true,
};

} // namespace

void register_ops(OpLibrary& library) {
  train::add_rule<ftrl>(library);
  train::add_rule<ftrl_v2>(library);
}

} // namespace troupe::train_ftrl
