// ApplyMomentum:  accum = accum * momentum + grad; var -= lr * accum, with Nesterov's look ahead
// var -= lr * (grad + momentum * accum). Keras scales first: accum = accum * momentum - lr * grad;
// var += accum, or var += accum * momentum - lr * grad.
#include <algorithm>

#include "kernels/arith/lookup.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/train/internal/gpu_kernels.hpp"
#include "kernels/train/internal/update.hpp"

namespace troupe::train_momentum {
namespace {

constexpr train::Inputs inputs{.variables = 2, .gradient = 3};

Status infer_shape(ShapeContext& c) {
  return train::infer_shape(c, inputs);
}

Status compute(KernelContext& c) {
  const Tensor& grad = c.input(3);
  const bool nesterov = c.attrs().get_or("use_nesterov", false);
  TROUPE_ASSIGN(const auto apply, arith::momentum(grad.dtype()));
  return train::update(c, inputs, 0.6,
                       [&](std::span<void* const> values, std::int64_t begin, std::int64_t end) {
                         apply(values[0], values[1], train::scalar(c, 2), grad.raw(),
                               train::scalar(c, 4), nesterov, begin, end);
                       });
}

// Keras' rule is the other one with a learning rate of -1 and -lr * grad for the gradient, which is
// made block by block.
struct Keras {
  arith::BinaryKernel multiply;
  arith::UnaryKernel negate;
  arith::MomentumFn apply;
  bool nesterov;
};

void apply_keras(const KernelContext& c, const Keras& rule, std::span<void* const> values,
                 std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t block = 2048, largest = 16; // bytes of an element
  const std::int64_t size = rule.multiply.in_size;
  alignas(64) std::byte scaled[block * largest];
  alignas(largest) std::byte minus_lr[largest];
  rule.negate(c.input(2).raw(), minus_lr, 0, 1);
  const auto* grad = static_cast<const std::byte*>(c.input(3).raw());
  for (std::int64_t at = begin; at < end; at += block) {
    const std::int64_t n = std::min(block, end - at);
    rule.multiply.row(grad + at * size, minus_lr, scaled, n, arith::RowMode::right_scalar);
    rule.apply(static_cast<std::byte*>(values[0]) + at * size,
               static_cast<std::byte*>(values[1]) + at * size, {-1}, scaled, train::scalar(c, 4),
               rule.nesterov, 0, n);
  }
}

Status compute_keras(KernelContext& c) {
  const bool nesterov = c.attrs().get_or("use_nesterov", false);
  const DType dtype = c.input(3).dtype();
  TROUPE_ASSIGN(const auto multiply, arith::binary(arith::BinaryOp::mul, dtype));
  TROUPE_ASSIGN(const auto negate, arith::unary(arith::UnaryOp::neg, dtype));
  TROUPE_ASSIGN(const auto apply, arith::momentum(dtype));
  const Keras rule{multiply, negate, apply, nesterov};
  return train::update(c, inputs, 0.8,
                       [&](std::span<void* const> values, std::int64_t begin, std::int64_t end) {
                         apply_keras(c, rule, values, begin, end);
                       });
}

template <bool is_keras>
Status compute_on_gpu(KernelContext& c) {
  const bool nesterov = c.attrs().get_or("use_nesterov", false);
  return train::update_locked(c, inputs, [&](std::span<Tensor* const> values) -> Status {
    const std::int64_t n = values[0]->num_elements();
    if (n == 0)
      return {};
    return gpu::launch(c, gpu::kernels::momentum, values[0]->dtype(), gpu::over(n),
                       values[0]->mutable_raw(), values[1]->mutable_raw(), c.input(2).raw(),
                       c.input(3).raw(), c.input(4).raw(), nesterov, is_keras, n);
  });
}

constexpr auto flags = "use_locking: bool = false; use_nesterov: bool = false";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ApplyMomentum")
      .input("var: Ref(T); accum: Ref(T); lr: T; grad: T; momentum: T")
      .output("out: Ref(T)")
      .attr(train::any_number)
      .attr(flags)
      .roles(Role::side_effect)
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute, train::kernel_options())
      .gpu_kernel(compute_on_gpu<false>, {.types = {{"T", gpu::floats()}}})
      .doc("accum = accum * momentum + grad; var -= lr * accum.");
  library.op("ResourceApplyMomentum")
      .input("var: resource; accum: resource; lr: T; grad: T; momentum: T")
      .attr(train::any_number)
      .attr(flags)
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute, train::kernel_options())
      .gpu_kernel(compute_on_gpu<false>, {.types = {{"T", gpu::floats()}}})
      .doc("accum = accum * momentum + grad; var -= lr * accum.");
  library.op("ResourceApplyKerasMomentum")
      .input("var: resource; accum: resource; lr: T; grad: T; momentum: T")
      .attr(train::any_number)
      .attr(flags)
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute_keras, train::kernel_options())
      .gpu_kernel(compute_on_gpu<true>, {.types = {{"T", gpu::floats()}}})
      .doc("accum = accum * momentum - lr * grad; var += accum.");
}

} // namespace troupe::train_momentum
