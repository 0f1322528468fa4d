// Floats rounded to the steps between two bounds.
#pragma once
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// y = floor((x - least) / scale + 0.5) * scale + least, of x between least and most, [rows, channels]
/// elements; each channel has its own bounds and scale. With `by_inverse` the division is a product
/// with 1 / scale. NaN stays NaN; y may be x.
struct FakeQuant {
  const float *least, *most, *scale;
  int64_t channels;
  bool by_inverse;
};
void fake_quant(const FakeQuant& ranges, const float* x, float* y, int64_t rows);

} // namespace troupe::arith
