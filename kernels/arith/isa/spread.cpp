// Rows of one value each, and numbers that rise in equal steps.
#include "kernels/arith/isa/lanes.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

template <class T>
void spread_to_rows(const void* from, int64_t step, int64_t rows, int64_t n, void* to) {
  constexpr int64_t width = lanes<T>;
  auto in = static_cast<const T*>(from);
  auto out = static_cast<T*>(to);
  for (int64_t r = 0; r < rows; ++r, out += n) {
    const T value = in[r * step];
    if (n < width) {
      for (int64_t i = 0; i < n; ++i)
        out[i] = value;
      continue;
    }
    const auto all = spread<Full<T>>(value);
    int64_t i = 0;
    for (; i + 4 * width <= n; i += 4 * width) {
      TROUPE_UNROLL
      for (int k = 0; k < 4; ++k)
        store(all, out + i + k * width);
    }
    for (; i + width <= n; i += width)
      store(all, out + i);
    if (i < n) // over what has been written
      store(all, out + n - width);
  }
}

/// One sum an element: the base has no products of 32 bits.
template <class T>
TROUPE_INLINE void rise(T start, T delta, T* out, int64_t n) {
  constexpr int width = lanes<T>;
  Full<T> next, step = spread<Full<T>>(static_cast<T>(delta * width));
  for (int k = 0; k < width; ++k)
    next[k] = start + static_cast<T>(k) * delta;
  int64_t i = 0;
  for (; i + width <= n; i += width, next += step)
    store(next, out + i);
  for (T last = start + static_cast<T>(i) * delta; i < n; ++i, last += delta)
    out[i] = last;
}

} // namespace

void range32(uint32_t start, uint32_t delta, uint32_t* out, int64_t n) {
  rise(start, delta, out, n);
}

void range64(uint64_t start, uint64_t delta, uint64_t* out, int64_t n) {
  rise(start, delta, out, n);
}

SpreadFn spread_rows(int size) {
  switch (size) {
  case 1:
    return spread_to_rows<uint8_t>;
  case 2:
    return spread_to_rows<uint16_t>;
  case 4:
    return spread_to_rows<uint32_t>;
  case 8:
    return spread_to_rows<uint64_t>;
  default:
    return nullptr;
  }
}

} // namespace troupe::arith::TROUPE_ISA
