// Floats rounded to the steps between two bounds.
#include "kernels/arith/isa/functions.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

template <bool by_inverse>
TROUPE_INLINE float step_of(float x, float least, float most, float scale) {
  const float below = x > most ? most : x, inside = below < least ? least : below;
  const float steps = by_inverse ? (inside - least) * (1.0F / scale) : (inside - least) / scale;
  return __builtin_floorf(steps + 0.5F) * scale + least;
}

template <bool by_inverse>
TROUPE_INLINE void one_range(float least, float most, float scale, const float* x, float* y,
                             int64_t n) {
  TROUPE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i)
    y[i] = step_of<by_inverse>(x[i], least, most, scale);
}

template <bool by_inverse>
TROUPE_INLINE void rows_of(const FakeQuant& r, const float* x, float* y, int64_t rows) {
  if (r.channels == 1)
    return one_range<by_inverse>(*r.least, *r.most, *r.scale, x, y, rows);
  for (int64_t row = 0; row < rows; ++row, x += r.channels, y += r.channels) {
    TROUPE_INDEPENDENT
    for (int64_t i = 0; i < r.channels; ++i)
      y[i] = step_of<by_inverse>(x[i], r.least[i], r.most[i], r.scale[i]);
  }
}

} // namespace

void fake_quant(const FakeQuant& ranges, const float* x, float* y, int64_t rows) {
  return ranges.by_inverse ? rows_of<true>(ranges, x, y, rows) : rows_of<false>(ranges, x, y, rows);
}

} // namespace troupe::arith::TROUPE_ISA
