// Copies between strided arrays; rows by their indices, read and added to.
#include "kernels/gpu/device.hpp"
#include "kernels/gpu/internal/shared_kernels.hpp"

namespace troupe::gpu {
namespace {

#define COPY_STRIDED                                                                               \
  (Broadcast plan, std::int64_t in_offset, std::int64_t out_offset, const void* x, void* y,        \
   std::int64_t n)
TROUPE_GPU_KERNEL(copy_strided, COPY_STRIDED) {
  constexpr int run = Pack<T>::size;
  const T* from = elements<T>(x) + in_offset;
  T* to = elements<T>(y) + out_offset;
  const int last = plan.rank - 1;
  if (plan.run % run == 0 && plan.strides[0][last] == 1 && plan.strides[1][last] == 1 &&
      holds_packs(from) && holds_packs(to)) {
    for (std::int64_t i = first(); i < n / run; i += stride()) {
      const Offsets<2> at = offsets_of<2>(plan, i * run);
      *reinterpret_cast<Pack<T>*>(to + at.of[1]) =
          *reinterpret_cast<const Pack<T>*>(from + at.of[0]);
    }
    return;
  }
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Offsets<2> at = offsets_of<2>(plan, i);
    to[at.of[1]] = from[at.of[0]];
  }
}
TROUPE_GPU_SIZES(TROUPE_GPU_INSTANCE, copy_strided, COPY_STRIDED,
                 (plan, in_offset, out_offset, x, y, n))

#define COPY_TURNED                                                                                \
  (Broadcast outer, kernels::Tiles tiles, std::int64_t in_offset, std::int64_t out_offset,         \
   const void* x, void* y, std::int64_t count)
TROUPE_GPU_KERNEL(copy_turned, COPY_TURNED) {
  constexpr int side = kernels::Tiles::side,
                row = side + 1; // so that no bank is hit by two threads
  TROUPE_SHARED(T, tile, side * row);
  const int along = static_cast<int>(thread_index() % side),
            across = static_cast<int>(thread_index() / side),
            step = static_cast<int>(block_threads() / side);
  for (std::int64_t number = block_index(); number < count; number += blocks()) {
    std::int64_t rest = number;
    const std::int64_t read = split(rest, tiles.by_read_tiles) * side;
    const std::int64_t written = split(rest, tiles.by_written_tiles) * side;
    const Offsets<2> at = offsets_of<2>(outer, rest);
    const T* from = elements<T>(x) + in_offset + at.of[0] + read + written * tiles.read_stride;
    T* to = elements<T>(y) + out_offset + at.of[1] + written + read * tiles.written_stride;
    barrier(); // the tile before was read
    for (int j = across; j < side; j += step)
      if (read + along < tiles.read_along && written + j < tiles.written_along)
        tile[j * row + along] = from[along + j * tiles.read_stride];
    barrier();
    for (int i = across; i < side; i += step)
      if (read + i < tiles.read_along && written + along < tiles.written_along)
        to[along + i * tiles.written_stride] = tile[along * row + i];
  }
}
TROUPE_GPU_SIZES(TROUPE_GPU_COOPERATIVE, copy_turned, COPY_TURNED,
                 (outer, tiles, in_offset, out_offset, x, y, count))

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
  (bool is_int64, const void* x, const void* indices, void* y, Divider outer, std::int64_t extent, \
   Divider inner, Divider count, std::int64_t n)
TROUPE_GPU_KERNEL(gather, GATHER) {
  // The element of x that becomes element i of y; negative: none.
  const auto from = [&](std::int64_t i) -> std::int64_t {
    const std::int64_t column = split(i, inner), k = split(i, count);
    const std::int64_t index = index_at(is_int64, indices, divided(i, outer) * count.divisor + k);
    return index >= 0 && index < extent ? (i * extent + index) * inner.divisor + column : -1;
  };
  constexpr int run = Pack<T>::size;
  if (inner.divisor % run == 0 && holds_packs(x) && holds_packs(y)) {
    for (std::int64_t i = first(); i < n / run; i += stride()) {
      const std::int64_t at = from(i * run);
      elements<Pack<T>>(y)[i] = at < 0 ? Pack<T>{} : elements<Pack<T>>(x)[at / run];
    }
    return;
  }
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t at = from(i);
    elements<T>(y)[i] = at < 0 ? T(0) : elements<T>(x)[at];
  }
}
TROUPE_GPU_SIZES(TROUPE_GPU_INSTANCE, gather, GATHER,
                 (is_int64, x, indices, y, outer, extent, inner, count, n))

#define ADD_ROWS                                                                                   \
  (bool is_int64, const void* x, const void* indices, void* sums, std::int64_t rows,               \
   Divider inner, std::int64_t n)
TROUPE_GPU_KERNEL(add_rows, ADD_ROWS) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    std::int64_t k = i;
    const std::int64_t column = split(k, inner), index = index_at(is_int64, indices, k);
    if (index >= 0 && index < rows)
      add_atomically(elements<T>(sums) + index * inner.divisor + column, elements<T>(x)[i]);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, add_rows, ADD_ROWS,
                  (is_int64, x, indices, sums, rows, inner, n))
TROUPE_GPU_INTEGERS(TROUPE_GPU_INSTANCE, add_rows, ADD_ROWS,
                    (is_int64, x, indices, sums, rows, inner, n))

} // namespace
} // namespace troupe::gpu
