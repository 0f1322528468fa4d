// Declares what the sources of this folder define, in the namespace of the instruction set being
// compiled.
#pragma once
#include "kernels/arith/internal/isa_table.hpp"

#if defined(__clang__)
#define TROUPE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TROUPE_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define TROUPE_INLINE [[gnu::always_inline]] static inline

namespace troupe::arith::TROUPE_ISA {

#define TROUPE_ISA_FUNCTION(returns, name, parameters) returns name parameters;
#include "kernels/arith/internal/isa_functions.def"
#undef TROUPE_ISA_FUNCTION
UnaryFn trigonometric(UnaryOp op);
/// Of f16 and bf16; null where elements are widened first.
BinaryRow binary_half(BinaryOp op);
BinaryRow binary_bfloat16(BinaryOp op);
/// Of complex64 and complex128; null where the generic code computes them, in complex128.
UnaryFn unary_complex(UnaryOp op, Type type);
BinaryRow binary_complex(BinaryOp op, Type type);

} // namespace troupe::arith::TROUPE_ISA
