// The kernels of kernels/math/elementwise.cu. Operations are numbers of graph/op/elementwise.def,
// in the order of its lists: those of arith::UnaryOp and its like.
#pragma once

#include "kernels/gpu/kernel.hpp"

namespace troupe::gpu {
namespace images {
extern const cuda::CodeImage math_elementwise;
}
namespace kernels {

using images::math_elementwise;

/// y = op(x): f32, f64, f16, bf16, i64, and logical_not of bool.
inline constexpr Kernel<void(int op, const void* x, void* y, std::int64_t n)> unary{
    math_elementwise, "unary"};
/// The same with boolean results: f32, f64, f16, bf16.
inline constexpr Kernel<void(int op, const void* x, void* y, std::int64_t n)> test{math_elementwise,
                                                                                   "test"};
/// dx from dy and x or y: f32, f64, f16, bf16.
inline constexpr Kernel<void(int op, const void* dy, const void* x, void* dx, std::int64_t n)>
    unary_grad{math_elementwise, "unary_grad"};
/// z = op(a, b), which broadcast by `plan` (rank -1: are of one shape): f32, f64, f16, bf16, i64,
/// and logical ones of bool.
inline constexpr Kernel<void(int op, Broadcast plan, const void* a, const void* b, void* z,
                             std::int64_t n)>
    binary{math_elementwise, "binary"};
/// The same with boolean results: f32, f64, f16, bf16, i32, i64, bool.
inline constexpr Kernel<void(int op, Broadcast plan, const void* a, const void* b, void* z,
                             std::int64_t n)>
    compare{math_elementwise, "compare"};
/// z = cond ? a : b, all three by `plan` (rank -1: are of one shape). Elements are u8, u16, u32 or
/// u64, by their size.
inline constexpr Kernel<void(Broadcast plan, const void* cond, const void* a, const void* b,
                             void* z, std::int64_t n)>
    select{math_elementwise, "select"};
/// y = x, from elements of the dtype with the number `from` in core/tensor/dtype.def to those of
/// the instance: f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64, bool. `from` -1, to
/// bf16 alone: the upper half of each f32.
/// `dropped`: lowest bits of floats and doubles that are cleared before they are rounded.
inline constexpr Kernel<void(int from, int dropped, const void* x, void* y, std::int64_t n)> cast{
    math_elementwise, "cast"};
/// The sum of arrays, added in order: f32, f64, f16, bf16, i64. `is_added`: to what is in `sum`.
inline constexpr Kernel<void(InputList arrays, bool is_added, void* sum, std::int64_t n)> add_n{
    math_elementwise, "add_n"};
/// y = x clipped to [low, high], one element each (strides 0) or as many as x (1): f32, f64, f16,
/// bf16, i64.
inline constexpr Kernel<void(const void* x, const void* low, const void* high, int low_stride,
                             int high_stride, void* y, std::int64_t n)>
    clip{math_elementwise, "clip"};

} // namespace kernels
} // namespace troupe::gpu
