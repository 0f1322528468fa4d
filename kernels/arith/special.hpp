// Special functions of f32: y[i] = f(x[i]) for i in [begin, end); y may be x.
#pragma once
#include <cstdint>

namespace troupe::arith {

/// The inverse of erf; infinite at -1 and 1, NaN outside.
void erfinv(const float* x, float* y, int64_t begin, int64_t end);
/// The quantiles of the standard normal distribution; infinite at 0 and 1, NaN outside.
void ndtri(const float* x, float* y, int64_t begin, int64_t end);

/// The derivative of log gamma, computed in double; NaN at 0 and whole numbers below.
void digamma(const float* x, float* y, int64_t begin, int64_t end);

} // namespace troupe::arith
