// Arithmetic that is compiled once for every processor: dtypes whose speed matters less than code
// size (u64 and complex numbers among them), and casts of storage-only dtypes.
#pragma once
#include "kernels/arith/conv.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include "kernels/arith/optimizer.hpp"
#include "kernels/arith/pool.hpp"
#include "kernels/arith/reduce.hpp"

namespace troupe::arith {

// Lookups return null, or an empty function, for dtypes that are not here.
UnaryFn generic_unary(UnaryOp op, Type type);
GradFn generic_grad(GradOp op, Type type);
BinaryRow generic_binary(BinaryOp op, Type type);
AddNFn generic_add_n(Type type);
ReduceKernel generic_reduce(ReduceOp op, Type type);
ArgReduceFn generic_arg_reduce(bool want_max, Type type, Type index_type);

// generic_bulk.cpp. Pools of i32, i64, u64.
PoolFn generic_max_pool(Type type);
MaxPoolGradFn generic_max_pool_grad(Type type);
// Convolutions of i32, images [begin, end).
void generic_conv_forward(const Conv2DShape& shape, const int32_t* x, const int32_t* filter,
                          int32_t* y, int64_t begin, int64_t end);
void generic_conv_backward_input(const Conv2DShape& shape, const int32_t* filter, const int32_t* dy,
                                 int32_t* dx, int64_t begin, int64_t end);

// generic_optimizer.cpp. Updates of f16, bf16, complex64, complex128.
GradientDescentFn generic_gradient_descent(Type type);
MomentumFn generic_momentum(Type type);
AdamFn generic_adam(Type type);

/// complex64 to complex128 and back.
void widen_complex(const void* x, void* y, int64_t begin, int64_t end);
void narrow_complex(const void* x, void* y, int64_t begin, int64_t end);

/// A type that casts go by way of, and the step to or from it; no step where it is the type itself.
struct CastStep {
  Type via = {};
  CastFn fn = nullptr;
};
CastStep step_from(Type type);
CastStep step_to(Type type);

} // namespace troupe::arith
