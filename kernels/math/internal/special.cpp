#include "kernels/math/internal/special.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace troupe::math::special {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double pi = std::numbers::pi;
constexpr int most_terms = 2000; // of any series or fraction

bool is_whole(double x) {
  return x == std::floor(x);
}

// ---- the normal distribution

/// terms[0] + terms[1] x + …
template <std::size_t count>
double polynomial(const double (&terms)[count], double x) {
  double out = terms[count - 1];
  for (std::size_t k = count - 1; k-- > 0;)
    out = out * x + terms[k];
  return out;
}

/// Wichura's PPND16 (Algorithm AS 241, 1988): the quantile of 1/2 + q to 16 digits; `tail` is 1/2 -
/// |q|, which the caller has without rounding.
double quantile(double q, double tail) {
  if (std::abs(q) <= 0.425) {
    constexpr double above[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                1.9715909503065514427e3, 1.3731693765509461125e4,
                                4.5921953931549871457e4, 6.7265770927008700853e4,
                                3.3430575583588128105e4, 2.5090809287301226727e3};
    constexpr double below[] = {1.0,
                                4.2313330701600911252e1,
                                6.8718700749205790830e2,
                                5.3941960214247511077e3,
                                2.1213794301586595867e4,
                                3.9307895800092710610e4,
                                2.8729085735721942674e4,
                                5.2264952788528545610e3};
    const double t = 0.180625 - q * q;
    return q * polynomial(above, t) / polynomial(below, t);
  }
  const double root = std::sqrt(-std::log(tail));
  double out = infinity;
  if (root <= 5) {
    constexpr double above[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                5.76949722146069140550e0,  3.64784832476320460504e0,
                                1.27045825245236838258e0,  2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    constexpr double below[] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    out = polynomial(above, root - 1.6) / polynomial(below, root - 1.6);
  } else if (tail > 0) {
    constexpr double above[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    constexpr double below[] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    out = polynomial(above, root - 5) / polynomial(below, root - 5);
  }
  return std::copysign(out, q);
}

// ---- the modified Bessel functions

constexpr double far = 25; // where the asymptotic series have all digits

/// Sum of (x^2/4)^k / (k! (k+n)!) times (x/2)^n: all terms have one sign.
double i_series(int n, double x) {
  const double quarter = x * x / 4;
  double term = n == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < most_terms && std::abs(term) > epsilon * std::abs(sum) / 4; ++k) {
    term *= quarter / (static_cast<double>(k) * (k + n));
    sum += term;
  }
  return sum;
}

/// Sum of sign^k a_k(n) / x^k for large x (Abramowitz and Stegun, 9.7.1 and 9.7.2).
double bessel_tail(int n, double x, double sign) {
  double term = 1, sum = 1;
  for (int k = 1; k < 60; ++k) {
    const double odd = 2 * k - 1;
    const double next = term * sign * (4.0 * n * n - odd * odd) / (8 * k * x);
    if (std::abs(next) > std::abs(term) || std::abs(next) < epsilon * std::abs(sum) / 4)
      break;
    term = next;
    sum += term;
  }
  return sum;
}

double scaled_i(int n, double x) {
  const double size = std::abs(x);
  if (std::isinf(x))
    return n == 1 && x < 0 ? -0.0 : 0.0;
  const double value = size < far ? i_series(n, size) * std::exp(-size)
                                  : bessel_tail(n, size, -1) / std::sqrt(2 * pi) / std::sqrt(size);
  return n == 1 && x < 0 ? -value : value;
}

double plain_i(int n, double x) {
  const double size = std::abs(x);
  if (std::isinf(x))
    return nan; // TensorFlow's product of infinity and 0
  const double value =
      size < far ? i_series(n, size) : scaled_i(n, size) * std::exp(size / 2) * std::exp(size / 2);
  return n == 1 && x < 0 ? -value : value;
}

/// For x below `far`. The library's throws for the smallest.
double near_k(int n, double x) {
  constexpr double euler = 0.577215664901532861;
  if (x < 1e-9) // the first term, and x^2 less
    return n == 0 ? -std::log(x) + std::log(2.0) - euler : 1 / x;
  return std::cyl_bessel_k(n, x);
}

double scaled_k(int n, double x) {
  if (std::isnan(x))
    return nan;
  if (x <= 0)
    return infinity;
  return x < far ? near_k(n, x) * std::exp(x) : bessel_tail(n, x, 1) * std::sqrt(pi / 2 / x);
}

double plain_k(int n, double x) {
  if (!(x > 0))
    return scaled_k(n, x);
  return x > 0 && x < far ? near_k(n, x) : scaled_k(n, x) * std::exp(-x);
}

// ---- the incomplete gamma functions

/// P by its series.
double gamma_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int k = 1; k < most_terms && std::abs(term) > epsilon * std::abs(sum) / 4; ++k) {
    term *= x / (a + k);
    sum += term;
  }
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

/// Q by its continued fraction, in Lentz' way.
double gamma_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int k = 1; k < most_terms; ++k) {
    const double an = -k * (k - a);
    b += 2;
    d = an * d + b;
    c = b + an / c;
    if (std::abs(d) < tiny)
      d = tiny;
    if (std::abs(c) < tiny)
      c = tiny;
    d = 1 / d;
    h *= d * c;
    if (std::abs(d * c - 1) < epsilon)
      break;
  }
  return h * std::exp(a * std::log(x) - x - std::lgamma(a));
}

/// What both have at their borders; `lower` says for which. False inside.
// As TensorFlow has it: no a of 0, the lower function of x = 0 is 0 for any a, and where both are
// infinite both functions are 0.
bool gamma_border(double a, double x, bool lower, double& out) {
  const double one = lower ? 1 : 0, none = lower ? 0 : 1;
  if (x == 0 && lower)
    out = 0;
  else if (std::isnan(a) || std::isnan(x) || x < 0 || a <= 0)
    out = nan;
  else if (std::isinf(a) && std::isinf(x))
    out = 0;
  else if (std::isinf(x))
    out = one;
  else if (x == 0 || std::isinf(a))
    out = none;
  else
    return false;
  return true;
}

double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < tiny ? tiny : d);
  double h = d;
  const auto step = [&](double factor) {
    d = 1 + factor * d;
    c = 1 + factor / c;
    d = 1 / (std::abs(d) < tiny ? tiny : d);
    c = std::abs(c) < tiny ? tiny : c;
    h *= d * c;
    return std::abs(d * c - 1);
  };
  for (int k = 1; k < most_terms; ++k) {
    step(k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)));
    if (step(-(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))) < epsilon)
      break;
  }
  return h;
}

/// Both Fresnel integrals, as C + iS.
std::complex<double> fresnel(double x) {
  const double size = std::abs(x), square = pi * x * x;
  if (std::isinf(square))
    return std::copysign(1.0, x) * std::complex(0.5, 0.5);
  if (size < 1.5) { // sum of (i pi x^2 / 2)^k / (k! (2k + 1)), times x
    std::complex<double> term = 1, sum = 1;
    for (int k = 1; k < most_terms && std::abs(term) > epsilon * std::abs(sum) / 16; ++k) {
      term *= std::complex(0.0, square / 2) / static_cast<double>(k);
      sum += term / (2.0 * k + 1);
    }
    return x * sum;
  }
  // The fraction of the complementary error function of (1 - i) sqrt(pi) x / 2.
  std::complex<double> b(1, -square), c = 1e300, d = 1.0 / b, h = d;
  for (int k = 1; k < most_terms; ++k) {
    const double n = 2 * k - 1, a = -n * (n + 1);
    b += 4.0;
    d = 1.0 / (a * d + b);
    c = b + a / c;
    const std::complex<double> change = c * d;
    h *= change;
    if (std::abs(change - 1.0) < epsilon)
      break;
  }
  h *= std::complex(size, -size);
  const std::complex<double> turn(std::cos(square / 2), std::sin(square / 2));
  return std::copysign(1.0, x) * std::complex(0.5, 0.5) * (1.0 - turn * h);
}

/// The dilogarithm for |w| <= 1/2.
double dilogarithm_series(double w) {
  double power = w, sum = w;
  for (int k = 2; k < 100 && std::abs(power) > epsilon * std::abs(sum) / 4; ++k) {
    power *= w;
    sum += power / (static_cast<double>(k) * k);
  }
  return sum;
}

double dilogarithm(double w) {
  constexpr double sixth = pi * pi / 6;
  if (w == 1)
    return sixth;
  if (w < -1) {
    const double log = std::log(-w);
    return -sixth - log * log / 2 - dilogarithm(1 / w);
  }
  if (w < -0.5) {
    const double log = std::log1p(-w);
    return -dilogarithm_series(w / (w - 1)) - log * log / 2;
  }
  if (w > 0.5)
    return sixth - std::log(w) * std::log1p(-w) - dilogarithm_series(1 - w);
  return dilogarithm_series(w);
}

} // namespace

double digamma(double x) {
  if (std::isnan(x) || x == -infinity)
    return nan;
  if (x <= 0) {
    if (is_whole(x))
      return nan;
    return digamma(1 - x) - pi / std::tan(pi * (x - std::nearbyint(x))); // exact also next to 0
  }
  double out = 0;
  for (; x < 12; x += 4) { // 1/x + 1/(x + 1) + 1/(x + 2) + 1/(x + 3)
    const double outer = x * (x + 3), inner = outer + 2, sum = 2 * x + 3;
    out -= sum * (outer + inner) / (outer * inner);
  }
  const double s = 1 / (x * x); // with Bernoulli's numbers B_2k / 2k
  const double tail =
      s * (1.0 / 12 -
           s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * 691 / 32760)))));
  return out + std::log(x) - 0.5 / x - tail;
}

double ndtri(double p) {
  if (std::isnan(p) || p < 0 || p > 1)
    return nan;
  return quantile(p - 0.5, p < 0.5 ? p : 1 - p);
}

double erfinv(double x) {
  const double size = std::abs(x);
  if (std::isnan(x) || size > 1)
    return nan;
  return quantile(x / 2, (1 - size) / 2) / std::numbers::sqrt2;
}

// At its poles TensorFlow's zeta is infinite where x is even, else NaN.
double zeta(double x, double q) {
  if (x == 1)
    return infinity;
  if (std::isnan(x) || std::isnan(q) || x < 1)
    return nan;
  if (q <= 0) {
    if (q == std::floor(q)) // minus infinity, too
      return std::isinf(x) || std::fmod(x, 2) == 0 ? infinity : nan;
    if (x != std::floor(x))
      return nan;
  }
  if (std::isinf(q))
    return 0;
  if (std::isinf(x)) // of q^-x, (q + 1)^-x, … what is of a number below 1 is infinite, above it 0
    return q < 1 ? infinity : q == 1 ? 1 : 0;
  if (q < -100) { // (q + k)^-x over the numbers below 0 are two sums of numbers above it
    const double above = q + std::ceil(-q);
    const double below = zeta(x, 1 - above) - zeta(x, 1 - q);
    return zeta(x, above) + (std::fmod(x, 2) == 0 ? below : -below);
  }
  // Euler and Maclaurin: some terms, then the integral and corrections.
  constexpr double coefficients[] = {1.0 / 12,          -1.0 / 720,
                                     1.0 / 30240,       -1.0 / 1209600,
                                     1.0 / 47900160,    -691.0 / 1307674368000,
                                     1.0 / 74724249600, -3617.0 / 10670622842880000};
  double sum = 0;
  while (q < 10) {
    sum += std::pow(q, -x);
    q += 1;
  }
  const double power = std::pow(q, -x);
  sum += power * q / (x - 1) + power / 2;
  double factor = x * power / q;
  for (int k = 0; k < 8; ++k) {
    sum += coefficients[k] * factor;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2) / (q * q);
  }
  return sum;
}

double polygamma(double n, double x) {
  if (std::isnan(n) || n < 0 || !is_whole(n))
    return nan;
  if (n == 0)
    return digamma(x);
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  return sign * std::tgamma(n + 1) * zeta(n + 1, x);
}

double igamma(double a, double x) {
  double border = 0;
  if (gamma_border(a, x, true, border))
    return border;
  return x > 1 && x > a ? 1 - gamma_fraction(a, x) : gamma_series(a, x);
}

double igammac(double a, double x) {
  double border = 0;
  if (gamma_border(a, x, false, border))
    return border;
  return x < 1 || x < a ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}

namespace {

/// Far enough above the middle that the derivatives of P, which is nearly 1, have to come from Q's.
bool is_upper_tail(double a, double x) {
  return x > a + 4 * std::sqrt(a) + 2;
}

/// -(dP/da) / (dP/dx) there. With h = Q / (dP/dx), x times Legendre's continued fraction, it is
/// h (log x - digamma(a)) + dh/da; the derivative of the fraction comes along step by step.
double upper_sample_grad(double a, double x) {
  constexpr int depth = 60;
  double fraction = x + 2 * depth + 1 - a, slope = -1;
  for (int n = depth; n > 0; --n) {
    const double by = n * (a - n) / fraction;
    slope = -1 + n / fraction - by * slope / fraction;
    fraction = x + 2 * n - 1 - a + by;
  }
  const double h = x / fraction;
  return h * (std::log(x) - digamma(a)) - h * slope / fraction;
}

} // namespace

double igamma_grad_a(double a, double x) {
  if (x == 0) // whatever a is, as TensorFlow has it
    return 0;
  if (std::isnan(a) || std::isnan(x) || x < 0 || a <= 0)
    return nan;
  if (std::isinf(x) || std::isinf(a))
    return 0;
  const double log = std::log(x);
  if (is_upper_tail(a, x))
    return -std::exp((a - 1) * log - x - std::lgamma(a)) * upper_sample_grad(a, x);
  // Each term of P's series, x^(a+k) exp(-x) / Gamma(a+k+1), by a.
  double term = std::exp(a * log - x - std::lgamma(a + 1)), sum = 0, psi = digamma(a + 1);
  const int terms = static_cast<int>(std::min(x + 40 * std::sqrt(x) + 100, 1e6));
  for (int k = 0; k < terms; ++k) {
    sum += term * (log - psi);
    psi += 1 / (a + k + 1);
    term *= x / (a + k + 1);
    if (k > x && term < epsilon * 1e-3)
      break;
  }
  return sum;
}

double gamma_sample_grad(double a, double x) {
  if (x == 0) // whatever a is, as TensorFlow has it
    return 0;
  if (std::isnan(a) || std::isnan(x) || x < 0 || a <= 0)
    return nan;
  if (std::isinf(x) || std::isinf(a))
    return 0;
  if (is_upper_tail(a, x))
    return upper_sample_grad(a, x);
  if (x > 1e6) // the series below has too many terms: the normal distribution's quantile
    return (x + a) / (2 * a);
  // The terms of igamma_grad_a by the density x^(a-1) exp(-x) / Gamma(a), which cancels.
  const double log = std::log(x);
  double term = x / a, sum = 0, psi = digamma(a + 1), largest = 0;
  const int terms = static_cast<int>(std::min(x + 40 * std::sqrt(x) + 100, 1e6));
  for (int k = 0; k < terms; ++k) {
    sum -= term * (log - psi);
    largest = std::max(largest, term);
    psi += 1 / (a + k + 1);
    term *= x / (a + k + 1);
    if (k > x && term < epsilon * 1e-3 * largest)
      break;
  }
  return sum;
}

double betainc(double a, double b, double x) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(x) || a <= 0 || b <= 0 || x < 0 || x > 1)
    return nan;
  if (x == 0 || x == 1)
    return x;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double bessel_i0(double x) {
  return plain_i(0, x);
}
double bessel_i1(double x) {
  return plain_i(1, x);
}
double bessel_i0e(double x) {
  return scaled_i(0, x);
}
double bessel_i1e(double x) {
  return scaled_i(1, x);
}
double bessel_k0(double x) {
  return plain_k(0, x);
}
double bessel_k1(double x) {
  return plain_k(1, x);
}
double bessel_k0e(double x) {
  return scaled_k(0, x);
}
double bessel_k1e(double x) {
  return scaled_k(1, x);
}

double dawsn(double x) {
  if (std::isinf(x))
    return 0;
  const double square = x * x;
  if (std::abs(x) < 6) { // exp(-x^2) times the sum of x^(2k+1) / (k! (2k + 1))
    double term = x, sum = x;
    for (int k = 1; k < most_terms && std::abs(term) > epsilon * std::abs(sum) / 4; ++k) {
      term *= square / k;
      sum += term / (2 * k + 1);
    }
    return sum * std::exp(-square);
  }
  double term = 1, sum = 1;
  for (int k = 1; k < 30 && term > epsilon / 4; ++k) {
    term *= (2 * k - 1) / (2 * square);
    sum += term;
  }
  return sum / (2 * x);
}

double expint(double x) {
  if (std::isnan(x))
    return x;
  if (x < 0 || std::isinf(x))
    return nan;
  return x == 0 ? -infinity : std::expint(x);
}

double fresnel_cos(double x) {
  return fresnel(x).real();
}
double fresnel_sin(double x) {
  return fresnel(x).imag();
}

double spence(double x) {
  if (std::isnan(x) || x < 0)
    return nan;
  return std::isinf(x) ? nan : dilogarithm(1 - x);
}

} // namespace troupe::math::special
