// What is compiled once, for any processor: elements whose speed matters less than the size of the
// program, u64 and complex128, and the steps of casts between types that nothing computes in.
#pragma once
#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/reduce.hpp"

namespace troupe::arith {

// Null, or empty, where there is nothing.
UnaryFn generic_unary(UnaryOp op, Type type);
GradFn generic_grad(GradOp op, Type type);
BinaryRow generic_binary(BinaryOp op, Type type);
AddNFn generic_add_n(Type type);
ReduceKernel generic_reduce(ReduceOp op, Type type);
ArgReduceFn generic_arg_reduce(bool want_max, Type type, Type index_type);

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
