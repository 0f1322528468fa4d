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

#define TROUPE_FUNCTION(name, expression)                                                          \
  template <class T>                                                                               \
  struct name {                                                                                    \
    TROUPE_INLINE auto of(T x) { return expression; }                                              \
  };

TROUPE_FUNCTION(Neg, T(-x))
TROUPE_FUNCTION(Abs, T(x < 0 ? -x : x))
TROUPE_FUNCTION(AbsReal, abs_of(x))
TROUPE_FUNCTION(Sign, T(x != x ? x : T((x > 0) - (x < 0))))
TROUPE_FUNCTION(Square, T(x* x))
// 0 of -0, NaN of NaN.
TROUPE_FUNCTION(Relu, x <= 0 ? T(0) : x)
TROUPE_FUNCTION(Relu6, x <= 0 ? T(0) : (x > 6 ? T(6) : x))
TROUPE_FUNCTION(Sqrt, T(__builtin_sqrt(x)))
TROUPE_FUNCTION(Rsqrt, T(1) / T(__builtin_sqrt(x)))
TROUPE_FUNCTION(Reciprocal, T(1) / x)
TROUPE_FUNCTION(Exp, exp_of(x))
TROUPE_FUNCTION(Expm1, expm1_of(x))
TROUPE_FUNCTION(Log, log_of(x))
TROUPE_FUNCTION(Log1p, log1p_of(x))
TROUPE_FUNCTION(Tanh, tanh_of(x))
TROUPE_FUNCTION(Sigmoid, sigmoid_of(x))
TROUPE_FUNCTION(Sin, T(__builtin_sin(x)))
TROUPE_FUNCTION(Cos, T(__builtin_cos(x)))
TROUPE_FUNCTION(Floor, T(__builtin_floor(x)))
TROUPE_FUNCTION(Ceil, T(__builtin_ceil(x)))
TROUPE_FUNCTION(Round, T(__builtin_rint(x)))
TROUPE_FUNCTION(Elu, x < 0 ? expm1_of(x) : x)
TROUPE_FUNCTION(Softplus, softplus_of(x))
TROUPE_FUNCTION(IsNan, uint8_t(x != x))
TROUPE_FUNCTION(IsInf, uint8_t(abs_of(x) == Real<T>::infinity))
TROUPE_FUNCTION(IsFinite, uint8_t(abs_of(x) < Real<T>::infinity))
TROUPE_FUNCTION(LogicalNot, uint8_t(x == 0))

template <>
struct Sqrt<float> {
  TROUPE_INLINE float of(float x) { return __builtin_sqrtf(x); }
};
template <>
struct Rsqrt<float> {
  TROUPE_INLINE float of(float x) { return 1.0f / __builtin_sqrtf(x); }
};
template <>
struct Floor<float> {
  TROUPE_INLINE float of(float x) { return __builtin_floorf(x); }
};
template <>
struct Ceil<float> {
  TROUPE_INLINE float of(float x) { return __builtin_ceilf(x); }
};
template <>
struct Round<float> {
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

template <class T>
struct Erf {
  TROUPE_INLINE T of(T x) { return erf_of(x); }
};

/// Ops of every signed number.
template <class T>
UnaryFn unary_of_number(UnaryOp op) {
  switch (op) {
  case UnaryOp::neg:
    return map<T, T, Neg<T>>;
  case UnaryOp::abs:
    return map<T, T, Abs<T>>;
  case UnaryOp::sign:
    return map<T, T, Sign<T>>;
  case UnaryOp::square:
    return map<T, T, Square<T>>;
  case UnaryOp::relu:
    return map<T, T, Relu<T>>;
  case UnaryOp::relu6:
    return map<T, T, Relu6<T>>;
  default:
    return nullptr;
  }
}

/// Ops of floating point alone.
template <class T>
UnaryFn unary_of_real(UnaryOp op) {
  switch (op) {
  case UnaryOp::abs:
    return map<T, T, AbsReal<T>>;
  case UnaryOp::sqrt:
    return map<T, T, Sqrt<T>>;
  case UnaryOp::rsqrt:
    return map<T, T, Rsqrt<T>>;
  case UnaryOp::reciprocal:
    return map<T, T, Reciprocal<T>>;
  case UnaryOp::exp:
    return map<T, T, Exp<T>>;
  case UnaryOp::expm1:
    return map<T, T, Expm1<T>>;
  case UnaryOp::log:
    return map<T, T, Log<T>>;
  case UnaryOp::log1p:
    return map<T, T, Log1p<T>>;
  case UnaryOp::tanh:
    return map<T, T, Tanh<T>>;
  case UnaryOp::sigmoid:
    return map<T, T, Sigmoid<T>>;
  case UnaryOp::sin:
    return sizeof(T) == 4 ? trigonometric(op) : map<T, T, Sin<T>>;
  case UnaryOp::cos:
    return sizeof(T) == 4 ? trigonometric(op) : map<T, T, Cos<T>>;
  case UnaryOp::floor:
    return map<T, T, Floor<T>>;
  case UnaryOp::ceil:
    return map<T, T, Ceil<T>>;
  case UnaryOp::round:
    return map<T, T, Round<T>>;
  case UnaryOp::elu:
    return map<T, T, Elu<T>>;
  case UnaryOp::softplus:
    return map<T, T, Softplus<T>>;
  case UnaryOp::erf:
    return map<T, T, Erf<T>>;
  case UnaryOp::is_nan:
    return map<T, uint8_t, IsNan<T>>;
  case UnaryOp::is_inf:
    return map<T, uint8_t, IsInf<T>>;
  case UnaryOp::is_finite:
    return map<T, uint8_t, IsFinite<T>>;
  default:
    return unary_of_number<T>(op);
  }
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

#define TROUPE_GRADIENT(name, expression)                                                          \
  template <class T>                                                                               \
  struct name {                                                                                    \
    TROUPE_INLINE T of(T dy, T x) { return expression; }                                           \
  };

// TensorFlow multiplies: an infinite or NaN gradient is seen everywhere.
TROUPE_GRADIENT(ReluGrad, T(dy* T(x > 0)))
TROUPE_GRADIENT(Relu6Grad, T(dy* T((x > 0) & (x < 6))))
TROUPE_GRADIENT(EluGrad, x < 0 ? dy * (x + 1) : dy)
TROUPE_GRADIENT(SoftplusGrad, dy / (exp_of(-x) + 1))
TROUPE_GRADIENT(TanhGrad, dy*(1 - x * x))
TROUPE_GRADIENT(SigmoidGrad, dy* x*(1 - x))
// A gradient of 0 stays 0, also where the derivative is infinite.
TROUPE_GRADIENT(SqrtGrad, dy == T(0) ? T(0) : dy * T(0.5) / x)
TROUPE_GRADIENT(RsqrtGrad, dy == T(0) ? T(0) : dy * T(-0.5) * x * x * x)
TROUPE_GRADIENT(ReciprocalGrad, dy == T(0) ? T(0) : -dy * x * x)

template <class T>
GradFn gradient_of_number(GradOp op) {
  switch (op) {
  case GradOp::relu:
    return map_gradient<T, ReluGrad<T>>;
  case GradOp::relu6:
    return map_gradient<T, Relu6Grad<T>>;
  default:
    return nullptr;
  }
}

template <class T>
GradFn gradient_of_real(GradOp op) {
  switch (op) {
  case GradOp::elu:
    return map_gradient<T, EluGrad<T>>;
  case GradOp::softplus:
    return map_gradient<T, SoftplusGrad<T>>;
  case GradOp::tanh:
    return map_gradient<T, TanhGrad<T>>;
  case GradOp::sigmoid:
    return map_gradient<T, SigmoidGrad<T>>;
  case GradOp::sqrt:
    return map_gradient<T, SqrtGrad<T>>;
  case GradOp::rsqrt:
    return map_gradient<T, RsqrtGrad<T>>;
  case GradOp::reciprocal:
    return map_gradient<T, ReciprocalGrad<T>>;
  default:
    return gradient_of_number<T>(op);
  }
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
    return unary_of_real<float>(op);
  case Type::float64:
    return unary_of_real<double>(op);
  case Type::int32:
    return unary_of_number<int32_t>(op);
  case Type::int64:
    return unary_of_number<int64_t>(op);
  case Type::bool_:
    return op == UnaryOp::logical_not ? map<uint8_t, uint8_t, LogicalNot<uint8_t>> : nullptr;
  default:
    return nullptr;
  }
}

GradFn unary_grad(GradOp op, Type type) {
  switch (type) {
  case Type::float32:
    return gradient_of_real<float>(op);
  case Type::float64:
    return gradient_of_real<double>(op);
  case Type::int32:
    return gradient_of_number<int32_t>(op);
  case Type::int64:
    return gradient_of_number<int64_t>(op);
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
