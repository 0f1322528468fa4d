// The kernels of kernels/array/*.cu. Elements that are only moved are u8, u16, u32 or u64, by their
// size.
#pragma once

#include "kernels/gpu/kernel.hpp"

namespace troupe::gpu {
namespace images {
extern const cuda::CodeImage array_gather;
}
namespace kernels {

/// y[b, o, k, i] = x[b, o, index[b, k], i], zero where the index is none of x's, for all n elements
/// of y. x is [batches, outer, extent, inner], indices are int32 or int64.
inline constexpr Kernel<void(bool is_int64, const void* x, const void* indices, void* y,
                             std::int64_t outer, std::int64_t extent, std::int64_t inner,
                             std::int64_t count, std::int64_t n)>
    gather{images::array_gather, "gather"};
/// y[o, k, i] = on if index[o, i] == k, else off, for all n elements of y [outer, depth, inner].
/// Indices have the dtype with the number `type` in core/tensor/dtype.def: int32, int64, uint8 or
/// int8.
inline constexpr Kernel<void(int type, const void* indices, const void* on, const void* off,
                             void* y, std::int64_t depth, std::int64_t inner, std::int64_t n)>
    one_hot{images::array_gather, "one_hot"};

} // namespace kernels
} // namespace troupe::gpu
