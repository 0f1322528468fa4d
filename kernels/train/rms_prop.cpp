// RMSProp (Hinton, 2012):  ms is a running mean of grad^2, mom the step with momentum:
// mom = momentum * mom + lr * grad / sqrt(ms + epsilon); var -= mom. Centered takes the square of
// the mean gradient mg away from ms.
#include "kernels/train/internal/rule.hpp"

namespace troupe {
namespace {

template <class T>
struct RmsProp {
  const T lr, rho, momentum, epsilon;
  explicit RmsProp(const train::Numbers& n)
      : lr(n.get<T>(0)), rho(n.get<T>(1)), momentum(n.get<T>(2)), epsilon(n.get<T>(3)) {}
  void operator()(T& var, T& ms, T& mom, T grad) const {
    ms += (grad * grad - ms) * (T(1) - rho);
    mom = mom * momentum + grad * lr / train::root(ms + epsilon);
    var -= mom;
  }
};

template <class T>
struct CenteredRmsProp {
  const T lr, rho, momentum, epsilon;
  explicit CenteredRmsProp(const train::Numbers& n)
      : lr(n.get<T>(0)), rho(n.get<T>(1)), momentum(n.get<T>(2)), epsilon(n.get<T>(3)) {}
  void operator()(T& var, T& mg, T& ms, T& mom, T grad) const {
    ms += (grad * grad - ms) * (T(1) - rho);
    mg += (grad - mg) * (T(1) - rho);
    const T spread = ms - mg * mg + epsilon;
    mom = mom * momentum + grad * lr / train::root(spread);
    var -= mom;
  }
};

constexpr train::Rule rms_prop{
    .name = "RMSProp",
    .variables = "var ms mom",
    .numbers = "lr rho momentum epsilon grad",
    .sparse_numbers = "lr rho momentum epsilon grad",
    .find = train::find_update<RmsProp, 3, train::RuleTypes::all>,
    .doc = "ms = rho * ms + (1 - rho) * grad^2; mom = momentum * mom + lr * grad / sqrt(ms + "
           "epsilon); var -= mom.",
};
constexpr train::Rule centered{
    .name = "CenteredRMSProp",
    .variables = "var mg ms mom",
    .numbers = "lr rho momentum epsilon grad",
    .sparse_numbers = "lr rho momentum epsilon grad",
    .find = train::find_update<CenteredRmsProp, 4, train::RuleTypes::all>,
    .doc = "As RMSProp, with the variance ms - mg^2 in place of the second moment ms.",
};

} // namespace

void register_train_rms_prop(OpLibrary& library) {
  train::add_rule<rms_prop>(library);
  train::add_rule<centered>(library);
}

} // namespace troupe
