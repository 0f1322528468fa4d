// Optimizer updates in place, on elements [begin, end) of flat arrays. f32 and f64; scalars come as
// double and are rounded to the type first. Formulas as TensorFlow's training ops. Found by
// lookup.hpp.
#pragma once
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// var -= alpha * delta
using GradientDescentFn = void (*)(void* var, double alpha, const void* delta, int64_t begin,
                                   int64_t end);

/// accum = accum * momentum + grad; var -= lr * accum, or with nesterov var -= lr * grad + lr *
/// momentum * accum
using MomentumFn = void (*)(void* var, void* accum, double lr, const void* grad, double momentum,
                            bool nesterov, int64_t begin, int64_t end);

struct AdamRates {
  double beta1_power = 0, beta2_power = 0, lr = 0, beta1 = 0, beta2 = 0, epsilon = 0;
};

/// m += (grad - m) * (1 - beta1); v += (grad^2 - v) * (1 - beta2); alpha = lr * sqrt(1 -
/// beta2_power) / (1 - beta1_power); var -= alpha * m / (sqrt(v) + epsilon), or with nesterov alpha
/// * (m * beta1 + (1 - beta1) * grad) / (sqrt(v) + epsilon)
using AdamFn = void (*)(void* var, void* m, void* v, const AdamRates& rates, const void* grad,
                        bool nesterov, int64_t begin, int64_t end);

} // namespace troupe::arith
