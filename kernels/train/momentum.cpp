// ApplyMomentum:  accum = accum * momentum + grad; var -= lr * accum, with Nesterov's look ahead
// var -= lr * (grad + momentum * accum). Keras scales first: accum = accum * momentum - lr * grad;
// var += accum, or var += accum * momentum - lr * grad.
#include <algorithm>

#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/optimizer.hpp"
#include "kernels/train/internal/update.hpp"

namespace troupe {
namespace {

constexpr train::Inputs inputs{.variables = 2, .gradient = 3};

Status infer_shape(ShapeContext& c) {
  return train::infer_shape(c, inputs);
}

Status compute(KernelContext& c) {
  const Tensor& grad = c.input(3);
  const bool nesterov = c.attrs().get_or("use_nesterov", false);
  return train::update(c, inputs, 0.6,
                       [&](std::span<void* const> values, std::int64_t begin, std::int64_t end) {
                         arith::apply_momentum(static_cast<arith::Type>(grad.dtype()), values[0],
                                               values[1], train::scalar(c, 2), grad.raw(),
                                               train::scalar(c, 4), nesterov, begin, end);
                       });
}

// Keras' rule is the other one with a learning rate of -1 and -lr * grad for the gradient, which is
// made block by block.
template <class T>
void apply_keras(const KernelContext& c, std::span<void* const> values, bool nesterov,
                 std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t block = 2048;
  constexpr auto type = static_cast<arith::Type>(dtype_of<T>);
  const arith::BinaryKernel multiply = arith::binary(arith::BinaryOp::mul, type);
  const T* grad = c.input(3).data<T>().data();
  const T minus_lr = -c.input(2).value<T>();
  T scaled[block];
  for (std::int64_t at = begin; at < end; at += block) {
    const std::int64_t n = std::min(block, end - at);
    multiply.row(grad + at, &minus_lr, scaled, n, arith::RowMode::right_scalar);
    arith::apply_momentum(type, static_cast<T*>(values[0]) + at, static_cast<T*>(values[1]) + at,
                          -1, scaled, train::scalar(c, 4), nesterov, 0, n);
  }
}

Status compute_keras(KernelContext& c) {
  const bool nesterov = c.attrs().get_or("use_nesterov", false);
  const bool single = c.input(3).dtype() == DType::float32;
  return train::update(c, inputs, 0.8,
                       [&](std::span<void* const> values, std::int64_t begin, std::int64_t end) {
                         single ? apply_keras<float>(c, values, nesterov, begin, end)
                                : apply_keras<double>(c, values, nesterov, begin, end);
                       });
}

constexpr auto flags = "use_locking: bool = false; use_nesterov: bool = false";

} // namespace

void register_train_momentum(OpLibrary& library) {
  library.op("ApplyMomentum")
      .input("var: Ref(T); accum: Ref(T); lr: T; grad: T; momentum: T")
      .output("out: Ref(T)")
      .attr(train::any_number)
      .attr(flags)
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute, train::kernel_options())
      .doc("accum = accum * momentum + grad; var -= lr * accum.");
  library.op("ResourceApplyMomentum")
      .input("var: resource; accum: resource; lr: T; grad: T; momentum: T")
      .attr(train::any_number)
      .attr(flags)
      .stateful()
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute, train::kernel_options())
      .doc("accum = accum * momentum + grad; var -= lr * accum.");
  library.op("ResourceApplyKerasMomentum")
      .input("var: resource; accum: resource; lr: T; grad: T; momentum: T")
      .attr(train::any_number)
      .attr(flags)
      .stateful()
      .shape_fn(infer_shape)
      .not_differentiable(train::in_place)
      .cpu_kernel(compute_keras, train::kernel_options())
      .doc("accum = accum * momentum - lr * grad; var += accum.");
}

} // namespace troupe
