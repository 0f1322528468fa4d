// Elementwise kernels around kernels/arith: shapes, buffers and threads; the arithmetic itself is
// named by an enumerator.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::math {

/// Nanoseconds per element, about, for splitting over threads.
inline constexpr double cheap = 0.2;  ///< bound by memory
inline constexpr double moderate = 1; ///< a division, a root
inline constexpr double costly = 3;   ///< exp, log and the like
constexpr double nanoseconds(arith::Cost cost) {
  return cost == arith::Cost::costly ? costly : cost == arith::Cost::moderate ? moderate : cheap;
}

/// Output 0 = op(input 0), in input 0's buffer where that is free.
Status unary(KernelContext& c, arith::UnaryOp op);

/// Output 0 = gradient of an op whose forward output is input 0 and whose output's gradient is
/// input 1, with as many elements. INVALID_ARGUMENT for two different numbers of elements.
Status unary_grad(KernelContext& c, arith::GradOp op);

/// Output 0 = op(input 0, input 1) with broadcasting, in the buffer of an input where one is free.
/// INVALID_ARGUMENT "Incompatible shapes: [2] vs. [3]", "Integer division by zero".
Status binary(KernelContext& c, arith::BinaryOp op);

/// The same as kernels.
template <arith::UnaryOp op>
Status unary(KernelContext& c) {
  return unary(c, op);
}
template <arith::GradOp op>
Status unary_grad(KernelContext& c) {
  return unary_grad(c, op);
}
template <arith::BinaryOp op>
Status binary(KernelContext& c) {
  return binary(c, op);
}

/// The same for any kernel, over `shape`, which the inputs' shapes broadcast to.
Status run_binary(KernelContext& c, const arith::BinaryKernel& kernel, const Shape& shape,
                  double cost, const char* domain_error);

/// Makes output 0, of `shape`: in the memory of the first of the inputs `from`, all of that shape,
/// that nobody else holds, or new. Makes no copy of a tensor: for kernels so small that it counts.
Status make_output(KernelContext& c, std::initializer_list<int> from, const Shape& shape);

// ---- the same for GPUs

Status unary_on_gpu(KernelContext& c, arith::UnaryOp op);
/// dy and x: the inputs' numbers.
Status unary_grad_on_gpu(KernelContext& c, arith::GradOp op, int dy, int x);
Status binary_on_gpu(KernelContext& c, arith::BinaryOp op);
template <arith::UnaryOp op>
Status unary_on_gpu(KernelContext& c) {
  return unary_on_gpu(c, op);
}
/// Of an op as unary_grad's: the value comes first.
template <arith::GradOp op>
Status unary_grad_on_gpu(KernelContext& c) {
  return unary_grad_on_gpu(c, op, 1, 0);
}
template <arith::BinaryOp op>
Status binary_on_gpu(KernelContext& c) {
  return binary_on_gpu(c, op);
}
/// z = op(a, b) by a plan of two inputs, a and b of z's dtype.
Status binary_on_gpu(KernelContext& c, arith::BinaryOp op, const arith::BroadcastPlan& plan,
                     const void* a, const void* b, Tensor& z);
/// variable = op(variable, value), of one shape, in place.
Status apply_on_gpu(KernelContext& c, arith::BinaryOp op, Tensor& variable, const Tensor& value);
/// Output 0 = condition ? input 1 : input 2, which broadcast to `shape`; input 0 is read as of the
/// shape `condition`.
Status select_on_gpu(KernelContext& c, const Shape& condition, const Shape& shape);
/// is_truncated: from float to the upper halves, bfloat16. dropped_bits: of floats and doubles,
/// cleared before they are rounded.
Status cast_on_gpu(KernelContext& c, bool is_truncated, int dropped_bits);
/// sum = the sum of at least two arrays of its shape; the first may be its own memory.
Status add_n_on_gpu(KernelContext& c, std::span<const void* const> arrays, Tensor& sum);
Status clip_on_gpu(KernelContext& c);
/// A kernel of the function for the dtypes that GPUs compute it in.
KernelOptions for_gpu(arith::UnaryOp op);
KernelOptions for_gpu(arith::GradOp op);
KernelOptions for_gpu(arith::BinaryOp op);

/// A plan for two shapes. UNIMPLEMENTED when more than eight dimensions are left after merging.
Result<arith::BroadcastPlan> broadcast_plan(std::initializer_list<const Shape*> shapes);

/// A kernel for attr T in `types`, as far as the op allows them.
KernelOptions for_types(std::vector<DType> types);
/// A kernel for every dtype that has the function.
template <class Op>
KernelOptions for_types_of(Op op) {
  return for_types(arith::dtypes_of(op));
}

} // namespace troupe::math
