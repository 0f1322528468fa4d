#include "kernels/arith/internal/generic.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace troupe::arith {
namespace {

using Complex = std::complex<double>;

template <class T>
inline constexpr Elements elements_of = Elements::integer;
template <>
inline constexpr Elements elements_of<Complex> = Elements::complex;

// ---- one input

template <UnaryOp op, class T>
struct Unary;

#define TROUPE_FUNCTION(name, expression)                                                          \
  template <class T>                                                                               \
  struct Unary<UnaryOp::name, T> {                                                                 \
    static T of(T x) { return expression; }                                                        \
  };

template <class T>
T sign_of(T x) {
  return x == T(0) ? x : T(1);
}
Complex sign_of(Complex x) {
  return x == 0.0 ? x : x / std::abs(x);
}

// As Eigen does it: exact also for small x.
Complex log1p_of(Complex x) {
  const Complex sum = 1.0 + x, log = std::log(sum);
  const bool is_plain = sum == 1.0 || std::isinf(sum.real()) || std::isinf(sum.imag());
  return is_plain ? x : x * (log / (sum - 1.0));
}
// Of zero NaN in both parts.
Complex reciprocal_of(Complex x) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return x == Complex(0) ? Complex(nan, nan) : 1.0 / x;
}

// Exact near zero: exp(a) cos(b) - 1 is expm1(a) cos(b) + (cos(b) - 1), and the latter has no
// difference of near numbers as -2 sin(b / 2)^2.
Complex expm1_of(Complex x) {
  const double a = x.real(), b = x.imag(), half = std::sin(b / 2);
  return {std::expm1(a) * std::cos(b) - 2 * half * half, b == 0 ? b : std::exp(a) * std::sin(b)};
}

template <class T>
T negative_of(T x) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(T(0) - x); // integers, unsigned ones among them
  else
    return -x; // parts that are 0 change their signs
}

TROUPE_FUNCTION(neg, negative_of(x))
TROUPE_FUNCTION(abs, x)
TROUPE_FUNCTION(sign, sign_of(x))
TROUPE_FUNCTION(square, x* x)
TROUPE_FUNCTION(relu, x)
TROUPE_FUNCTION(relu6, x > T(6) ? T(6) : x)
TROUPE_FUNCTION(sqrt, std::sqrt(x))
TROUPE_FUNCTION(rsqrt, 1.0 / std::sqrt(x))
TROUPE_FUNCTION(reciprocal, reciprocal_of(x))
TROUPE_FUNCTION(exp, std::exp(x))
TROUPE_FUNCTION(expm1, expm1_of(x))
TROUPE_FUNCTION(log, std::log(x))
TROUPE_FUNCTION(log1p, log1p_of(x))
TROUPE_FUNCTION(tanh, std::tanh(x))
TROUPE_FUNCTION(sigmoid, 1.0 / (1.0 + std::exp(-x)))
TROUPE_FUNCTION(sin, std::sin(x))
TROUPE_FUNCTION(cos, std::cos(x))

template <class T, class F>
void map(const void* x, void* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<T*>(y)[i] = F::of(static_cast<const T*>(x)[i]);
}

template <class T>
UnaryFn unary_of(UnaryOp op) {
  switch (op) {
#define TROUPE_UNARY(function, kind, cost)                                                         \
  case UnaryOp::function:                                                                          \
    if constexpr (has(elements_of<T>, Kind::kind))                                                 \
      return map<T, Unary<UnaryOp::function, T>>;                                                  \
    return nullptr;
#include "graph/op/elementwise.def"
  }
  return nullptr;
}

// ---- gradients

template <GradOp op, class T>
struct Grad;

#define TROUPE_FUNCTION_GRADIENT(name, expression)                                                 \
  template <class T>                                                                               \
  struct Grad<GradOp::name, T> {                                                                   \
    static T of(T dy, T x) { return expression; }                                                  \
  };

TROUPE_FUNCTION_GRADIENT(relu, x > T(0) ? dy : T(0))
TROUPE_FUNCTION_GRADIENT(relu6, x > T(0) && x < T(6) ? dy : T(0))
TROUPE_FUNCTION_GRADIENT(tanh, dy*(1.0 - x * x))
TROUPE_FUNCTION_GRADIENT(sigmoid, dy*(x*(1.0 - x)))
TROUPE_FUNCTION_GRADIENT(sqrt, dy == T(0) ? T(0) : 0.5 * dy / std::conj(x))
TROUPE_FUNCTION_GRADIENT(rsqrt, dy == T(0)
                                    ? T(0)
                                    : -0.5 * (dy * std::conj(x)) * (std::conj(x) * std::conj(x)))
TROUPE_FUNCTION_GRADIENT(reciprocal, dy == T(0) ? T(0) : -(std::conj(x) * std::conj(x)) * dy)

template <class T, class F>
void map_gradient(const void* dy, const void* x, void* dx, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<T*>(dx)[i] = F::of(static_cast<const T*>(dy)[i], static_cast<const T*>(x)[i]);
}

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

// ---- two inputs

template <BinaryOp op, class T>
struct Binary;

#undef TROUPE_FUNCTION
#define TROUPE_FUNCTION(name, expression)                                                          \
  template <class T>                                                                               \
  struct Binary<BinaryOp::name, T> {                                                               \
    static auto of(T a, T b, [[maybe_unused]] bool& ok) { return expression; }                     \
  };

/// 0, and ok turns false.
template <class T>
T undefined(bool& ok) {
  ok = false;
  return T(0);
}

template <class T>
T squared_difference_of(T a, T b) {
  return (a - b) * (a - b);
}
Complex squared_difference_of(Complex a, Complex b) {
  return std::norm(a - b);
}

uint64_t power_of(uint64_t a, uint64_t b) {
  uint64_t result = 1;
  for (; b > 0; b >>= 1, a *= a)
    if ((b & 1) != 0)
      result *= a;
  return result;
}
Complex power_of(Complex a, Complex b) {
  return b == 0.0 ? Complex(1) : std::pow(a, b);
}

TROUPE_FUNCTION(add, a + b)
TROUPE_FUNCTION(sub, a - b)
TROUPE_FUNCTION(mul, a* b)
TROUPE_FUNCTION(maximum, a > b ? a : b)
TROUPE_FUNCTION(minimum, a < b ? a : b)
TROUPE_FUNCTION(clip_above, b < a ? b : a)
TROUPE_FUNCTION(clip_below, a < b ? b : a)
TROUPE_FUNCTION(squared_difference, squared_difference_of(a, b))
TROUPE_FUNCTION(floor_div, b == T(0) ? undefined<T>(ok) : a / b)
TROUPE_FUNCTION(floor_mod, b == T(0) ? undefined<T>(ok) : a % b)
TROUPE_FUNCTION(trunc_div, b == T(0) ? undefined<T>(ok) : a / b)
TROUPE_FUNCTION(trunc_mod, b == T(0) ? undefined<T>(ok) : a % b)
TROUPE_FUNCTION(pow, power_of(a, b))
TROUPE_FUNCTION(real_div, a / b)
TROUPE_FUNCTION(div_no_nan, b == T(0) ? T(0) : a / b)
TROUPE_FUNCTION(mul_no_nan, b == T(0) ? T(0) : a * b)
TROUPE_FUNCTION(equal, a == b)
TROUPE_FUNCTION(not_equal, a != b)
TROUPE_FUNCTION(less, a < b)
TROUPE_FUNCTION(less_equal, a <= b)
TROUPE_FUNCTION(greater, a > b)
TROUPE_FUNCTION(greater_equal, a >= b)

template <class T, class F>
bool row(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  bool ok = true;
  using R = decltype(F::of(T(), T(), ok));
  const auto* a = static_cast<const T*>(left);
  const auto* b = static_cast<const T*>(right);
  const int64_t a_step = mode == RowMode::left_scalar ? 0 : 1;
  const int64_t b_step = mode == RowMode::right_scalar ? 0 : 1;
  for (int64_t i = 0; i < n; ++i)
    static_cast<R*>(result)[i] = F::of(a[i * a_step], b[i * b_step], ok);
  return ok;
}

template <class T>
BinaryRow binary_of(BinaryOp op) {
  switch (op) {
#define TROUPE_BINARY(function, kind, cost)                                                        \
  case BinaryOp::function:                                                                         \
    if constexpr (has(elements_of<T>, Kind::kind))                                                 \
      return row<T, Binary<BinaryOp::function, T>>;                                                \
    return nullptr;
#include "graph/op/elementwise.def"
  }
  return nullptr;
}

template <class T>
void add_arrays(const void* const* inputs, int count, void* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    T sum = static_cast<const T*>(inputs[0])[i];
    for (int k = 1; k < count; ++k)
      sum += static_cast<const T*>(inputs[k])[i];
    static_cast<T*>(out)[i] = sum;
  }
}

// ---- reductions of u64: an accumulator is one

struct Sum {
  static constexpr uint64_t identity = 0;
  static uint64_t step(uint64_t a, uint64_t b) { return a + b; }
};
struct Product {
  static constexpr uint64_t identity = 1;
  static uint64_t step(uint64_t a, uint64_t b) { return a * b; }
};
struct Largest {
  static constexpr uint64_t identity = 0;
  static uint64_t step(uint64_t a, uint64_t b) { return a > b ? a : b; }
};
struct Smallest {
  static constexpr uint64_t identity = std::numeric_limits<uint64_t>::max();
  static uint64_t step(uint64_t a, uint64_t b) { return a < b ? a : b; }
};

uint64_t bits(int64_t acc) {
  return static_cast<uint64_t>(acc);
}

template <class F>
ReduceKernel reduce_by(bool is_mean) {
  ReduceKernel k;
  k.init = [](int64_t* acc, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      acc[i] = static_cast<int64_t>(F::identity);
  };
  k.rows = [](int64_t* acc, const void* x, int64_t rows, int64_t stride, int64_t n) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < n; ++i)
        acc[r] = static_cast<int64_t>(
            F::step(bits(acc[r]), static_cast<const uint64_t*>(x)[r * stride + i]));
  };
  k.columns = [](int64_t* acc, const void* x, int64_t rows, int64_t stride, int64_t columns) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        acc[c] = static_cast<int64_t>(
            F::step(bits(acc[c]), static_cast<const uint64_t*>(x)[r * stride + c]));
  };
  k.merge = [](int64_t* acc, const int64_t* other, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      acc[i] = static_cast<int64_t>(F::step(bits(acc[i]), bits(other[i])));
  };
  k.finish = [](const int64_t* acc, void* out, int64_t n, int64_t) {
    for (int64_t i = 0; i < n; ++i)
      static_cast<uint64_t*>(out)[i] = bits(acc[i]);
  };
  if (is_mean)
    k.finish = [](const int64_t* acc, void* out, int64_t n, int64_t count) {
      for (int64_t i = 0; i < n; ++i)
        static_cast<uint64_t*>(out)[i] = count == 0 ? 0 : bits(acc[i]) / bits(count);
    };
  k.size = sizeof(uint64_t);
  return k;
}

template <bool want_max, class Index>
void find_extreme(const void* x, void* out, int64_t n, int64_t inner, int64_t begin, int64_t end) {
  for (int64_t flat = begin; flat < end; ++flat) {
    const auto* from = static_cast<const uint64_t*>(x) + flat / inner * n * inner + flat % inner;
    int64_t best = 0;
    for (int64_t k = 1; k < n; ++k) {
      const uint64_t here = from[k * inner], there = from[best * inner];
      best = (want_max ? here > there : here < there) ? k : best;
    }
    static_cast<Index*>(out)[flat] = static_cast<Index>(best);
  }
}

// ---- steps of casts

template <class From, class To>
void real_part(const void* x, void* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<To*>(y)[i] = static_cast<const std::complex<From>*>(x)[i].real();
}
template <class T>
void without_imaginary(const void* x, void* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<std::complex<T>*>(y)[i] = static_cast<const T*>(x)[i];
}

/// Four bits in a byte: the value's sign is that of bit 3, or there is none.
void keep_signed_nibble(const void* x, void* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int low = static_cast<const uint8_t*>(x)[i] & 15;
    static_cast<int8_t*>(y)[i] = static_cast<int8_t>(low >= 8 ? low - 16 : low);
  }
}
void keep_nibble(const void* x, void* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<uint8_t*>(y)[i] = static_cast<const uint8_t*>(x)[i] & 15;
}

/// Floats of 8 bits: 1 for the sign, then the exponent, then `mantissa` bits.
struct Small {
  int mantissa, bias;
  bool has_infinity; ///< else only the largest number of all is no number
};
constexpr Small e5m2{2, 15, true}, e4m3fn{3, 7, false};

template <const Small& format>
float decode(uint8_t byte) {
  const int magnitude = byte & 127, exponent = magnitude >> format.mantissa;
  const int mantissa = magnitude & ((1 << format.mantissa) - 1);
  float value = 0;
  if (format.has_infinity ? exponent == 31 : magnitude == 127)
    value = format.has_infinity && mantissa == 0 ? std::numeric_limits<float>::infinity()
                                                 : std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), 1 - format.bias - format.mantissa);
  else
    value = std::ldexp(static_cast<float>(mantissa + (1 << format.mantissa)),
                       exponent - format.bias - format.mantissa);
  return (byte & 128) != 0 ? -value : value;
}

/// Rounds to nearest even; what is too large becomes infinity, or NaN where there is none.
template <const Small& format>
uint8_t encode(float value) {
  const int sign = std::signbit(value) ? 128 : 0, nan = format.has_infinity ? 126 : 127;
  const int beyond = format.has_infinity ? 31 << format.mantissa : 127;
  if (std::isnan(value))
    return static_cast<uint8_t>(sign | nan);
  if (std::isinf(value))
    return static_cast<uint8_t>(sign | beyond);
  if (value == 0)
    return static_cast<uint8_t>(sign);
  const int exponent = std::max(std::ilogb(value), 1 - format.bias);
  const auto steps =
      static_cast<int>(std::nearbyint(std::ldexp(std::fabs(value), format.mantissa - exponent)));
  // The leading bit adds 1 to the exponent's field, and a carry out of the mantissa another one.
  const int magnitude = ((exponent + format.bias - 1) << format.mantissa) + steps;
  return static_cast<uint8_t>(sign | std::min(magnitude, beyond));
}

template <const Small& format>
void decode_all(const void* x, void* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<float*>(y)[i] = decode<format>(static_cast<const uint8_t*>(x)[i]);
}
template <const Small& format>
void encode_all(const void* x, void* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<uint8_t*>(y)[i] = encode<format>(static_cast<const float*>(x)[i]);
}

} // namespace

UnaryFn generic_unary(UnaryOp op, Type type) {
  return type == Type::uint64       ? unary_of<uint64_t>(op)
         : type == Type::complex128 ? unary_of<Complex>(op)
                                    : nullptr;
}

GradFn generic_grad(GradOp op, Type type) {
  return type == Type::uint64       ? gradient_of<uint64_t>(op)
         : type == Type::complex128 ? gradient_of<Complex>(op)
                                    : nullptr;
}

BinaryRow generic_binary(BinaryOp op, Type type) {
  return type == Type::uint64       ? binary_of<uint64_t>(op)
         : type == Type::complex128 ? binary_of<Complex>(op)
                                    : nullptr;
}

AddNFn generic_add_n(Type type) {
  return type == Type::uint64       ? add_arrays<uint64_t>
         : type == Type::complex128 ? add_arrays<Complex>
                                    : nullptr;
}

ReduceKernel generic_reduce(ReduceOp op, Type type) {
  if (type != Type::uint64)
    return {};
  switch (op) {
  case ReduceOp::sum:
    return reduce_by<Sum>(false);
  case ReduceOp::mean:
    return reduce_by<Sum>(true);
  case ReduceOp::prod:
    return reduce_by<Product>(false);
  case ReduceOp::max:
    return reduce_by<Largest>(false);
  case ReduceOp::min:
    return reduce_by<Smallest>(false);
  default:
    return {};
  }
}

ArgReduceFn generic_arg_reduce(bool want_max, Type type, Type index_type) {
  if (type != Type::uint64)
    return nullptr;
  if (index_type == Type::int64)
    return want_max ? find_extreme<true, int64_t> : find_extreme<false, int64_t>;
  if (index_type == Type::int32)
    return want_max ? find_extreme<true, int32_t> : find_extreme<false, int32_t>;
  return nullptr;
}

void widen_complex(const void* x, void* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<Complex*>(y)[i] = Complex(static_cast<const std::complex<float>*>(x)[i]);
}

void narrow_complex(const void* x, void* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<std::complex<float>*>(y)[i] =
        std::complex<float>(static_cast<const Complex*>(x)[i]);
}

CastStep step_from(Type type) {
  switch (type) {
  case Type::complex64:
    return {Type::float32, real_part<float, float>};
  case Type::complex128:
    return {Type::float64, real_part<double, double>};
  case Type::int4:
    return {Type::int8, keep_signed_nibble};
  case Type::uint4:
    return {Type::uint8, keep_nibble};
  case Type::float8_e5m2:
    return {Type::float32, decode_all<e5m2>};
  case Type::float8_e4m3fn:
    return {Type::float32, decode_all<e4m3fn>};
  case Type::qint8:
    return {Type::int8};
  case Type::quint8:
    return {Type::uint8};
  case Type::qint16:
    return {Type::int16};
  case Type::quint16:
    return {Type::uint16};
  case Type::qint32:
    return {Type::int32};
  default:
    return {type};
  }
}

CastStep step_to(Type type) {
  switch (type) {
  case Type::complex64:
    return {Type::float32, without_imaginary<float>};
  case Type::complex128:
    return {Type::float64, without_imaginary<double>};
  case Type::float8_e5m2:
    return {Type::float32, encode_all<e5m2>};
  case Type::float8_e4m3fn:
    return {Type::float32, encode_all<e4m3fn>};
  default:
    return step_from(type); // the same in both directions
  }
}

} // namespace troupe::arith
