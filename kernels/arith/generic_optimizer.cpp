// Optimizer updates of numbers that no instruction set has code for: 16-bit floats, rounded after
// each operation in TensorFlow's order, and complex numbers.
#include "kernels/arith/internal/generic.hpp"
#include "kernels/arith/internal/half_bits.hpp"

#include <cmath>
#include <complex>

namespace troupe::arith {
namespace {

/// A 16-bit float, stored as its bits.
template <float (*decode)(uint16_t), uint16_t (*encode)(float)>
struct Short {
  uint16_t bits = 0;

  Short() = default;
  explicit Short(float value) : bits(encode(value)) {}
  float value() const { return decode(bits); }
  friend Short operator+(Short a, Short b) { return Short(a.value() + b.value()); }
  friend Short operator-(Short a, Short b) { return Short(a.value() - b.value()); }
  friend Short operator*(Short a, Short b) { return Short(a.value() * b.value()); }
  friend Short operator/(Short a, Short b) { return Short(a.value() / b.value()); }
  friend Short sqrt(Short a) { return Short(std::sqrt(a.value())); }
};
using F16 = Short<half_bits_to_float, float_to_half_bits>;
using BF16 = Short<bfloat_bits_to_float, float_to_bfloat_bits>;

template <class T>
T number(Scalar scalar) {
  if constexpr (sizeof(T) == sizeof(uint16_t))
    return T(static_cast<float>(scalar.real));
  else
    return T(static_cast<typename T::value_type>(scalar.real),
             static_cast<typename T::value_type>(scalar.imaginary));
}

template <class T>
void descend(void* variable, Scalar alpha, const void* delta, int64_t begin, int64_t end) {
  auto* var = static_cast<T*>(variable);
  const auto* step = static_cast<const T*>(delta);
  const T rate = number<T>(alpha);
  for (int64_t i = begin; i < end; ++i)
    var[i] = var[i] - step[i] * rate;
}

template <class T>
void descend_with_momentum(void* variable, void* accumulator, Scalar lr, const void* gradient,
                           Scalar momentum, bool nesterov, int64_t begin, int64_t end) {
  auto* var = static_cast<T*>(variable);
  auto* accum = static_cast<T*>(accumulator);
  const auto* grad = static_cast<const T*>(gradient);
  const T rate = number<T>(lr), keep = number<T>(momentum);
  for (int64_t i = begin; i < end; ++i) {
    const T a = accum[i] * keep + grad[i];
    accum[i] = a;
    var[i] = var[i] - (nesterov ? grad[i] * rate + a * keep * rate : a * rate);
  }
}

template <class T>
void descend_by_moments(void* variable, void* first, void* second, const AdamRates& rates,
                        const void* gradient, bool nesterov, int64_t begin, int64_t end) {
  using std::sqrt;
  auto* var = static_cast<T*>(variable);
  auto* m = static_cast<T*>(first);
  auto* v = static_cast<T*>(second);
  const auto* grad = static_cast<const T*>(gradient);
  const T one = number<T>({1}), beta1 = number<T>(rates.beta1), beta2 = number<T>(rates.beta2);
  const T epsilon = number<T>(rates.epsilon), new1 = one - beta1, new2 = one - beta2;
  const T alpha = number<T>(rates.lr) * sqrt(one - number<T>(rates.beta2_power)) /
                  (one - number<T>(rates.beta1_power));
  for (int64_t i = begin; i < end; ++i) {
    const T g = grad[i];
    m[i] = m[i] + (g - m[i]) * new1;
    v[i] = v[i] + (g * g - v[i]) * new2;
    const T step = nesterov ? g * new1 + beta1 * m[i] : m[i];
    var[i] = var[i] - step * alpha / (sqrt(v[i]) + epsilon);
  }
}

/// `of(T())` for the type's T; null for a type that has none here.
template <class Fn, class Of>
Fn with_number(Type type, Of of) {
  switch (type) {
  case Type::float16:
    return of(F16());
  case Type::bfloat16:
    return of(BF16());
  case Type::complex64:
    return of(std::complex<float>());
  case Type::complex128:
    return of(std::complex<double>());
  default:
    return nullptr;
  }
}

} // namespace

GradientDescentFn generic_gradient_descent(Type type) {
  return with_number<GradientDescentFn>(type,
                                        []<class T>(T) -> GradientDescentFn { return descend<T>; });
}

MomentumFn generic_momentum(Type type) {
  return with_number<MomentumFn>(type,
                                 []<class T>(T) -> MomentumFn { return descend_with_momentum<T>; });
}

AdamFn generic_adam(Type type) {
  return with_number<AdamFn>(type, []<class T>(T) -> AdamFn { return descend_by_moments<T>; });
}

} // namespace troupe::arith
