// Floats rounded to the steps between two bounds, and the integers that stand for them.
#pragma once
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// y = floor((x - least) / scale - zero + 0.5) * scale, of x between least and most, where zero is
/// the step that 0 is, floor(-least / scale + 0.5); [rows, channels]
/// elements; each channel has its own bounds and scale. Where `inverse` is not null, each division
/// by a channel's scale is a product with its inverse. NaN stays NaN; y may be x.
struct FakeQuant {
  const float *least, *most, *scale, *inverse;
  int64_t channels;
};
void fake_quant(const FakeQuant& ranges, const float* x, float* y, int64_t rows);

enum class Rounding : uint8_t { none, half_away, half_to_even };

/// q = rounded((clamped(x) - origin) * scale - before) - after, and then the nearest number of q's
/// type; its lowest one for NaN.
struct Quantize {
  float low, high; ///< x is clamped to; infinite ones clamp nothing
  float origin, scale, before, after;
  Rounding rounding;
};
/// `q` has `n` elements of the type, which is an integer one of up to 32 bits. False for another
/// type.
bool quantize(Type type, const Quantize& line, const float* x, void* q, int64_t n);

} // namespace troupe::arith
