// One input, one output; gradients of such functions; sums of many arrays.
#include "kernels/arith/isa/math.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

template <class T, class R, class F>
void map(const void* x, void* y, int64_t begin, int64_t end) {
  auto in = static_cast<const T*>(x);
  auto out = static_cast<R*>(y);
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i)
    out[i] = F::of(in[i]);
}

template <class T>
inline constexpr bool is_real = T(1) / T(2) != T(0);
template <class T>
inline constexpr Elements elements_of = is_real<T> ? Elements::real : Elements::integer;

/// Each function of the list on elements of T.
template <UnaryOp op, class T>
struct Unary;

#define TROUPE_FUNCTION(name, expression)                                                          \
  template <class T>                                                                               \
  struct Unary<UnaryOp::name, T> {                                                                 \
    TROUPE_INLINE auto of(T x) { return expression; }                                              \
  };

template <class T>
TROUPE_INLINE T magnitude_of(T x) {
  if constexpr (is_real<T>)
    return abs_of(x);
  else
    return T(x < 0 ? -x : x);
}

TROUPE_FUNCTION(neg, T(-x))
TROUPE_FUNCTION(abs, magnitude_of(x))
TROUPE_FUNCTION(sign, T(x != x ? x : T((x > 0) - (x < 0))))
TROUPE_FUNCTION(square, T(x* x))
// 0 of -0, NaN of NaN.
TROUPE_FUNCTION(relu, x <= 0 ? T(0) : x)
TROUPE_FUNCTION(relu6, x <= 0 ? T(0) : (x > 6 ? T(6) : x))
TROUPE_FUNCTION(sqrt, T(__builtin_sqrt(x)))
TROUPE_FUNCTION(rsqrt, T(1) / T(__builtin_sqrt(x)))
TROUPE_FUNCTION(reciprocal, T(1) / x)
TROUPE_FUNCTION(exp, exp_of(x))
TROUPE_FUNCTION(expm1, expm1_of(x))
TROUPE_FUNCTION(log, log_of(x))
TROUPE_FUNCTION(log1p, log1p_of(x))
TROUPE_FUNCTION(tanh, tanh_of(x))
TROUPE_FUNCTION(sigmoid, sigmoid_of(x))
TROUPE_FUNCTION(sin, T(__builtin_sin(x)))
TROUPE_FUNCTION(cos, T(__builtin_cos(x)))
TROUPE_FUNCTION(floor, T(__builtin_floor(x)))
TROUPE_FUNCTION(ceil, T(__builtin_ceil(x)))
TROUPE_FUNCTION(round, T(__builtin_rint(x)))
TROUPE_FUNCTION(elu, x < 0 ? expm1_of(x) : x)
TROUPE_FUNCTION(softplus, softplus_of(x))
TROUPE_FUNCTION(is_nan, uint8_t(x != x))
TROUPE_FUNCTION(is_inf, uint8_t(abs_of(x) == Real<T>::infinity))
TROUPE_FUNCTION(is_finite, uint8_t(abs_of(x) < Real<T>::infinity))
TROUPE_FUNCTION(logical_not, uint8_t(x == 0))

template <>
struct Unary<UnaryOp::sqrt, float> {
  TROUPE_INLINE float of(float x) { return __builtin_sqrtf(x); }
};
template <>
struct Unary<UnaryOp::rsqrt, float> {
  TROUPE_INLINE float of(float x) { return 1.0f / __builtin_sqrtf(x); }
};
template <>
struct Unary<UnaryOp::floor, float> {
  TROUPE_INLINE float of(float x) { return __builtin_floorf(x); }
};
template <>
struct Unary<UnaryOp::ceil, float> {
  TROUPE_INLINE float of(float x) { return __builtin_ceilf(x); }
};
template <>
struct Unary<UnaryOp::round, float> {
  TROUPE_INLINE float of(float x) { return __builtin_rintf(x); }
};

/// Below 1: x + x * s(x^2). From there on: 1 - exp(-l(x)), which is 1 from 4 on. Both polynomials
/// were fitted for the smallest largest relative error of the result: 1e-7.
TROUPE_INLINE float erf_of(float x) {
  const float a = abs_of(x), square = a * a;
  float s = 7.889119297e-05f;
  s = s * square - 8.020841051e-04f;
  s = s * square + 5.189535208e-03f;
  s = s * square - 2.685444430e-02f;
  s = s * square + 1.128360033e-01f;
  s = s * square - 3.761262596e-01f;
  s = s * square + 1.283791661e-01f;
  const float near = a * s + a;
  const float t = a > 4.0f ? 4.0f : a;
  float l = -2.516273696e-07f;
  l = l * t + 2.531884820e-05f;
  l = l * t - 4.638113314e-04f;
  l = l * t + 4.282458220e-03f;
  l = l * t - 2.537370659e-02f;
  l = l * t + 1.086391881e-01f;
  l = l * t + 6.330394745e-01f;
  l = l * t + 1.296612173e-01f;
  l = l * t - 2.043715358e-04f;
  const float far = 1.0f - exp_of(-(l + t));
  return with_sign_of(a < 1.0f ? near : far, x);
}
TROUPE_INLINE double erf_of(double x) {
  return __builtin_erf(x);
}

TROUPE_FUNCTION(erf, erf_of(x))

/// The loop over one function's elements.
template <UnaryOp op, class T>
UnaryFn loop_of() {
  // The table of trig.cpp is for floats alone.
  if constexpr (sizeof(T) == 4 && (op == UnaryOp::sin || op == UnaryOp::cos))
    return trigonometric(op);
  else
    return map<T, decltype(Unary<op, T>::of(T())), Unary<op, T>>;
}

template <class T, Elements elements>
UnaryFn unary_of(UnaryOp op) {
  switch (op) {
#define TROUPE_UNARY(function, kind, cost)                                                         \
  case UnaryOp::function:                                                                          \
    if constexpr (has(elements, Kind::kind))                                                       \
      return loop_of<UnaryOp::function, T>();                                                      \
    return nullptr;
#include "graph/op/elementwise.def"
  }
  return nullptr;
}

template <class T, class F>
void map_gradient(const void* dy, const void* x, void* dx, int64_t begin, int64_t end) {
  auto gradient = static_cast<const T*>(dy);
  auto in = static_cast<const T*>(x);
  auto out = static_cast<T*>(dx);
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i)
    out[i] = F::of(gradient[i], in[i]);
}

template <GradOp op, class T>
struct Grad;

#define TROUPE_FUNCTION_GRADIENT(name, expression)                                                 \
  template <class T>                                                                               \
  struct Grad<GradOp::name, T> {                                                                   \
    TROUPE_INLINE T of(T dy, T x) { return expression; }                                           \
  };

// TensorFlow multiplies: an infinite or NaN gradient is seen everywhere.
TROUPE_FUNCTION_GRADIENT(relu, T(dy* T(x > 0)))
TROUPE_FUNCTION_GRADIENT(relu6, T(dy* T((x > 0) & (x < 6))))
TROUPE_FUNCTION_GRADIENT(elu, x < 0 ? dy * (x + 1) : dy)
TROUPE_FUNCTION_GRADIENT(softplus, dy / (exp_of(-x) + 1))
TROUPE_FUNCTION_GRADIENT(tanh, dy*(1 - x * x))
TROUPE_FUNCTION_GRADIENT(sigmoid, dy* x*(1 - x))
// A gradient of 0 stays 0, also where the derivative is infinite.
TROUPE_FUNCTION_GRADIENT(sqrt, dy == T(0) ? T(0) : dy * T(0.5) / x)
// In TensorFlow's order, whose products overflow or vanish where others would not.
TROUPE_FUNCTION_GRADIENT(rsqrt, dy* x == T(0) || dy == T(0) ? T(0) : dy * x * T(-0.5) * (x * x))
TROUPE_FUNCTION_GRADIENT(reciprocal, dy == T(0) ? T(0) : -(x * x) * dy)

template <class T>
GradFn gradient_of(GradOp op) {
  switch (op) {
#define TROUPE_GRADIENT(function, kind, cost)                                                      \
  case GradOp::function:                                                                           \
    if constexpr (has(elements_of<T>, Kind::kind))                                                 \
      return map_gradient<T, Grad<GradOp::function, T>>;                                           \
    return nullptr;
#include "graph/op/elementwise.def"
  }
  return nullptr;
}

template <class T>
void add_arrays(const void* const* inputs, int count, void* sum, int64_t begin, int64_t end) {
  auto out = static_cast<T*>(sum);
  auto a = static_cast<const T*>(inputs[0]);
  if (count == 1) {
    TROUPE_INDEPENDENT
    for (int64_t i = begin; i < end; ++i)
      out[i] = a[i];
  }
  for (int k = 1; k < count; ++k) {
    auto b = static_cast<const T*>(inputs[k]);
    TROUPE_INDEPENDENT
    for (int64_t i = begin; i < end; ++i)
      out[i] = a[i] + b[i];
    a = out;
  }
}

} // namespace

UnaryFn unary(UnaryOp op, Type type) {
  switch (type) {
  case Type::float32:
    return unary_of<float, Elements::real>(op);
  case Type::float64:
    return unary_of<double, Elements::real>(op);
  case Type::int32:
    return unary_of<int32_t, Elements::integer>(op);
  case Type::int64:
    return unary_of<int64_t, Elements::integer>(op);
  case Type::bool_:
    return unary_of<uint8_t, Elements::boolean>(op);
  default:
    return nullptr;
  }
}

GradFn unary_grad(GradOp op, Type type) {
  switch (type) {
  case Type::float32:
    return gradient_of<float>(op);
  case Type::float64:
    return gradient_of<double>(op);
  case Type::int32:
    return gradient_of<int32_t>(op);
  case Type::int64:
    return gradient_of<int64_t>(op);
  default:
    return nullptr;
  }
}

AddNFn add_n(Type type) {
  switch (type) {
  case Type::float32:
    return add_arrays<float>;
  case Type::float64:
    return add_arrays<double>;
  case Type::int32:
    return add_arrays<int32_t>;
  case Type::int64:
    return add_arrays<int64_t>;
  default:
    return nullptr;
  }
}

} // namespace troupe::arith::TROUPE_ISA
