// AddSign and PowerSign (Bello et al., 2017):  m is a running mean of the gradient; the step is
// larger where gradient and mean agree in sign.
#include "kernels/train/internal/rule.hpp"

namespace troupe::train_sign {
namespace {

template <class T>
struct AddSign {
  const T lr, alpha, sign_decay, beta;
  explicit AddSign(const train::Numbers& n)
      : lr(n.get<T>(0)), alpha(n.get<T>(1)), sign_decay(n.get<T>(2)), beta(n.get<T>(3)) {}
  void operator()(T& var, T& m, T grad) const {
    m = m * beta + grad * (T(1) - beta);
    const T agree = train::sign(grad) * train::sign(m);
    var -= lr * (alpha + sign_decay * agree) * grad;
  }
};

template <class T>
struct PowerSign {
  const T lr, logbase, sign_decay, beta;
  explicit PowerSign(const train::Numbers& n)
      : lr(n.get<T>(0)), logbase(n.get<T>(1)), sign_decay(n.get<T>(2)), beta(n.get<T>(3)) {}
  void operator()(T& var, T& m, T grad) const {
    m = m * beta + grad * (T(1) - beta);
    const T agree = train::sign(grad) * train::sign(m);
    var -= lr * train::exponential(logbase * sign_decay * agree) * grad;
  }
};

constexpr train::Rule add_sign{
    .name = "AddSign",
    .variables = "var m",
    .numbers = "lr alpha sign_decay beta grad",
    .find = train::find_update<AddSign, 2, train::RuleTypes::reals>,
    .doc = "m = beta * m + (1 - beta) * grad; var -= lr * (alpha + sign_decay * sign(grad) * "
           "sign(m)) * grad.",
};
constexpr train::Rule power_sign{
    .name = "PowerSign",
    .variables = "var m",
    .numbers = "lr logbase sign_decay beta grad",
    .find = train::find_update<PowerSign, 2, train::RuleTypes::reals>,
    .doc = "m = beta * m + (1 - beta) * grad; var -= lr * exp(logbase * sign_decay * sign(grad) * "
           "sign(m)) * grad.",
};

} // namespace

void register_ops(OpLibrary& library) {
  train::add_rule<add_sign>(library);
  train::add_rule<power_sign>(library);
}

} // namespace troupe::train_sign
