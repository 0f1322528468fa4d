// Adagrad (Duchi et al., 2011):  accum += grad^2; var -= lr * grad / sqrt(accum); with V2's epsilon
// var -= lr * grad / (sqrt(accum) + epsilon). AdagradDA averages the gradients instead.
#include "kernels/gpu/shared.hpp"
#include "kernels/train/internal/gpu_kernels.hpp"
#include "kernels/train/internal/rule.hpp"

namespace troupe::train_adagrad {
namespace {

template <class T>
struct Adagrad {
  const T lr;
  const bool update_slots;
  explicit Adagrad(const train::Numbers& n) : lr(n.get<T>(0)), update_slots(n.flags[0]) {}
  void operator()(T& var, T& accum, T grad) const {
    if (update_slots)
      accum += grad * grad;
    var -= grad * lr / train::root(accum);
  }
};

template <class T>
struct AdagradV2 {
  const T lr, epsilon;
  const bool update_slots;
  explicit AdagradV2(const train::Numbers& n)
      : lr(n.get<T>(0)), epsilon(n.get<T>(1)), update_slots(n.flags[0]) {}
  void operator()(T& var, T& accum, T grad) const {
    if (update_slots)
      accum += grad * grad;
    var -= grad * lr / (train::root(accum) + epsilon);
  }
};

template <class T>
struct AdagradDA {
  const T lr, l1, l2, global_step;
  explicit AdagradDA(const train::Numbers& n)
      : lr(n.get<T>(0)), l1(n.get<T>(1)), l2(n.get<T>(2)), global_step(n.get<T>(3)) {}
  void operator()(T& var, T& sum, T& squares, T grad) const {
    sum += grad;
    squares += grad * grad;
    T shrunk = sum;
    if (l1 > T(0))
      shrunk = train::sign(sum) * train::larger(train::magnitude(sum) - l1 * global_step, T(0));
    var = -lr * shrunk / (l2 * global_step * lr + train::root(squares));
  }
};

/// epsilon: the input's number; 0: there is none.
Status adagrad_on_gpu(KernelContext& c, int epsilon) {
  const int gradient = epsilon == 0 ? 3 : 4;
  const train::Inputs inputs{.variables = 2, .gradient = gradient};
  const bool update_slots = c.attrs().get_or("update_slots", true);
  return train::update_locked(c, inputs, [&](std::span<Tensor* const> values) -> Status {
    const std::int64_t n = values[0]->num_elements();
    if (n == 0)
      return {};
    return gpu::launch(c, gpu::kernels::adagrad, values[0]->dtype(), gpu::over(n),
                       values[0]->mutable_raw(), values[1]->mutable_raw(), c.input(2).raw(),
                       epsilon == 0 ? nullptr : c.input(epsilon).raw(), c.input(gradient).raw(),
                       update_slots, n);
  });
}

using train::find_update;
using train::RuleTypes;

constexpr auto slots = "update_slots: bool = true";
constexpr train::Rule adagrad{
    .name = "Adagrad",
    .variables = "var accum",
    .numbers = "lr grad",
    .sparse_numbers = "lr grad",
    .flags = slots,
    .find = find_update<Adagrad, 2, RuleTypes::all>,
    .doc = "accum += grad * grad; var -= lr * grad / sqrt(accum).",
    .rows_have_elements = true,
    .rank_of_grad = true,
    .dense_on_gpu = [](KernelContext& c) { return adagrad_on_gpu(c, 0); },
};
constexpr train::Rule adagrad_v2{
    .name = "AdagradV2",
    .variables = "var accum",
    .numbers = "lr epsilon grad",
    .sparse_numbers = "lr epsilon grad",
    .flags = slots,
    .find = find_update<AdagradV2, 2, RuleTypes::all>,
    .doc = "accum += grad * grad; var -= lr * grad / (sqrt(accum) + epsilon).",
    .rows_have_elements = true,
    .rank_of_grad = true,
    .dense_on_gpu = [](KernelContext& c) { return adagrad_on_gpu(c, 3); },
};
constexpr train::Rule adagrad_da{
    .name = "AdagradDA",
    .variables = "var gradient_accumulator gradient_squared_accumulator",
    .numbers = "grad lr l1 l2 global_step",
    .sparse_numbers = "grad lr l1 l2 global_step",
    .find = find_update<AdagradDA, 3, RuleTypes::floats>,
    .doc = "One step of Adagrad by dual averaging, with l1 and l2 regularisation.",
    .rows_have_elements = true,
};

} // namespace

void register_ops(OpLibrary& library) {
  train::add_rule<adagrad>(library);
  train::add_rule<adagrad_v2>(library);
  train::add_rule<adagrad_da>(library);
}

} // namespace troupe::train_adagrad
