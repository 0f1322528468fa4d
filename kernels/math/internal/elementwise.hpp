// Elementwise kernels around kernels/arith: shapes, buffers and threads; the arithmetic itself is
// named by an enumerator.
#pragma once

#include <initializer_list>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::math {

/// Nanoseconds per element, about, for splitting over threads.
inline constexpr double cheap = 0.2;  ///< bound by memory
inline constexpr double moderate = 1; ///< a division, a root
inline constexpr double costly = 3;   ///< exp, log and the like

/// Output 0 = op(input 0), in input 0's buffer where that is free.
Status unary(KernelContext& c, arith::UnaryOp op, double cost);

/// Output 0 = gradient of an op whose forward output is input 0 and whose output's gradient is
/// input 1, with as many elements. INVALID_ARGUMENT for two different numbers of elements.
Status unary_grad(KernelContext& c, arith::GradOp op, double cost);

/// Output 0 = op(input 0, input 1) with broadcasting, in the buffer of an input where one is free.
/// INVALID_ARGUMENT "Incompatible shapes: [2] vs. [3]", "Integer division by zero".
Status binary(KernelContext& c, arith::BinaryOp op, double cost);

/// The same for any kernel, over `shape`, which the inputs' shapes broadcast to.
Status run_binary(KernelContext& c, const arith::BinaryKernel& kernel, const Shape& shape,
                  double cost, const char* domain_error);

/// A plan for two shapes. UNIMPLEMENTED when more than eight dimensions are left after merging.
Result<arith::BroadcastPlan> broadcast_plan(std::initializer_list<const Shape*> shapes);

/// A kernel for attr T in `types`.
KernelOptions for_types(std::initializer_list<DType> types);

inline constexpr std::initializer_list<DType> floats = {DType::float32, DType::float64};
inline constexpr std::initializer_list<DType> numbers = {DType::float32, DType::float64,
                                                         DType::int32, DType::int64};
inline constexpr std::initializer_list<DType> wide_integers = {DType::int32, DType::int64};
/// Whatever add, sub, mul, maximum, minimum and comparisons know.
inline constexpr std::initializer_list<DType> all_numbers = {
    DType::float32, DType::float64, DType::int32,  DType::int64,  DType::uint8,
    DType::int8,    DType::int16,   DType::uint16, DType::uint32, DType::uint64};

} // namespace troupe::math
