// Adadelta (Zeiler, 2012):  accum is a running mean of grad^2, accum_update one of update^2, where
// update = sqrt(accum_update + epsilon) / sqrt(accum + epsilon) * grad; var -= lr * update.
#include "kernels/train/internal/rule.hpp"

namespace troupe::train_adadelta {
namespace {

template <class T>
struct Adadelta {
  const T lr, rho, epsilon;
  explicit Adadelta(const train::Numbers& n)
      : lr(n.get<T>(0)), rho(n.get<T>(1)), epsilon(n.get<T>(2)) {}
  void operator()(T& var, T& accum, T& accum_update, T grad) const {
    accum = accum * rho + grad * grad * (T(1) - rho);
    const T update =
        train::root(accum_update + epsilon) * (T(1) / train::root(accum + epsilon)) * grad;
    var -= update * lr;
    accum_update = accum_update * rho + update * update * (T(1) - rho);
  }
};

constexpr train::Rule adadelta{
    .name = "Adadelta",
    .variables = "var accum accum_update",
    .numbers = "lr rho epsilon grad",
    .sparse_numbers = "lr rho epsilon grad",
    .find = train::find_update<Adadelta, 3, train::RuleTypes::all>,
    .doc = "accum = rho * accum + (1 - rho) * grad^2; update = sqrt(accum_update + epsilon) / "
           "sqrt(accum + epsilon) * grad; accum_update = rho * accum_update + (1 - rho) * "
           "update^2; var -= lr * update.",
};

} // namespace

void register_ops(OpLibrary& library) {
  train::add_rule<adadelta>(library);
}

} // namespace troupe::train_adadelta
