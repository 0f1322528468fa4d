// ApplyGradientDescent:  var -= alpha * delta.
#include "kernels/arith/lookup.hpp"
#include "kernels/train/internal/update.hpp"

namespace troupe {
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

} // namespace

void register_train_gradient_descent(OpLibrary& library) {
  library.op("ApplyGradientDescent")
      .input("var: Ref(T); alpha: T; delta: T")
      .output("out: Ref(T)")
      .attr(train::any_number)
      .attr("use_locking: bool = false")
      .roles(Role::side_effect)
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute, train::kernel_options())
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
      .doc("var -= alpha * delta.");
}

} // namespace troupe
