// One matrix product on the device's compute threads.
#pragma once

#include "kernels/arith/gemm.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::linalg {

/// A second thread pays from about this many floating point operations on.
inline constexpr double parallel_flops = 3e7;

inline double flops(const arith::GemmShape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k);
}

/// C = op(A) op(B), in blocks of rows (of columns, where these are more) over the compute threads
/// when the product is large. The split does not change which terms a sum has, only how they are
/// grouped by the library.
void product(KernelContext& c, arith::Type type, const arith::GemmShape& shape, const void* a,
             const void* b, void* out);

} // namespace troupe::linalg
