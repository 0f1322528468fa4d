// The position of the largest or smallest element along an axis.
#include "kernels/gpu/device.hpp"
#include "kernels/reduce/internal/gpu_kernels.hpp"

namespace troupe::gpu {
namespace {

#define ARG_EXTREME                                                                                \
  (bool want_max, bool is_int64, const void* x, void* positions, std::int64_t extent,              \
   std::int64_t inner, std::int64_t n)
TROUPE_GPU_KERNEL(arg_extreme, ARG_EXTREME) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const T* row = elements<T>(x) + i / inner * extent * inner + i % inner;
    std::int64_t best = 0;
    auto chosen = widen(row[0]);
    for (std::int64_t k = 1; k < extent; ++k) {
      const auto value = widen(row[k * inner]);
      const bool is_better = want_max ? value > chosen : value < chosen;
      if (is_better || (chosen != chosen && value == value)) {
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
