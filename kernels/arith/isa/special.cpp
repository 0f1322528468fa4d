// Special functions that are the same few polynomials for each element, so that loops become vector
// code.
#include "kernels/arith/isa/math.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

/// Wichura's PPND7 (Algorithm AS 241, 1988): the normal quantile of 1/2 + q as a quotient of
/// polynomials, of q^2 in the
/// middle and of sqrt(-log(tail)) in two parts farther out; `tail` is 1/2 - |q|, which the caller
/// has without rounding. The parts differ in their coefficients alone.
TROUPE_INLINE float quantile(float q, float tail) {
  const float a = abs_of(q);
  const bool middle = a <= 0.425f;
  const float root = __builtin_sqrtf(-log_of(tail));
  const bool near = root <= 5.0f;
  const float t = middle ? 0.180625f - q * q : root - (near ? 1.6f : 5.0f);
  const auto term = [&](float of_middle, float of_near, float of_far)
      __attribute__((always_inline)) {
    return middle ? of_middle : near ? of_near : of_far;
  };
  float above = term(59.109374720f, 0.17023821103f, 0.017337203997f);
  above = above * t + term(159.29113202f, 1.3067284816f, 0.42868294337f);
  above = above * t + term(50.434271938f, 2.7568153900f, 3.0812263860f);
  above = above * t + term(3.3871327179f, 1.4234372777f, 6.6579051150f);
  float below = term(67.187563600f, 0.0f, 0.0f);
  below = below * t + term(78.757757664f, 0.12021132975f, 0.012258202635f);
  below = below * t + term(17.895169469f, 0.73700164250f, 0.24197894225f);
  below = below * t + 1.0f;
  const float value = (middle ? a * above : above) / below;
  return with_sign_of(tail == 0.0f ? Real<float>::infinity : value, q);
}

/// Of x > 0, or NaN: from below 12 by 1/x + 1/(x + 1) + …, four at a time in one quotient; from
/// there on a series with Bernoulli's numbers B_2k / 2k.
TROUPE_INLINE double digamma_of(double x) {
  const bool is_small = x < 12.0;
  double steps = 0;
  TROUPE_UNROLL
  for (int k = 0; k < 12; k += 4) {
    const double from = x + k, outer = from * (from + 3), inner = outer + 2;
    steps += (2 * from + 3) * (outer + inner) / (outer * inner);
  }
  const double far = is_small ? x + 12 : x;
  const double inverse = 1 / far, s = inverse * inverse;
  const double tail =
      s * (1.0 / 12 -
           s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * 691 / 32760)))));
  return log_of(far) - 0.5 * inverse - tail - (is_small ? steps : 0.0);
}

} // namespace

void erfinv(const float* x, float* y, int64_t begin, int64_t end) {
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i)
    y[i] = quantile(x[i] * 0.5f, (1.0f - abs_of(x[i])) * 0.5f) * 0.707106781f;
}

void ndtri(const float* x, float* y, int64_t begin, int64_t end) {
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i)
    y[i] = quantile(x[i] - 0.5f, x[i] < 0.5f ? x[i] : 1.0f - x[i]);
}

void digamma(const float* x, float* y, int64_t begin, int64_t end) {
  constexpr int64_t block = 64;
  constexpr double pi = 3.14159265358979323846;
  for (int64_t first = begin; first < end; first += block) {
    const int64_t n = end - first < block ? end - first : block;
    double from[block], out[block];
    for (int64_t i = 0; i < n; ++i)
      from[i] = static_cast<double>(x[first + i]);
    TROUPE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
      out[i] = digamma_of(from[i] <= 0 ? 1 - from[i] : from[i]);
    for (int64_t i = 0; i < n; ++i) {
      if (from[i] <= 0) {                                           // by reflection
        const double part = from[i] - __builtin_nearbyint(from[i]); // exact also next to 0
        out[i] = part != 0 ? out[i] - pi / __builtin_tan(pi * part) : Real<double>::nan;
      }
      y[first + i] = static_cast<float>(out[i]);
    }
  }
}

} // namespace troupe::arith::TROUPE_ISA
