// Local response normalisation of rows of `depth` channels, f32:
// y = x * s^-beta, s = bias + alpha * (sum of x^2 over channels at most `radius` away).
#pragma once
#include "kernels/arith/types.hpp"

namespace troupe::arith {

struct Lrn {
  int64_t depth = 1, radius = 0;
  float bias = 0, alpha = 0, beta = 0;
};

/// Rows [begin, end) of y, which is not x. Each sum runs over its own channels alone, so that an
/// infinity or NaN stays within its radius.
void lrn(const Lrn& options, const float* x, float* y, int64_t begin, int64_t end);

/// Rows [begin, end) of dx, which is none of the others:
/// dx[k] = dy[k] * s[k]^-beta - 2 alpha beta x[k] * (sum of dy[j] y[j] / s[j] over the j near k).
void lrn_grad(const Lrn& options, const float* dy, const float* x, const float* y, float* dx,
              int64_t begin, int64_t end);

} // namespace troupe::arith
