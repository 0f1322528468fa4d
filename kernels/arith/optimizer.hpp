// Optimizer updates in place, on elements [begin, end) of flat arrays. f32 and f64 for each
// instruction set; f16, bf16 (rounded after each operation, as TensorFlow's) and complex numbers
// once. Formulas as TensorFlow's training ops. Found by lookup.hpp.
#pragma once
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// A number of any of those types; it is rounded to the elements' type first. Reals look at the
/// first part only.
struct Scalar {
  double real = 0, imaginary = 0;
};

/// var -= alpha * delta
using GradientDescentFn = void (*)(void* var, Scalar alpha, const void* delta, int64_t begin,
                                   int64_t end);

/// accum = accum * momentum + grad; var -= lr * accum, or with nesterov var -= lr * grad + lr *
/// momentum * accum
using MomentumFn = void (*)(void* var, void* accum, Scalar lr, const void* grad, Scalar momentum,
                            bool nesterov, int64_t begin, int64_t end);

struct AdamRates {
  Scalar beta1_power, beta2_power, lr, beta1, beta2, epsilon;
};

/// m += (grad - m) * (1 - beta1); v += (grad^2 - v) * (1 - beta2); alpha = lr * sqrt(1 -
/// beta2_power) / (1 - beta1_power); var -= alpha * m / (sqrt(v) + epsilon), or with nesterov alpha
/// * (m * beta1 + (1 - beta1) * grad) / (sqrt(v) + epsilon)
using AdamFn = void (*)(void* var, void* m, void* v, const AdamRates& rates, const void* grad,
                        bool nesterov, int64_t begin, int64_t end);

} // namespace troupe::arith
