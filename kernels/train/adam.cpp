// ApplyAdam (Kingma and Ba, 2015):  m and v are running means of the gradient and of its square;
// var -= lr * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon).
#include "kernels/arith/lookup.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/train/internal/gpu_kernels.hpp"
#include "kernels/train/internal/update.hpp"

namespace troupe::train_adam {
namespace {

constexpr train::Inputs inputs{.variables = 3, .gradient = 9, .adam_wording = true};

Status infer_shape(ShapeContext& c) {
  return train::infer_shape(c, inputs);
}

Status compute(KernelContext& c) {
  const Tensor& grad = c.input(9);
  const bool nesterov = c.attrs().get_or("use_nesterov", false);
  TROUPE_ASSIGN(const auto apply, arith::adam(grad.dtype()));
  return train::update(
      c, inputs, 1.5, [&](std::span<void* const> values, std::int64_t begin, std::int64_t end) {
        const arith::AdamRates rates{
            .beta1_power = train::scalar(c, 3),
            .beta2_power = train::scalar(c, 4),
            .lr = train::scalar(c, 5),
            .beta1 = train::scalar(c, 6),
            .beta2 = train::scalar(c, 7),
            .epsilon = train::scalar(c, 8),
        };
        apply(values[0], values[1], values[2], rates, grad.raw(), nesterov, begin, end);
      });
}

Status compute_on_gpu(KernelContext& c) {
  const bool nesterov = c.attrs().get_or("use_nesterov", false);
  return train::update_locked(c, inputs, [&](std::span<Tensor* const> values) -> Status {
    const std::int64_t n = values[0]->num_elements();
    if (n == 0)
      return {};
    return gpu::launch(c, gpu::kernels::adam, values[0]->dtype(), gpu::over(n),
                       values[0]->mutable_raw(), values[1]->mutable_raw(), values[2]->mutable_raw(),
                       c.input(3).raw(), c.input(4).raw(), c.input(5).raw(), c.input(6).raw(),
                       c.input(7).raw(), c.input(8).raw(), c.input(9).raw(), nesterov, n);
  });
}

constexpr auto flags = "use_locking: bool = false; use_nesterov: bool = false";
constexpr auto rates =
    "beta1_power: T; beta2_power: T; lr: T; beta1: T; beta2: T; epsilon: T; grad: T";
constexpr auto doc = "One step of Adam; beta1_power and beta2_power are the betas to the power of "
                     "the step's number.";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ApplyAdam")
      .input("var: Ref(T); m: Ref(T); v: Ref(T)")
      .input(rates)
      .output("out: Ref(T)")
      .attr(train::any_number)
      .attr(flags)
      .roles(Role::side_effect)
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute, train::kernel_options())
      .gpu_kernel(compute_on_gpu, {.types = {{"T", gpu::floats()}}})
      .doc(doc);
  library.op("ResourceApplyAdam")
      .input("var: resource; m: resource; v: resource")
      .input(rates)
      .attr(train::any_number)
      .attr(flags)
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute, train::kernel_options())
      .gpu_kernel(compute_on_gpu, {.types = {{"T", gpu::floats()}}})
      .doc(doc);
}

} // namespace troupe::train_adam
