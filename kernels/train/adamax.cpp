// Kin of Adam (Kingma and Ba, 2015): AdaMax, whose second moment is a maximum, and AMSGrad (Reddi
// et al., 2018), which divides by the largest second moment so far.
#include "kernels/train/internal/rule.hpp"

namespace troupe::train_adamax {
namespace {

template <class T>
struct AdaMax {
  const T beta1_power, lr, beta1, beta2, epsilon;
  explicit AdaMax(const train::Numbers& n)
      : beta1_power(n.get<T>(0)), lr(n.get<T>(1)), beta1(n.get<T>(2)), beta2(n.get<T>(3)),
        epsilon(n.get<T>(4)) {}
  void operator()(T& var, T& m, T& v, T grad) const {
    m += (grad - m) * (T(1) - beta1);
    v = train::larger(beta2 * v, train::magnitude(grad));
    var -= lr / (T(1) - beta1_power) * (m / (v + epsilon));
  }
};

template <class T>
struct Amsgrad {
  const T alpha, beta1, beta2, epsilon;
  explicit Amsgrad(const train::Numbers& n)
      : alpha(n.get<T>(2) * train::root(T(1) - n.get<T>(1)) / (T(1) - n.get<T>(0))),
        beta1(n.get<T>(3)), beta2(n.get<T>(4)), epsilon(n.get<T>(5)) {}
  void operator()(T& var, T& m, T& v, T& vhat, T grad) const {
    m += (grad - m) * (T(1) - beta1);
    v += (grad * grad - v) * (T(1) - beta2);
    vhat = train::larger(vhat, v);
    var -= m * alpha / (train::root(vhat) + epsilon);
  }
};

constexpr train::Rule adamax{
    .name = "AdaMax",
    .variables = "var m v",
    .numbers = "beta1_power lr beta1 beta2 epsilon grad",
    .find = train::find_update<AdaMax, 3, train::RuleTypes::reals>,
    .doc = "m = beta1 * m + (1 - beta1) * grad; v = max(beta2 * v, abs(grad)); var -= lr / (1 - "
           "beta1_power) * m / (v + epsilon).",
    .adam_wording = true,
};
constexpr train::Rule amsgrad{
    .name = "AdamWithAmsgrad",
    .variables = "var m v vhat",
    .numbers = "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    .find = train::find_update<Amsgrad, 4, train::RuleTypes::reals>,
    .doc = "One step of Adam that divides by the largest second moment so far, vhat.",
    .has_refs = false,
};

} // namespace

void register_ops(OpLibrary& library) {
  train::add_rule<adamax>(library);
  train::add_rule<amsgrad>(library);
}

} // namespace troupe::train_adamax
