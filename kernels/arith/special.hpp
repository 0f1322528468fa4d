// Special functions: y[i] = f(x[i]) for i in [begin, end); y may be x.
#pragma once
#include "kernels/arith/elementwise.hpp"

namespace troupe::arith {

enum class Special : int {
  // within 4 ulp of libm; NaN outside -1 to 1
  asin,
  acos,
  atan,
  erfc, // f32 alone, and what is computed in it
  // modified Bessel functions, those with an e times exp(-|x|) (i) and exp(x) (k)
  bessel_i0,
  bessel_i1,
  bessel_i0e,
  bessel_i1e,
  bessel_k0,
  bessel_k1,
  bessel_k0e,
  bessel_k1e,
};
/// Of f32 and f64, by way of f32 of f16 and bf16; empty otherwise.
UnaryKernel special_kernel(Special function, Type type);

// The rest is for f32 alone.

/// The inverse of erf; infinite at -1 and 1, NaN outside.
void erfinv(const float* x, float* y, int64_t begin, int64_t end);
/// The quantiles of the standard normal distribution; infinite at 0 and 1, NaN outside.
void ndtri(const float* x, float* y, int64_t begin, int64_t end);

/// The derivative of log gamma, computed in double; NaN at 0 and whole numbers below.
void digamma(const float* x, float* y, int64_t begin, int64_t end);

} // namespace troupe::arith
