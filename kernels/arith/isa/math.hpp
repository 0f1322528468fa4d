// Elementary functions in a form that the compiler turns into vector code: no branches, no calls,
// no tables; exp_of also takes a vector. exp: x = n ln 2 + r, e^x = 2^n * (1 + q(r)) with q a
// Taylor polynomial on |r| <= ln(2)/2. log: x = 2^e * m with m in [sqrt(1/2), sqrt(2)), log m = 2
// atanh(s) with s = (m - 1) / (m + 1).
#pragma once
#include "kernels/arith/isa/lanes.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

template <class V>
using Element = std::remove_cvref_t<decltype(V{}[0])>;

/// What a vector's elements have; bits are a vector too.
template <class V>
struct Real : Real<Element<V>> {
  using Bits = Vector<typename Real<Element<V>>::Bits, sizeof(V) / sizeof(Element<V>)>;
};

template <>
struct Real<float> {
  using Scalar = float;
  using Bits = uint32_t;
  static constexpr float infinity = __builtin_huge_valf();
  static constexpr float nan = __builtin_nanf("");
  static constexpr float smallest = 1.17549435e-38f;
  static constexpr float log2e = 1.44269504f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr float magic = 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer
  static constexpr float exp_low = -104.0f, exp_high = 89.0f, expm1_low = -18.0f, tanh_high = 9.5f;
  static constexpr float half_pi = 1.57079637f, half_pi_rest = -4.37113883e-8f;
  static constexpr int mantissa_bits = 23, bias = 127;
  static constexpr Bits mantissa_mask = 0x7fffff, sqrt_half = 0x3f3504f3, one = 0x3f800000;
  static constexpr Bits all_but_sign = 0x7fffffff;
  static constexpr Bits exponent_magic = 0x4b000000; // bits of 2^23
  static constexpr float two_to_mantissa = 8388608.0f;
};

template <>
struct Real<double> {
  using Scalar = double;
  using Bits = uint64_t;
  static constexpr double infinity = __builtin_huge_val();
  static constexpr double nan = __builtin_nan("");
  static constexpr double smallest = 2.2250738585072014e-308;
  static constexpr double log2e = 1.4426950408889634, ln2_high = 0.6931471803691238,
                          ln2_low = 1.9082149292705877e-10;
  static constexpr double magic = 6755399441055744.0; // 1.5 * 2^52
  static constexpr double exp_low = -746.0, exp_high = 710.0, expm1_low = -40.0, tanh_high = 20.0;
  static constexpr double half_pi = 1.5707963267948966, half_pi_rest = 6.123233995736766e-17;
  static constexpr int mantissa_bits = 52, bias = 1023;
  static constexpr Bits mantissa_mask = 0xfffffffffffff, sqrt_half = 0x3fe6a09e667f3bcd,
                        one = 0x3ff0000000000000;
  static constexpr Bits all_but_sign = 0x7fffffffffffffff;
  static constexpr Bits exponent_magic = 0x4330000000000000; // bits of 2^52
  static constexpr double two_to_mantissa = 4503599627370496.0;
};

/// e^r - 1 for |r| <= 0.35.
template <class T>
TROUPE_INLINE T expm1_polynomial(T r) {
  if constexpr (sizeof(typename Real<T>::Scalar) == 4) {
    T p = r * (1.0f / 5040) + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    return p * (r * r) + r;
  } else {
    T p = r * (1.0 / 6227020800.0) + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    return p * (r * r) + r;
  }
}

/// 2^n for an n that came from rounding with `magic`: t = n + magic.
template <class T>
TROUPE_INLINE T power_of_two(T t) {
  using R = Real<T>;
  using Bits = typename R::Bits;
  constexpr auto magic = __builtin_bit_cast(typename Real<typename R::Scalar>::Bits, R::magic);
  const Bits n = __builtin_bit_cast(Bits, t) - magic;
  return __builtin_bit_cast(T, (n + R::bias) << R::mantissa_bits);
}

template <class T>
TROUPE_INLINE T exp_of(T x) {
  using R = Real<T>;
  using S = typename R::Scalar;
  T c = x < R::exp_low ? R::exp_low : x;
  c = c > R::exp_high ? R::exp_high : c;
  T n = (c * R::log2e + R::magic) - R::magic;
  T r = (c - n * R::ln2_high) - n * R::ln2_low;
  T half_t = n * S(0.5) + R::magic; // 2^n in two steps, so that subnormal and huge results come out
  T half = half_t - R::magic;
  T rest_t = (n - half) + R::magic;
  return (S(1) + expm1_polynomial(r)) * power_of_two(half_t) * power_of_two(rest_t);
}

template <class T>
TROUPE_INLINE T expm1_of(T x) {
  using R = Real<T>;
  T c = x < R::expm1_low ? R::expm1_low : x;
  c = c > R::exp_high ? R::exp_high : c;
  T n = (c * R::log2e + R::magic) - R::magic;
  T r = (c - n * R::ln2_high) - n * R::ln2_low;
  T scale = power_of_two((n - T(1)) + R::magic); // half of 2^n, which alone might overflow
  T y = (expm1_polynomial(r) * scale + (scale - T(0.5))) * T(2);
  return x == T(0) ? x : y; // with its sign
}

TROUPE_INLINE float atanh_tail(float z) {
  float p = 2.0f / 9;
  p = p * z + 2.0f / 7;
  p = p * z + 2.0f / 5;
  return (p * z + 2.0f / 3) * z;
}

TROUPE_INLINE double atanh_tail(double z) {
  double p = 2.0 / 21;
  p = p * z + 2.0 / 19;
  p = p * z + 2.0 / 17;
  p = p * z + 2.0 / 15;
  p = p * z + 2.0 / 13;
  p = p * z + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  return (p * z + 2.0 / 3) * z;
}

/// log(x) + correction * e^-log(x)'s worth: `correction` is added to log of the mantissa, for
/// log1p.
template <class T>
TROUPE_INLINE T log_plus(T x, T correction) {
  using R = Real<T>;
  using Bits = typename R::Bits;
  bool tiny = x < R::smallest;
  T y = tiny ? x * (R::two_to_mantissa * 4) : x;
  Bits bits = __builtin_bit_cast(Bits, y) + (R::one - R::sqrt_half);
  T e = __builtin_bit_cast(T, (bits >> R::mantissa_bits) | R::exponent_magic) -
        (R::two_to_mantissa + R::bias);
  e = tiny ? e - (R::mantissa_bits + 2) : e;
  T m = __builtin_bit_cast(T, (bits & R::mantissa_mask) + R::sqrt_half);
  T f = m - T(1);
  T s = f / (T(2) + f);
  T tail = atanh_tail(s * s);
  T log_m = f - (s * (f - tail) - (e * R::ln2_low + correction));
  T result = e * R::ln2_high + log_m;
  result = x == T(0) ? -R::infinity : result;
  result = x < T(0) ? R::nan : result;
  result = x == R::infinity ? x : result;
  return x != x ? x : result;
}

template <class T>
TROUPE_INLINE T log_of(T x) {
  return log_plus(x, T(0));
}

template <class T>
TROUPE_INLINE T log1p_of(T x) {
  T u = T(1) + x;
  T lost = x - (u - T(1)); // what rounding took from 1 + x
  T ok = u > T(0) && u < Real<T>::infinity ? lost / u : T(0);
  T small = x < T(0) ? -x : x;
  return small < T(1e-30) ? x : log_plus(u, ok);
}

template <class T>
TROUPE_INLINE T abs_of(T x) {
  using Bits = typename Real<T>::Bits;
  constexpr auto mask = Real<T>::all_but_sign;
  return __builtin_bit_cast(T, __builtin_bit_cast(Bits, x) & mask);
}

template <class T>
TROUPE_INLINE T with_sign_of(T magnitude, T sign) {
  using Bits = typename Real<T>::Bits;
  constexpr auto mask = Real<T>::all_but_sign;
  return __builtin_bit_cast(T, (__builtin_bit_cast(Bits, magnitude) & mask) |
                                   (__builtin_bit_cast(Bits, sign) & ~mask));
}

template <class T>
TROUPE_INLINE T tanh_of(T x) {
  T a = abs_of(x);
  a = a > Real<T>::tanh_high ? Real<T>::tanh_high : a;
  T t = expm1_of(a + a);
  return with_sign_of(t / (t + T(2)), x);
}

template <class T>
TROUPE_INLINE T sigmoid_of(T x) {
  T e = exp_of(-abs_of(x)); // at most 1: the far tail keeps its subnormal values
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

template <class T>
TROUPE_INLINE T softplus_of(T x) {
  T positive = x < T(0) ? T(0) : x;
  T e = exp_of(-abs_of(x)); // at most 1, so log1p needs none of its cases
  T u = T(1) + e;
  return positive + log_plus(u, (e - (u - T(1))) / u);
}

/// atan(q) / q - 1 by z = q * q for |q| <= 1, but for its sign: Chebyshev's series of atan, cut
/// where its terms are below the last place, as a polynomial of z.
TROUPE_INLINE float atan_tail(float z) {
  constexpr float terms[] = {
      -3.333329868e-01f, 1.999905617e-01f,  -1.427370296e-01f, 1.102468170e-01f,  -8.700871198e-02f,
      6.514736840e-02f,  -4.174306900e-02f, 2.019386137e-02f,  -6.273012205e-03f, 9.143684282e-04f};
  float p = terms[9];
  TROUPE_UNROLL
  for (int k = 8; k >= 0; --k)
    p = p * z + terms[k];
  return p * z;
}

TROUPE_INLINE double atan_tail(double z) {
  constexpr double terms[] = {
      -3.33333333333332427e-01, 1.99999999999896233e-01,  -1.42857142851625735e-01,
      1.11111110941415139e-01,  -9.09090875324240349e-02, 7.69230302554192169e-02,
      -6.66661963413438391e-02, 5.88199495332698413e-02,  -5.26104539610284180e-02,
      4.75204408239425710e-02,  -4.31083764731528749e-02, 3.88705885544118057e-02,
      -3.41989234074291243e-02, 2.85531842325930374e-02,  -2.18473642709476508e-02,
      1.47435394106765708e-02,  -8.43289884418748498e-03, 3.91757689536378559e-03,
      -1.40497916977050798e-03, 3.62350360215508516e-04,  -5.95097673829256523e-05,
      4.65834286959895427e-06};
  double p = terms[21];
  TROUPE_UNROLL
  for (int k = 20; k >= 0; --k)
    p = p * z + terms[k];
  return p * z;
}

/// The angle of (x, y). The smaller one through the larger one is at most 1; what that leaves out
/// are multiples of pi / 2, added in two parts.
template <class T>
TROUPE_INLINE T atan2_of(T y, T x) {
  using R = Real<T>;
  const T a = abs_of(x), b = abs_of(y);
  const bool steep = b > a, left = with_sign_of(T(1), x) < T(0);
  const T low = steep ? a : b, high = steep ? b : a;
  const T ratio = low / high;
  // Two zeros make NaN, and two infinities.
  const T same = high == T(0) ? T(0) : T(1);
  const T q = low == high ? same : ratio;
  const T angle = q + q * atan_tail(q * q);
  const T from = steep ? R::half_pi : left ? 2 * R::half_pi : T(0);
  const T rest = steep ? R::half_pi_rest : left ? 2 * R::half_pi_rest : T(0);
  const T part = steep != left ? -angle : angle;
  return with_sign_of(from + (part + rest), y);
}

} // namespace
} // namespace troupe::arith::TROUPE_ISA
