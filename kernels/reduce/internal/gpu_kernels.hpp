// The kernels of kernels/reduce/arg_max.cu.
#pragma once

#include "kernels/gpu/kernel.hpp"

namespace troupe::gpu {
namespace images {
extern const cuda::CodeImage reduce_arg_max;
}
namespace kernels {

/// The position k of the first largest (smallest) x[o, k, i] for each of n = outer * inner outputs,
/// as int32 or int64. NaN is never chosen before a number. f32, f64, f16, bf16, i32, i64.
inline constexpr Kernel<void(bool want_max, bool is_int64, const void* x, void* positions,
                             std::int64_t extent, std::int64_t inner, std::int64_t n)>
    arg_extreme{images::reduce_arg_max, "arg_extreme"};

} // namespace kernels
} // namespace troupe::gpu
