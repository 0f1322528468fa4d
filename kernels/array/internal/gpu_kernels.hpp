// The kernel of kernels/array/one_hot.cu. Elements are u8, u16, u32 or u64, by their size.
#pragma once

#include "kernels/gpu/kernel.hpp"

namespace troupe::gpu {
namespace images {
extern const cuda::CodeImage array_one_hot;
}
namespace kernels {

/// y[o, k, i] = on if index[o, i] == k, else off, for all n elements of y [outer, depth, inner].
/// Indices have the dtype with the number `type` in core/tensor/dtype.def: int32, int64, uint8 or
/// int8.
inline constexpr Kernel<void(int type, const void* indices, const void* on, const void* off,
                             void* y, std::int64_t depth, std::int64_t inner, std::int64_t n)>
    one_hot{images::array_one_hot, "one_hot"};

} // namespace kernels
} // namespace troupe::gpu
