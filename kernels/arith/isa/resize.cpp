// Rows of images of another size. A pixel's channels fill registers; what is left of them takes a
// part of one, or smaller vectors where the processor is slow to write parts.
#include "kernels/arith/isa/lanes.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

using V = Full<float>;
constexpr int width = lanes<float>;

/// The count of a vector that is full.
struct Whole {};

/// body.template operator()<W>(first, count) for all of n values, in vectors W that are full, but
/// for the last.
template <class Body>
TROUPE_INLINE void for_each_vector(int64_t n, Body body) {
  int64_t i = 0;
  for (; i + width <= n; i += width)
    body.template operator()<V>(i, Whole{});
#if defined(__AVX512F__)
  if (i < n)
    body.template operator()<V>(i, n - i);
#else
  for (; i + 4 <= n; i += 4)
    body.template operator()<Vector<float, 4>>(i, Whole{});
  for (; i < n; ++i)
    body.template operator()<float>(i, Whole{});
#endif
}

} // namespace

void weigh_columns(const ResizeColumns& columns, const float* row, float* out) {
  const ResizeColumns s = columns; // no store changes it
  for (int64_t x = 0; x < s.width && s.channels == 1; ++x) {
    float sum = row[s.at[s.starts[x]]] * s.weights[s.starts[x]];
    for (int64_t k = s.starts[x] + 1; k < s.starts[x + 1]; ++k)
      sum += row[s.at[k]] * s.weights[k];
    out[x] = sum;
  }
  if (s.channels == 1)
    return;
  for (int64_t x = 0; x < s.width; ++x, out += s.channels) {
    const int64_t begin = s.starts[x], end = s.starts[x + 1];
    for_each_vector(
        s.channels, [&]<class W>(int64_t c, auto some) __attribute__((always_inline)) {
          W sum = load_first<W>(row + s.at[begin] + c, some, 0.0f) * s.weights[begin];
          for (int64_t k = begin + 1; k < end; ++k)
            sum += load_first<W>(row + s.at[k] + c, some, 0.0f) * s.weights[k];
          store_first(sum, out + c, some);
        });
  }
}

void blend_columns(const ResizeColumns& columns, const float* row, float* out) {
  const ResizeColumns s = columns;
  for (int64_t x = 0; x < s.width && s.channels == 1; ++x) {
    const float a = row[s.at[2 * x]], b = row[s.at[2 * x + 1]];
    out[x] = a + (b - a) * s.weights[2 * x + 1];
  }
  if (s.channels == 1)
    return;
  for (int64_t x = 0; x < s.width; ++x, out += s.channels) {
    const float *left = row + s.at[2 * x], *right = row + s.at[2 * x + 1];
    const float part = s.weights[2 * x + 1];
    for_each_vector(
        s.channels, [&]<class W>(int64_t c, auto some) __attribute__((always_inline)) {
          const W a = load_first<W>(left + c, some, 0.0f), b = load_first<W>(right + c, some, 0.0f);
          store_first(a + (b - a) * part, out + c, some);
        });
  }
}

void spread_columns(const ResizeColumns& columns, const float* grads, float factor, float* row) {
  const ResizeColumns s = columns;
  for (int64_t x = 0; x < s.width; ++x, grads += s.channels) {
    const int64_t begin = s.starts[x], end = s.starts[x + 1];
    for_each_vector(
        s.channels, [&]<class W>(int64_t c, auto some) __attribute__((always_inline)) {
          const W grad = load_first<W>(grads + c, some, 0.0f) * factor;
          for (int64_t k = begin; k < end; ++k) {
            float* to = row + s.at[k] + c;
            store_first(load_first<W>(to, some, 0.0f) + grad * s.weights[k], to, some);
          }
        });
  }
}

void weigh_rows(const float* const* rows, const float* weights, int64_t count, float scale,
                int64_t n, float* out) {
  constexpr int at_once = 4;
  int64_t i = 0;
  for (; i + at_once * width <= n; i += at_once * width) {
    V sums[at_once];
    TROUPE_UNROLL
    for (int p = 0; p < at_once; ++p)
      sums[p] = load<V>(rows[0] + i + p * width) * weights[0];
    for (int64_t k = 1; k < count; ++k) {
      TROUPE_UNROLL
      for (int p = 0; p < at_once; ++p)
        sums[p] += load<V>(rows[k] + i + p * width) * weights[k];
    }
    TROUPE_UNROLL
    for (int p = 0; p < at_once; ++p)
      store(sums[p] * scale, out + i + p * width);
  }
  for_each_vector(
      n - i, [&]<class W>(int64_t at, auto some) __attribute__((always_inline)) {
        W sum = load_first<W>(rows[0] + i + at, some, 0.0f) * weights[0];
        for (int64_t k = 1; k < count; ++k)
          sum += load_first<W>(rows[k] + i + at, some, 0.0f) * weights[k];
        store_first(sum * scale, out + i + at, some);
      });
}

void blend_rows(const float* top, const float* bottom, float part, int64_t n, float* out) {
  for_each_vector(
      n, [&]<class W>(int64_t i, auto some) __attribute__((always_inline)) {
        const W a = load_first<W>(top + i, some, 0.0f), b = load_first<W>(bottom + i, some, 0.0f);
        store_first(a + (b - a) * part, out + i, some);
      });
}

} // namespace troupe::arith::TROUPE_ISA
