// Elementwise arithmetic: one input, two inputs with broadcasting, comparisons, gradients, choice,
// casts. Ranges [begin, end) are positions in the output. An output may be the same buffer as an
// input of the same size and shape.
#pragma once
#include "kernels/arith/broadcast.hpp"
#include "kernels/arith/types.hpp"

namespace troupe::arith {

enum class UnaryOp : int {
  // f32 f64 i32 i64
  neg,
  abs,
  sign,
  square,
  relu,
  relu6,
  // f32 f64
  sqrt,
  rsqrt,
  reciprocal,
  exp,
  expm1,
  log,
  log1p,
  tanh,
  sigmoid,
  sin,
  cos,
  floor,
  ceil,
  round, // half to even
  elu,
  softplus,
  erf,
  // f32 f64 -> boolean
  is_nan,
  is_inf,
  is_finite,
  // boolean
  logical_not,
};
inline constexpr int unary_op_count = static_cast<int>(UnaryOp::logical_not) + 1;

/// y[i] = op(x[i]) for i in [begin, end). x and y may be the same buffer where both have the same
/// element size. relu and relu6 keep NaN; sign(NaN) is NaN; exp, tanh, sigmoid, log are within 4
/// ulp of libm.
using UnaryFn = void (*)(const void* x, void* y, int64_t begin, int64_t end);

/// Gradients with respect to x, f32 and f64, and i32, i64 for relu and relu6. Named after the
/// forward op; what the second argument is stands behind each.
enum class GradOp : int {
  relu,       // x or y: dy times whether it is > 0
  relu6,      // x or y: dy times whether 0 < it < 6
  elu,        // y: y < 0 ? dy * (y + 1) : dy
  softplus,   // x: dy / (exp(-x) + 1)
  tanh,       // y: dy * (1 - y * y)
  sigmoid,    // y: dy * y * (1 - y)
  sqrt,       // y: dy * 0.5 / y, and 0 where dy is 0
  rsqrt,      // y: dy * -0.5 * y * y * y, and 0 where dy is 0
  reciprocal, // y: -dy * y * y, and 0 where dy is 0
};
inline constexpr int grad_op_count = static_cast<int>(GradOp::reciprocal) + 1;

/// dx[i] = dy[i] * op'(...) for i in [begin, end); dx may be dy or x_or_y.
using GradFn = void (*)(const void* dy, const void* x_or_y, void* dx, int64_t begin, int64_t end);

enum class BinaryOp : int {
  // f32 f64 i32 i64, and u8 i8 i16 u16 u32 u64 for all of them;
  // integers wrap round
  add,
  sub,
  mul,
  maximum,    // NaN if either is
  minimum,    // NaN if either is
  clip_above, // b < a ? b : a: NaN if a is, and a where b is
  clip_below, // a < b ? b : a
  // f32 f64 i32 i64
  squared_difference,
  floor_div,
  floor_mod,  // sign of the divisor, as in Python
  trunc_div,  // rounds toward zero; f32 and f64: trunc(a / b)
  trunc_mod,  // sign of the dividend; f32 and f64: fmod
  pow,        // integers: a negative exponent counts as division by zero
  div_no_nan, // f32 f64: 0 where b is 0
  mul_no_nan, // f32 f64: 0 where b is 0
  real_div,   // f32 f64
  atan2,      // f32 f64
  // boolean
  logical_and,
  logical_or,
  // any type (boolean too) -> boolean
  equal,
  not_equal,
  // any type but boolean -> boolean
  less,
  less_equal,
  greater,
  greater_equal,
};
inline constexpr int binary_op_count = static_cast<int>(BinaryOp::greater_equal) + 1;

/// What computes one row: n outputs, where each input is a row too or, by `mode`, a single element.
/// Returns false after an integer division by zero (the quotient counts as 0).
enum class RowMode : int { both_rows, left_scalar, right_scalar };
using BinaryRow = bool (*)(const void* a, const void* b, void* out, int64_t n, RowMode mode);

/// A binary operation on an element type. Empty (converts to false) where the type has no such
/// operation.
struct BinaryKernel {
  BinaryRow row = nullptr;
  int in_size = 0; // bytes of an input element
  int out_size = 0;

  explicit operator bool() const { return row != nullptr; }

  /// Computes output elements [begin, end) of `plan`, a plan of two inputs. Returns false when an
  /// integer was divided by zero (or raised to a negative power): the outputs are then of no use.
  bool operator()(const BroadcastPlan& plan, const void* a, const void* b, void* out, int64_t begin,
                  int64_t end) const;
};
/// Empty where the instruction set in use has nothing.
BinaryKernel binary_kernel(BinaryOp op, Type type);

/// out = cond ? a : b over output elements [begin, end) of `plan`, whose inputs are cond (boolean),
/// a and b in this order. Elements are `size` bytes (1, 2, 4, 8 or 16).
void select(int size, const BroadcastPlan& plan, const void* cond, const void* a, const void* b,
            void* out, int64_t begin, int64_t end);

/// Sets elements [begin, end) of `size` bytes (1, 2, 4, 8 or 16) to the one at `value`.
void fill(int size, const void* value, void* out, int64_t begin, int64_t end);

/// y[i] = static_cast<To>(x[i]) for i in [begin, end), between any two Types. To f16 and bf16 it
/// rounds to nearest even; to boolean it is x != 0; a float outside an integer's range gives an
/// unspecified value. Never null for listed types.
using CastFn = void (*)(const void* x, void* y, int64_t begin, int64_t end);

/// Sum of `count` arrays: out[i] = sum over k of inputs[k][i] for i in [begin, end), added in order
/// (AddN, partial gradients). out may be inputs[0].
using AddNFn = void (*)(const void* const* inputs, int count, void* out, int64_t begin,
                        int64_t end);

} // namespace troupe::arith
