// The position of the largest or smallest element along an axis.
#include <limits>

#include "kernels/gpu/device.hpp"
#include "kernels/reduce/internal/gpu_kernels.hpp"

namespace troupe::gpu {
namespace {

/// The largest number that is not infinite.
template <class T>
constexpr auto finite_highest = std::numeric_limits<T>::max();
template <>
constexpr float finite_highest<Half> = 65504.0F;
template <>
constexpr float finite_highest<BFloat16> = 3.38953139e38F;
template <class T>
constexpr auto finite_lowest = std::numeric_limits<T>::lowest();
template <>
constexpr float finite_lowest<Half> = -finite_highest<Half>;
template <>
constexpr float finite_lowest<BFloat16> = -finite_highest<BFloat16>;

#define ARG_EXTREME                                                                                \
  (bool want_max, bool is_int64, const void* x, void* positions, std::int64_t extent,              \
   std::int64_t inner, std::int64_t n)
TROUPE_GPU_KERNEL(arg_extreme, ARG_EXTREME) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const T* row = elements<T>(x) + i / inner * extent * inner + i % inner;
    std::int64_t best = 0;
    auto chosen = want_max ? finite_lowest<T> : finite_highest<T>;
    for (std::int64_t k = 0; k < extent; ++k) {
      const auto value = widen(row[k * inner]);
      if (want_max ? value > chosen : value < chosen) {
        best = k;
        chosen = value;
      }
    }
    if (is_int64)
      elements<std::int64_t>(positions)[i] = best;
    else
      elements<std::int32_t>(positions)[i] = static_cast<std::int32_t>(best);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, arg_extreme, ARG_EXTREME,
                  (want_max, is_int64, x, positions, extent, inner, n))
TROUPE_GPU_INTEGERS(TROUPE_GPU_INSTANCE, arg_extreme, ARG_EXTREME,
                    (want_max, is_int64, x, positions, extent, inner, n))

} // namespace
} // namespace troupe::gpu
