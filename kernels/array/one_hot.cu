// The places that indices name.
#include "kernels/array/internal/gpu_kernels.hpp"
#include "kernels/gpu/device.hpp"

namespace troupe::gpu {
namespace {

#define ONE_HOT                                                                                    \
  (int type, const void* indices, const void* on, const void* off, void* y, std::int64_t depth,    \
   std::int64_t inner, std::int64_t n)
TROUPE_GPU_KERNEL(one_hot, ONE_HOT) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t at = i / inner / depth * inner + i % inner;
    std::int64_t index = 0;
    switch (type) { // by the numbers of dtype.def
    case 3:
      index = elements<std::int32_t>(indices)[at];
      break;
    case 4:
      index = elements<std::uint8_t>(indices)[at];
      break;
    case 6:
      index = elements<std::int8_t>(indices)[at];
      break;
    default:
      index = elements<std::int64_t>(indices)[at];
    }
    elements<T>(y)[i] = elements<T>(index == i / inner % depth ? on : off)[0];
  }
}
TROUPE_GPU_SIZES(TROUPE_GPU_INSTANCE, one_hot, ONE_HOT,
                 (type, indices, on, off, y, depth, inner, n))

} // namespace
} // namespace troupe::gpu
