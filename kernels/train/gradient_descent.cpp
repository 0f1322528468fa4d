// ApplyGradientDescent:  var -= alpha * delta.
#include "kernels/arith/lookup.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/train/internal/gpu_kernels.hpp"
#include "kernels/train/internal/update.hpp"

namespace troupe::train_gradient_descent {
namespace {

constexpr train::Inputs inputs{.variables = 1, .gradient = 2};

Status infer_shape(ShapeContext& c) {
  return train::infer_shape(c, inputs);
}

Status compute(KernelContext& c) {
  const Tensor& delta = c.input(2);
  TROUPE_ASSIGN(const auto apply, arith::gradient_descent(delta.dtype()));
  return train::update(c, inputs, 0.4,
                       [&](std::span<void* const> values, std::int64_t begin, std::int64_t end) {
                         apply(values[0], train::scalar(c, 1), delta.raw(), begin, end);
                       });
}

Status compute_on_gpu(KernelContext& c) {
  return train::update_locked(c, inputs, [&](std::span<Tensor* const> values) -> Status {
    const std::int64_t n = values[0]->num_elements();
    if (n == 0)
      return {};
    return gpu::launch(c, gpu::kernels::gradient_descent, values[0]->dtype(), gpu::over(n),
                       values[0]->mutable_raw(), c.input(1).raw(), c.input(2).raw(), n);
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ApplyGradientDescent")
      .input("var: Ref(T); alpha: T; delta: T")
      .output("out: Ref(T)")
      .attr(train::any_number)
      .attr("use_locking: bool = false")
      .roles(Role::side_effect)
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute, train::kernel_options())
      .gpu_kernel(compute_on_gpu, {.types = {{"T", gpu::floats()}}})
      .doc("var -= alpha * delta.");
  library.op("ResourceApplyGradientDescent")
      .input("var: resource; alpha: T; delta: T")
      .attr(train::any_number)
      .attr("use_locking: bool = false")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute, train::kernel_options())
      .gpu_kernel(compute_on_gpu, {.types = {{"T", gpu::floats()}}})
      .doc("var -= alpha * delta.");
}

} // namespace troupe::train_gradient_descent
