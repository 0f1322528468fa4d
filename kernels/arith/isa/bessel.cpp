// Bessel functions, in double for f32, too: series of Chebyshev's polynomials that go through the
// function at 64 of Chebyshev's points. Of f32 the first terms alone, to 1e-9; of f64 all of them.
// Angles and erfc in the elements' own precision.
#include "kernels/arith/isa/math.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

// exp(-x) I0(x) and exp(-x) I1(x) / x by x / 4 - 1, x below 8; from there on exp(-x) sqrt(x) In(x)
// by 16 / x - 1.
constexpr double i0_near[] = {
    3.38397637204738042e-1,   -3.04682672343198399e-1,  1.71620901522208775e-1,
    -9.49010970480476444e-2,  4.93052842396707085e-2,   -2.37374148058994688e-2,
    1.05464603945949983e-2,   -4.32430999505057594e-3,  1.6394756169413358e-3,
    -5.76375574538582366e-4,  1.88502885095841656e-4,   -5.7541950100821037e-5,
    1.64484480707288971e-5,   -4.41673835845875056e-6,  1.11738753912010372e-6,
    -2.67079385394061173e-7,  6.04699502254191895e-8,   -1.30002500998624804e-8,
    2.65982372468238665e-9,   -5.18979560163526291e-10, 9.67580903537323691e-11,
    -1.72682629144155571e-11, 2.95505266312963983e-12,  -4.85644678311192946e-13,
    7.67618549860493562e-14,  -1.16853328779934517e-14, 1.71539128555513303e-15,
    -2.43127984654795469e-16, 3.3307945188222381e-17,   -4.41534164647933938e-18};
constexpr double i1_near[] = {
    1.26293593221816827e-1,   -1.76416518357834055e-1,  1.02643658689847095e-1,
    -5.29459812080949914e-2,  2.47264490306265168e-2,   -1.05640848946261982e-2,
    4.15642294431288816e-3,   -1.51357245063125315e-3,  5.12285956168575773e-4,
    -1.61760815825896746e-4,  4.78156510755005423e-5,   -1.32731636560394358e-5,
    3.47025130813767848e-6,   -8.56872026469545474e-7,  2.00329475355213526e-7,
    -4.44505912879632808e-8,  9.38153738649577178e-9,   -1.88724975172282929e-9,
    3.62559028155211704e-10,  -6.66348972350202774e-11, 1.17361862988909016e-11,
    -1.98397439776494372e-12, 3.22379336594557471e-13,  -5.04218550472791169e-14,
    7.60068429473540693e-15,  -1.10559694773538631e-15, 1.55363195773620047e-16,
    -2.11142121435816608e-17, 2.77791411276104637e-18,  -3.54158177254213621e-19};
constexpr double i0_far[] = {
    4.02245205507054416e-1,   3.36911647825569409e-3,   6.88975834691682398e-5,
    2.89137052083475648e-6,   2.04891858946906374e-7,   2.26666899049817806e-8,
    3.39623202570838635e-9,   4.94060238822496959e-10,  1.18891471078464383e-11,
    -3.14991652796324136e-11, -1.32158118404477131e-11, -1.79417853150680612e-12,
    7.18012445138366623e-13,  3.8527783827421427e-13,   1.54008621752140983e-14,
    -4.15056934728722209e-14, -9.55484669882830765e-15, 3.81168066935262242e-15,
    1.77256013305652638e-15,  -3.42548561967721913e-16, -2.82762398051658348e-16,
    3.46122286769746109e-17,  4.46562142029676e-17,     -4.83050448594418207e-18,
    -7.23318048787475395e-18};
constexpr double i1_far[] = {
    3.8928811750914006e-1,    -9.76109749136146841e-3,  -1.10588938762623716e-4,
    -3.88256480887769039e-6,  -2.51223623787020893e-7,  -2.63146884688951951e-8,
    -3.83538038596423702e-9,  -5.58974346219658381e-10, -1.89749581235054123e-11,
    3.25260358301548824e-11,  1.41258074366137813e-11,  2.03562854414708951e-12,
    -7.19855177624590851e-13, -4.08355111109219732e-13, -2.10154184277266431e-14,
    4.27244001671195135e-14,  1.04202769841288028e-14,  -3.8144030724370078e-15,
    -1.88035477551078245e-15, 3.30820231092092828e-16,  2.96262899764595014e-16,
    -3.20952592199342396e-17, -4.65030536848935833e-17, 4.41434832307170795e-18,
    7.51729631084210481e-18};

// I0(x), I1(x) / x, K0(x) + log(x / 2) I0(x) and x (K1(x) - log(x / 2) I1(x)) by x^2 / 2 - 1, x
// below 2; from there on exp(x) sqrt(x) Kn(x) by 4 / x - 1.
constexpr double i0_small[] = {1.60292280680796332,     6.38809625651177011e-1,
                               3.6854859694361758e-2,   9.82878127251479832e-4,
                               1.49836542089272927e-5,  1.4738449008423847e-7,
                               1.01147979006748255e-9,  5.11499790201127981e-12,
                               1.98428062268056187e-14, 6.0905165060589549e-17};
constexpr double i1_small[] = {
    6.41758996991187405e-1,  1.47539320149193419e-1,  5.89874268002078831e-3,
    1.19881371746387083e-4,  1.47391651190931269e-6,  1.21380749687409216e-8,
    7.16110669279927947e-11, 3.17487931131011993e-13, 1.09629983487730753e-15};
constexpr double k0_small[] = {
    -2.67663696616951384e-1, 3.44289899924628487e-1,  3.59799365153615016e-2,
    1.26461541144692592e-3,  2.28621210311945179e-5,  2.53479107902614946e-7,
    1.90451637722020886e-9,  1.03496952576336246e-11, 4.25981614279108258e-14,
    1.3744654358807509e-16,  3.57089652850837359e-19};
constexpr double k1_small[] = {7.62650113669473885e-1,   -3.53155960776544876e-1,
                               -1.22611180822657148e-1,  -6.97572385963986435e-3,
                               -1.73028895751305206e-4,  -2.43340614156596823e-6,
                               -2.21338763073472586e-8,  -1.41148839263352776e-10,
                               -6.66690169419932901e-13, -2.42744985051936593e-15};
constexpr double k0_far[] = {
    1.22015154103297773,      -3.14481013119645005e-2,  1.56988388573005337e-3,
    -1.28495495816278026e-4,  1.39498137188764994e-5,   -1.83175552271911948e-6,
    2.76681363944501508e-7,   -4.66048989768794767e-8,  8.57403401741422609e-9,
    -1.69753450938906152e-9,  3.57739728140032845e-10,  -7.95748924447739704e-11,
    1.85594911495492655e-11,  -4.51459788337451918e-12, 1.14034058820734423e-12,
    -2.98009692314817835e-13, 8.03289077506837437e-14,  -2.22751332674629636e-14,
    6.34007647627664597e-15,  -1.84859337792090717e-15, 5.51205599940433336e-16,
    -1.67823112575490064e-16, 5.21039177764355411e-17,  -1.64758059398426328e-17};
constexpr double k1_far[] = {
    1.36031309524222133,      1.03923736576817238e-1,   -2.85781685962277939e-3,
    1.95215518471351631e-4,   -1.93619797416608296e-5,  2.40648494783721712e-6,
    -3.50196060308781254e-7,  5.74108412545004929e-8,   -1.0345762465678097e-8,
    2.01504975519703462e-9,   -4.19035475934192558e-10, 9.21831518760531413e-11,
    -2.12996783842779102e-11, 5.13963967348234354e-12,  -1.28917396094982294e-12,
    3.34841966605224312e-13,  -8.97670518201014607e-14, 2.47715442421959868e-14,
    -7.01983708921476885e-15, 2.03870316623986088e-15,  -6.05704727064301782e-16,
    1.83809357524304543e-16,  -5.68946284919364837e-17, 1.79405104788635729e-17};

/// The series of the first `few` coefficients, or with `exact` of all, at t in [-1, 1]: Clenshaw's
/// sum.
template <bool exact, int few, int size>
TROUPE_INLINE double series(const double (&c)[size], double t) {
  constexpr int terms = exact ? size : few;
  const double twice = t + t;
  double sum = c[terms - 1], before = 0;
  TROUPE_UNROLL
  for (int k = terms - 2; k > 0; --k) {
    const double next = twice * sum + (c[k] - before);
    before = sum;
    sum = next;
  }
  return t * sum + (c[0] - before);
}

/// exp(-|x|) In(x).
template <int n, bool exact>
TROUPE_INLINE double scaled_i(double x) {
  const double a = abs_of(x), root = __builtin_sqrt(a);
  if constexpr (n == 0) {
    const double near = series<exact, 20>(i0_near, 0.25 * a - 1.0);
    const double far = series<exact, 8>(i0_far, 16.0 / a - 1.0) / root;
    return a <= 8.0 ? near : far;
  } else {
    const double near = series<exact, 20>(i1_near, 0.25 * a - 1.0) * a;
    const double far = series<exact, 8>(i1_far, 16.0 / a - 1.0) / root;
    return with_sign_of(a <= 8.0 ? near : far, x);
  }
}

template <int n, bool exact>
TROUPE_INLINE double plain_i(double x) {
  const double half = exp_of(0.5 * abs_of(x)); // a factor twice: the square alone might overflow
  return scaled_i<n, exact>(x) * half * half;
}

/// Kn(x), times exp(x) with `scales`. Infinite at 0 and below.
template <int n, bool exact, bool scales>
TROUPE_INLINE double any_k(double x) {
  const double s = 0.5 * x * x - 1.0, log = log_of(0.5 * x), root = __builtin_sqrt(x);
  const double to_near = scales ? exp_of(x) : 1.0, to_far = scales ? 1.0 : exp_of(-x);
  double near, far;
  if constexpr (n == 0) {
    near = series<exact, 7>(k0_small, s) - log * series<exact, 6>(i0_small, s);
    far = series<exact, 10>(k0_far, 4.0 / x - 1.0) / root;
  } else {
    const double product =
        x < 1e-150 ? 0.0 : log * x; // the logarithm of a denormal may be infinite
    near = series<exact, 7>(k1_small, s) / x + product * series<exact, 6>(i1_small, s);
    far = series<exact, 10>(k1_far, 4.0 / x - 1.0) / root;
  }
  const double value = x <= 2.0 ? near * to_near : far * to_far;
  return x <= 0.0 ? Real<double>::infinity : value;
}

#define TROUPE_FUNCTION(name, expression)                                                          \
  struct name {                                                                                    \
    template <bool exact>                                                                          \
    TROUPE_INLINE double of(double x) {                                                            \
      return expression;                                                                           \
    }                                                                                              \
  };

TROUPE_FUNCTION(I0, (plain_i<0, exact>(x)))
TROUPE_FUNCTION(I1, (plain_i<1, exact>(x)))
TROUPE_FUNCTION(I0e, (scaled_i<0, exact>(x)))
TROUPE_FUNCTION(I1e, (scaled_i<1, exact>(x)))
TROUPE_FUNCTION(K0, (any_k<0, exact, false>(x)))
TROUPE_FUNCTION(K1, (any_k<1, exact, false>(x)))
TROUPE_FUNCTION(K0e, (any_k<0, exact, true>(x)))
TROUPE_FUNCTION(K1e, (any_k<1, exact, true>(x)))

template <class T, class F>
void map(const void* x, void* y, int64_t begin, int64_t end) {
  const auto* in = static_cast<const T*>(x);
  auto* out = static_cast<T*>(y);
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i)
    out[i] = static_cast<T>(F::template of<sizeof(T) == 8>(static_cast<double>(in[i])));
}

TROUPE_INLINE float root_of(float x) {
  return __builtin_sqrtf(x);
}
TROUPE_INLINE double root_of(double x) {
  return __builtin_sqrt(x);
}

/// (asin(s) - s) / s^3 by z = s^2 up to 1/4, to 5e-9.
TROUPE_INLINE float asin_rest(float z) {
  float p = 0.0336908472f * z + 0.0171492384f;
  p = p * z + 0.0311006628f;
  p = p * z + 0.0445994015f;
  p = p * z + 0.0750009454f;
  return p * z + 0.166666663f;
}

/// Of |x| up to 1/2 asin(|x|), beyond it half of acos(|x|). All of it is computed for every x: a
/// root or a difference in a branch would stay scalar.
TROUPE_INLINE float arc_of(float x) {
  const float a = abs_of(x), near = a * a, half = 0.5f - 0.5f * a, root = root_of(half);
  const float z = a > 0.5f ? half : near, s = a > 0.5f ? root : a;
  return s + s * z * asin_rest(z);
}
constexpr float half_pi = Real<float>::half_pi, half_pi_rest = Real<float>::half_pi_rest;

// The inverse trigonometric functions: of double the angles of points.
struct Asin {
  template <class T>
  TROUPE_INLINE T of(T x) {
    return atan2_of(x, root_of((T(1) - x) * (T(1) + x)));
  }
  TROUPE_INLINE float of(float x) {
    const float arc = arc_of(x), far = (half_pi - 2.0f * arc) + half_pi_rest;
    return with_sign_of(abs_of(x) > 0.5f ? far : arc, x);
  }
};
struct Acos {
  template <class T>
  TROUPE_INLINE T of(T x) {
    return atan2_of(root_of((T(1) - x) * (T(1) + x)), x);
  }
  TROUPE_INLINE float of(float x) {
    const float arc = arc_of(x), twice = 2.0f * arc;
    const float near = (half_pi - with_sign_of(arc, x)) + half_pi_rest;
    const float from_pi = (2.0f * half_pi - twice) + 2.0f * half_pi_rest;
    const float far = x < 0.0f ? from_pi : twice;
    return abs_of(x) > 0.5f ? far : near;
  }
};
// (1 + 2 x) exp(x^2) erfc(x) by powers of (x - 3.75) / (x + 3.75), x above 0: what goes through it
// at Chebyshev's points.
constexpr float erfc_any[] = {1.23751262f,     -0.140240658f,  0.00358627039f,  0.08227842f,
                              -0.10881427f,    0.0922907696f,  -0.0586468587f,  0.0284092524f,
                              -0.00984449486f, 0.00167591222f, 0.000396307613f, -0.000224116747f};

/// exp(-x^2), 0 <= x <= 11. The square of the upper half of x's digits is exact.
TROUPE_INLINE float exp_of_square(float x) {
  const float high = __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, x) & 0xfffff000u);
  const float rest = (high - x) * (high + x);
  float p = rest * (1.0f / 24) + 1.0f / 6;
  p = p * rest + 0.5f;
  p = p * rest + 1.0f;
  return exp_of(-high * high) * (p * rest + 1.0f);
}

struct Erfc {
  TROUPE_INLINE float of(float x) {
    float a = abs_of(x);
    a = a > 10.125f ? 10.125f : a;                                  // where it is 0
    const float inverse = 1.0f / ((a + 3.75f) * (1.0f + 2.0f * a)); // one division for both
    const float t = (a - 3.75f) * (1.0f + 2.0f * a) * inverse;
    float p = erfc_any[11];
    TROUPE_UNROLL
    for (int k = 10; k >= 0; --k)
      p = p * t + erfc_any[k];
    const float value = p * (a + 3.75f) * inverse * exp_of_square(a), other = 2.0f - value;
    return x < 0.0f ? other : value;
  }
};

struct Atan {
  template <class T>
  TROUPE_INLINE T of(T x) {
    return atan2_of(x, T(1));
  }
};

template <class T, class F>
void map_plain(const void* x, void* y, int64_t begin, int64_t end) {
  const auto* in = static_cast<const T*>(x);
  auto* out = static_cast<T*>(y);
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i)
    out[i] = F::of(in[i]);
}

template <class T>
UnaryFn special_of(Special function) {
  switch (function) {
  case Special::asin:
    return map_plain<T, Asin>;
  case Special::acos:
    return map_plain<T, Acos>;
  case Special::atan:
    return map_plain<T, Atan>;
  case Special::erfc:
    return sizeof(T) == 4 ? map_plain<float, Erfc> : nullptr;
  case Special::bessel_i0:
    return map<T, I0>;
  case Special::bessel_i1:
    return map<T, I1>;
  case Special::bessel_i0e:
    return map<T, I0e>;
  case Special::bessel_i1e:
    return map<T, I1e>;
  case Special::bessel_k0:
    return map<T, K0>;
  case Special::bessel_k1:
    return map<T, K1>;
  case Special::bessel_k0e:
    return map<T, K0e>;
  case Special::bessel_k1e:
    return map<T, K1e>;
  }
  return nullptr;
}

} // namespace

UnaryFn special(Special function, Type type) {
  return type == Type::float32   ? special_of<float>(function)
         : type == Type::float64 ? special_of<double>(function)
                                 : nullptr;
}

} // namespace troupe::arith::TROUPE_ISA
