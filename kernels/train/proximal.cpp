// Proximal updates (Duchi and Singer, 2009):  a step of gradient descent or Adagrad, then towards
// zero by the l1 and l2 regularisation: sign(p) * max(|p| - rate * l1, 0) / (1 + rate * l2).
#include "core/base/strings.hpp"
#include "kernels/train/internal/rule.hpp"

namespace troupe::train_proximal {
namespace {

template <class T>
T shrink(T p, T rate, T l1, T l2) {
  if (l1 > T(0))
    p = train::sign(p) * train::larger(train::magnitude(p) - rate * l1, T(0));
  return p / (T(1) + l2 * rate);
}

template <class T>
struct GradientDescent {
  const T alpha, l1, l2;
  explicit GradientDescent(const train::Numbers& n)
      : alpha(n.get<T>(0)), l1(n.get<T>(1)), l2(n.get<T>(2)) {}
  void operator()(T& var, T grad) const { var = shrink(var - grad * alpha, alpha, l1, l2); }
};

template <class T>
struct Adagrad {
  const T lr, l1, l2;
  explicit Adagrad(const train::Numbers& n) : lr(n.get<T>(0)), l1(n.get<T>(1)), l2(n.get<T>(2)) {}
  void operator()(T& var, T& accum, T grad) const {
    accum += grad * grad;
    const T rate = lr / train::root(accum);
    var = shrink(var - grad * rate, rate, l1, l2);
  }
};

Status check_adagrad(const KernelContext& c, bool) {
  constexpr int lr = 2, l1 = 3, l2 = 4;
  TROUPE_TRY(train::check_scalar(c, lr, "positive", [](double x) { return x > 0; }));
  for (int i : {l1, l2})
    TROUPE_TRY(train::check_scalar(c, i, "non-negative", [](double x) { return x >= 0; }));
  return {};
}

constexpr train::Rule descent{
    .name = "ProximalGradientDescent",
    .variables = "var",
    .numbers = "alpha l1 l2 delta",
    .sparse_numbers = "alpha l1 l2 grad",
    .find = train::find_update<GradientDescent, 1, train::RuleTypes::floats>,
    .doc = "A step of gradient descent, then one towards zero by l1 and l2 regularisation.",
    .rows_have_elements = true,
};
constexpr train::Rule adagrad{
    .name = "ProximalAdagrad",
    .variables = "var accum",
    .numbers = "lr l1 l2 grad",
    .sparse_numbers = "lr l1 l2 grad",
    .find = train::find_update<Adagrad, 2, train::RuleTypes::floats>,
    .doc = "A step of Adagrad, then one towards zero by l1 and l2 regularisation.",
    .check = check_adagrad,
    .rows_have_elements = true,
};

} // namespace

void register_ops(OpLibrary& library) {
  train::add_rule<descent>(library);
  train::add_rule<adagrad>(library);
}

} // namespace troupe::train_proximal
