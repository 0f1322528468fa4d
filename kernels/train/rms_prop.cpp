// RMSProp (Hinton, 2012):  ms is a running mean of grad^2, mom the step with momentum:
// mom = momentum * mom + lr * grad / sqrt(ms + epsilon); var -= mom. Centered takes the square of
// the mean gradient mg away from ms.
#include "kernels/gpu/shared.hpp"
#include "kernels/train/internal/gpu_kernels.hpp"
#include "kernels/train/internal/rule.hpp"

namespace troupe::train_rms_prop {
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

Status rms_prop_on_gpu(KernelContext& c) {
  return train::update_locked(
      c, {.variables = 3, .gradient = 7}, [&](std::span<Tensor* const> values) -> Status {
        const std::int64_t n = values[0]->num_elements();
        if (n == 0)
          return {};
        return gpu::launch(c, gpu::kernels::rms_prop, values[0]->dtype(), gpu::over(n),
                           values[0]->mutable_raw(), values[1]->mutable_raw(),
                           values[2]->mutable_raw(), c.input(3).raw(), c.input(4).raw(),
                           c.input(5).raw(), c.input(6).raw(), c.input(7).raw(), n);
      });
}

constexpr train::Rule rms_prop{
    .name = "RMSProp",
    .variables = "var ms mom",
    .numbers = "lr rho momentum epsilon grad",
    .sparse_numbers = "lr rho momentum epsilon grad",
    .find = train::find_update<RmsProp, 3, train::RuleTypes::all>,
    .doc = "ms = rho * ms + (1 - rho) * grad^2; mom = momentum * mom + lr * grad / sqrt(ms + "
           "epsilon); var -= mom.",
    .dense_on_gpu = rms_prop_on_gpu,
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

void register_ops(OpLibrary& library) {
  train::add_rule<rms_prop>(library);
  train::add_rule<centered>(library);
}

} // namespace troupe::train_rms_prop
