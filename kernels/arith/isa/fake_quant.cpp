// Floats rounded to the steps between two bounds, and the integers that stand for them.
#include "kernels/arith/isa/functions.hpp"
#include <limits>

namespace troupe::arith::TROUPE_ISA {
namespace {

/// x / scale, where `by` is the scale or, of a product, its inverse.
template <bool by_product>
TROUPE_INLINE float in_steps(float x, float by) {
  return by_product ? x * by : x / by;
}

/// The step that zero is, from the least one on.
template <bool by_product>
TROUPE_INLINE float zero_of(float least, float by) {
  return __builtin_floorf(in_steps<by_product>(-least, by) + 0.5F);
}

template <bool by_product>
TROUPE_INLINE float step_of(float x, float least, float most, float by, float zero) {
  const float below = x > most ? most : x, inside = below < least ? least : below;
  return __builtin_floorf(in_steps<by_product>(inside - least, by) - zero + 0.5F);
}

template <bool by_product>
TROUPE_INLINE void one_range(float least, float most, float scale, float by, const float* x,
                             float* y, int64_t n) {
  const float zero = zero_of<by_product>(least, by);
  TROUPE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i)
    y[i] = step_of<by_product>(x[i], least, most, by, zero) * scale;
}

template <bool by_product>
TROUPE_INLINE void rows_of(const FakeQuant& r, const float* x, float* y, int64_t rows) {
  const float* by = by_product ? r.inverse : r.scale;
  if (r.channels == 1)
    return one_range<by_product>(*r.least, *r.most, *r.scale, *by, x, y, rows);
  for (int64_t row = 0; row < rows; ++row, x += r.channels, y += r.channels) {
    TROUPE_INDEPENDENT
    for (int64_t i = 0; i < r.channels; ++i)
      y[i] = step_of<by_product>(x[i], r.least[i], r.most[i], by[i],
                                 zero_of<by_product>(r.least[i], by[i])) *
             r.scale[i];
  }
}

template <Rounding rounding>
TROUPE_INLINE float rounded(float x) {
  if constexpr (rounding == Rounding::none)
    return x;
  if constexpr (rounding == Rounding::half_to_even)
    return __builtin_nearbyintf(x);
  const float whole = __builtin_truncf(x);
  const float one = __builtin_copysignf(1.0F, x);
  return __builtin_fabsf(x - whole) >= 0.5F ? whole + one : whole;
}

template <class Q, Rounding rounding>
TROUPE_INLINE void quantize_row(const Quantize& line, const float* x, Q* q, int64_t n) {
  constexpr float lowest = static_cast<float>(std::numeric_limits<Q>::min());
  constexpr float highest = // the largest number that is a float, too
      sizeof(Q) == 4 ? 2147483520.0F : static_cast<float>(std::numeric_limits<Q>::max());
  const auto [low, high, origin, scale, before, after, unused] = line;
  TROUPE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const float below = high < x[i] ? high : x[i], inside = below < low ? low : below;
    const float step = rounded<rounding>((inside - origin) * scale - before) - after;
    const float above = step > lowest ? step : lowest; // NaN is not
    q[i] = static_cast<Q>(static_cast<int32_t>(above < highest ? above : highest));
  }
}

template <class Q>
void quantize_as(const Quantize& line, const float* x, void* q, int64_t n) {
  auto to = static_cast<Q*>(q);
  if (line.rounding == Rounding::none)
    quantize_row<Q, Rounding::none>(line, x, to, n);
  else if (line.rounding == Rounding::half_away)
    quantize_row<Q, Rounding::half_away>(line, x, to, n);
  else
    quantize_row<Q, Rounding::half_to_even>(line, x, to, n);
}

} // namespace

bool quantize(Type type, const Quantize& line, const float* x, void* q, int64_t n) {
  switch (type) {
  case Type::int8:
    quantize_as<int8_t>(line, x, q, n);
    return true;
  case Type::uint8:
    quantize_as<uint8_t>(line, x, q, n);
    return true;
  case Type::int16:
    quantize_as<int16_t>(line, x, q, n);
    return true;
  case Type::uint16:
    quantize_as<uint16_t>(line, x, q, n);
    return true;
  case Type::int32:
    quantize_as<int32_t>(line, x, q, n);
    return true;
  default:
    return false;
  }
}

void fake_quant(const FakeQuant& ranges, const float* x, float* y, int64_t rows) {
  return ranges.inverse != nullptr ? rows_of<true>(ranges, x, y, rows)
                                   : rows_of<false>(ranges, x, y, rows);
}

} // namespace troupe::arith::TROUPE_ISA
