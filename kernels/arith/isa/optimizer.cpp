// Training updates in place.
#include "kernels/arith/isa/functions.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

TROUPE_INLINE float root_of(float x) {
  return __builtin_sqrtf(x);
}
TROUPE_INLINE double root_of(double x) {
  return __builtin_sqrt(x);
}

template <class T>
void descend(void* variable, Scalar alpha, const void* delta, int64_t begin, int64_t end) {
  auto var = static_cast<T*>(variable);
  auto step = static_cast<const T*>(delta);
  const T rate = static_cast<T>(alpha.real);
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i)
    var[i] -= rate * step[i];
}

template <class T>
void descend_with_momentum(void* variable, void* accumulator, Scalar lr, const void* gradient,
                           Scalar momentum, bool nesterov, int64_t begin, int64_t end) {
  auto var = static_cast<T*>(variable);
  auto accum = static_cast<T*>(accumulator);
  auto grad = static_cast<const T*>(gradient);
  const T rate = static_cast<T>(lr.real), keep = static_cast<T>(momentum.real);
  if (nesterov) {
    TROUPE_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) {
      const T a = accum[i] * keep + grad[i];
      accum[i] = a;
      var[i] -= grad[i] * rate + a * keep * rate;
    }
    return;
  }
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i) {
    const T a = accum[i] * keep + grad[i];
    accum[i] = a;
    var[i] -= a * rate;
  }
}

template <class T>
void descend_by_moments(void* variable, void* first, void* second, const AdamRates& rates,
                        const void* gradient, bool nesterov, int64_t begin, int64_t end) {
  auto var = static_cast<T*>(variable);
  auto m = static_cast<T*>(first);
  auto v = static_cast<T*>(second);
  auto grad = static_cast<const T*>(gradient);
  const T beta1 = static_cast<T>(rates.beta1.real), beta2 = static_cast<T>(rates.beta2.real);
  const T epsilon = static_cast<T>(rates.epsilon.real), one = 1;
  const T alpha = static_cast<T>(rates.lr.real) *
                  root_of(one - static_cast<T>(rates.beta2_power.real)) /
                  (one - static_cast<T>(rates.beta1_power.real));
  const T new1 = one - beta1, new2 = one - beta2;
  // step = m * from_m + grad * from_grad
  const T from_m = nesterov ? beta1 : one, from_grad = nesterov ? new1 : T(0);
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i) {
    const T g = grad[i];
    const T mean = m[i] + (g - m[i]) * new1;
    const T square = v[i] + (g * g - v[i]) * new2;
    m[i] = mean;
    v[i] = square;
    var[i] -= (mean * from_m + g * from_grad) * alpha / (root_of(square) + epsilon);
  }
}

} // namespace

GradientDescentFn gradient_descent(Type type) {
  return type == Type::float32 ? descend<float> : type == Type::float64 ? descend<double> : nullptr;
}

MomentumFn momentum(Type type) {
  return type == Type::float32   ? descend_with_momentum<float>
         : type == Type::float64 ? descend_with_momentum<double>
                                 : nullptr;
}

AdamFn adam(Type type) {
  return type == Type::float32   ? descend_by_moments<float>
         : type == Type::float64 ? descend_by_moments<double>
                                 : nullptr;
}

} // namespace troupe::arith::TROUPE_ISA
