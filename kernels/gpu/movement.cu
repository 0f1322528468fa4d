// Copies between strided arrays; rows by their indices, read and added to.
#include "kernels/gpu/device.hpp"
#include "kernels/gpu/internal/shared_kernels.hpp"

namespace troupe::gpu {
namespace {

#define COPY_STRIDED                                                                               \
  (Broadcast plan, std::int64_t in_offset, std::int64_t out_offset, const void* x, void* y,        \
   std::int64_t n)
TROUPE_GPU_KERNEL(copy_strided, COPY_STRIDED) {
  for (std::int64_t i = first(); i < n; i += stride())
    elements<T>(y)[out_offset + offset_of(plan, 1, i)] =
        elements<T>(x)[in_offset + offset_of(plan, 0, i)];
}
TROUPE_GPU_SIZES(TROUPE_GPU_INSTANCE, copy_strided, COPY_STRIDED,
                 (plan, in_offset, out_offset, x, y, n))

#define FILL (const void* value, void* y, std::int64_t n)
TROUPE_GPU_KERNEL(fill, FILL) {
  const T what = elements<T>(value)[0];
  for (std::int64_t i = first(); i < n; i += stride())
    elements<T>(y)[i] = what;
}
TROUPE_GPU_SIZES(TROUPE_GPU_INSTANCE, fill, FILL, (value, y, n))

#define ONES (void* y, std::int64_t n)
TROUPE_GPU_KERNEL(ones, ONES) {
  for (std::int64_t i = first(); i < n; i += stride())
    elements<T>(y)[i] = narrow<T>(1);
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, ones, ONES, (y, n))
TROUPE_GPU_INTEGERS(TROUPE_GPU_INSTANCE, ones, ONES, (y, n))

TROUPE_DEVICE std::int64_t index_at(bool is_int64, const void* indices, std::int64_t i) {
  return is_int64 ? elements<std::int64_t>(indices)[i] : elements<std::int32_t>(indices)[i];
}

#define GATHER                                                                                     \
  (bool is_int64, const void* x, const void* indices, void* y, std::int64_t outer,                 \
   std::int64_t extent, std::int64_t inner, std::int64_t count, std::int64_t n)
TROUPE_GPU_KERNEL(gather, GATHER) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t column = i % inner, k = i / inner % count, block = i / inner / count;
    const std::int64_t index = index_at(is_int64, indices, block / outer * count + k);
    elements<T>(y)[i] = index >= 0 && index < extent
                            ? elements<T>(x)[(block * extent + index) * inner + column]
                            : T(0);
  }
}
TROUPE_GPU_SIZES(TROUPE_GPU_INSTANCE, gather, GATHER,
                 (is_int64, x, indices, y, outer, extent, inner, count, n))

#define ADD_ROWS                                                                                   \
  (bool is_int64, const void* x, const void* indices, void* sums, std::int64_t rows,               \
   std::int64_t inner, std::int64_t n)
TROUPE_GPU_KERNEL(add_rows, ADD_ROWS) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t index = index_at(is_int64, indices, i / inner);
    if (index >= 0 && index < rows)
      add_atomically(elements<T>(sums) + index * inner + i % inner, elements<T>(x)[i]);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, add_rows, ADD_ROWS,
                  (is_int64, x, indices, sums, rows, inner, n))
TROUPE_GPU_INTEGERS(TROUPE_GPU_INSTANCE, add_rows, ADD_ROWS,
                    (is_int64, x, indices, sums, rows, inner, n))

} // namespace
} // namespace troupe::gpu
