// One input, one output; gradients of such functions.
#include "kernels/arith/isa/extreme.hpp"
#include "kernels/arith/isa/math.hpp"
#include "kernels/arith/isa/narrow.hpp"

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

/// 0 of -0, NaN of NaN.
template <class T>
TROUPE_INLINE T sign_of(T x) {
  if constexpr (is_real<T>)
    return (x > 0) | (x < 0) ? with_sign_of(T(1), x) : abs_of(x);
  else
    return T((x > 0 ? T(1) : T(0)) - (x < 0 ? T(1) : T(0)));
}

TROUPE_FUNCTION(neg, T(-x))
TROUPE_FUNCTION(abs, magnitude_of(x))
TROUPE_FUNCTION(sign, sign_of(x))
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

#if defined(__AVX2__)
/// Elements of a table of 8, chosen by the last three bits of each lane of `which`.
template <class V, class Places>
TROUPE_INLINE V chosen(const float* table, const Places& which) {
#if defined(__AVX512F__)
  const __m512 both = _mm512_broadcast_f32x8(_mm256_load_ps(table));
  return __builtin_bit_cast(V, _mm512_permutexvar_ps(__builtin_bit_cast(__m512i, which), both));
#else
  return __builtin_bit_cast(
      V, _mm256_permutevar8x32_ps(_mm256_load_ps(table), __builtin_bit_cast(__m256i, which)));
#endif
}

/// A function in intervals, each with a polynomial from its lower end on that was fitted for the
/// smallest largest error; in the first one, below a half, x + x * p(x); 1 from F::high on. Below 2
/// ulp.
template <class F>
struct Piecewise {
  template <class V>
  TROUPE_INLINE V of(V x) {
    using Bits = Full<uint32_t>;
    const Bits bits = __builtin_bit_cast(Bits, x), sign = bits & ~Real<V>::all_but_sign;
    V a = __builtin_bit_cast(V, bits ^ sign);
    const auto is_high = a >= F::high;
    a = is_high ? V{} + F::high : a;
    V t;
    const auto which = F::interval(a, t);
    V p = chosen<V>(F::terms[7], which);
    TROUPE_UNROLL
    for (int k = 6; k > 0; --k)
      p = p * t + chosen<V>(F::terms[k], which);
    const V begin = a < 0.5f ? a : chosen<V>(F::terms[0], which);
    const V size = is_high ? V{} + 1.0f : p * t + begin;
    return __builtin_bit_cast(V, __builtin_bit_cast(Bits, size) ^ sign);
  }
};

/// From 0 to 4 in halves.
struct Erf {
  static constexpr float high = 3.9999998f;
  alignas(32) static constexpr float terms[8][8] = {
      {0.000000000e+00f, 5.204998851e-01f, 8.427007794e-01f, 9.661051631e-01f, 9.953222871e-01f,
       9.995930195e-01f, 9.999778867e-01f, 9.999992847e-01f},
      {1.283791810e-01f, 8.787826300e-01f, 4.151073694e-01f, 1.189303026e-01f, 2.066700719e-02f,
       2.178282710e-03f, 1.392512931e-04f, 5.399173460e-06f},
      {-1.623218395e-06f, -4.393944144e-01f, -4.151014388e-01f, -1.783959866e-01f,
       -4.133509099e-02f, -5.445638206e-03f, -4.176675866e-04f, -1.888458428e-05f},
      {-3.760763407e-01f, -1.464048177e-01f, 1.382640600e-01f, 1.387601197e-01f, 4.824276641e-02f,
       8.348972537e-03f, 7.874849252e-04f, 4.205422374e-05f},
      {-5.740529741e-04f, 1.825442612e-01f, 7.005081326e-02f, -4.464982450e-02f, -3.461183980e-02f,
       -8.614667691e-03f, -1.030810876e-03f, -6.563672650e-05f},
      {1.159145385e-01f, 9.991482832e-03f, -7.300060987e-02f, -1.474194229e-02f, 1.384796388e-02f,
       6.093154661e-03f, 9.548627422e-04f, 7.231659401e-05f},
      {-8.071511984e-03f, -5.768370256e-02f, 1.381756086e-02f, 1.942929626e-02f, -1.469800598e-03f,
       -2.781154355e-03f, -5.813048920e-04f, -5.130871432e-05f},
      {-1.793266460e-02f, 1.777409203e-02f, 3.867310006e-03f, -5.930648185e-03f, -7.471734425e-04f,
       6.360840634e-04f, 1.756359852e-04f, 1.748031173e-05f},
  };
  template <class V>
  TROUPE_INLINE auto interval(const V& a, V& t) {
    const auto which = __builtin_convertvector(a * 2.0f, Full<int32_t>);
    t = a - __builtin_convertvector(which, V) * 0.5f;
    return which;
  }
};

#if defined(__AVX512F__)
/// From 1, 2, 3, 5, 7, nowhere, 0 and 0.5: what the exponent of a + 1 and its next bit count.
struct Tanh {
  static constexpr float high = 9.02f;
  alignas(32) static constexpr float begins[8] = {1, 2, 3, 5, 7, 0, 0, 0.5f};
  alignas(32) static constexpr float terms[8][8] = {
      {7.615941763e-01f, 9.640275836e-01f, 9.950547814e-01f, 9.999092221e-01f, 9.999983311e-01f,
       0.000000000e+00f, 0.000000000e+00f, 4.621171653e-01f},
      {4.199762642e-01f, 7.065097243e-02f, 9.864489548e-03f, 1.815507130e-04f, 3.325480066e-06f,
       0.000000000e+00f, 2.787359321e-08f, 7.864475250e-01f},
      {-3.198937774e-01f, -6.811340153e-02f, -9.796471335e-03f, -1.811255788e-04f,
       -3.317642040e-06f, 0.000000000e+00f, -5.295240499e-06f, -3.634211421e-01f},
      {1.039266586e-01f, 4.214786738e-02f, 6.384978071e-03f, 1.189772520e-04f, 2.178515842e-06f,
       0.000000000e+00f, -3.331680596e-01f, -9.436631948e-02f},
      {2.673059516e-02f, -1.807218976e-02f, -2.966484055e-03f, -5.590201545e-05f, -1.022238962e-06f,
       0.000000000e+00f, -1.924228971e-03f, 1.659628302e-01f},
      {-4.542231932e-02f, 5.253474694e-03f, 9.667537524e-04f, 1.846008308e-05f, 3.365677514e-07f,
       0.000000000e+00f, 1.438379437e-01f, -3.241921216e-02f},
      {2.094396763e-02f, -8.963250439e-04f, -1.973578619e-04f, -3.817607649e-06f, -6.926721596e-08f,
       0.000000000e+00f, -2.822971530e-02f, -3.988369554e-02f},
      {-3.827971639e-03f, 5.677222362e-05f, 1.867263200e-05f, 3.652558860e-07f, 6.584650603e-09f,
       0.000000000e+00f, -2.164731547e-02f, 2.149289101e-02f},
  };
  template <class V>
  TROUPE_INLINE auto interval(const V& a, V& t) {
    const auto which = __builtin_bit_cast(Full<uint32_t>, a + 1.0f) >> 22;
    t = a - chosen<V>(begins, which);
    return which;
  }
};

#else
/// A quotient p / q of polynomials with Eigen's coefficients, as in TensorFlow's kernel; below 1 by
/// x + x * (p - q) / q, which keeps more digits. Choosing from tables, as Piecewise does, costs
/// more than a division where registers have 32 bytes.
struct QuotientTanh {
  template <class V>
  TROUPE_INLINE V of(V x) {
    constexpr float high = 7.99881172180175781f; // 1 from there on
    const V square = x * x;
    V p = square * -2.76076847742355e-16f + 2.00018790482477e-13f;
    p = p * square - 8.60467152213735e-11f;
    p = p * square + 5.12229709037114e-08f;
    p = p * square + 1.48572235717979e-05f;
    p = p * square + 6.37261928875436e-04f;
    p = p * square + 4.89352455891786e-03f;
    V q = square * 1.19825839466702e-06f + 1.18534705686654e-04f;
    q = q * square + 2.26843463243900e-03f;
    q = q * square + 4.89352518554385e-03f;
    const auto is_small = square < 1.0f;
    const V quotient = (is_small ? p - q : p) / q;
    const V inside = x * quotient + (is_small ? x : V{});
    return square >= high * high ? with_sign_of(spread<V>(1.0f), x) : inside;
  }
};
#endif

/// An estimate of 12 or more bits and a step of third order: 1 ulp. Where it may be 0, infinite or
/// too small for the estimate, the root itself.
struct ReciprocalRoot {
  template <class V>
  TROUPE_INLINE V of(V x) {
#if defined(__AVX512F__)
    const V y = __builtin_bit_cast(V, _mm512_rsqrt14_ps(__builtin_bit_cast(__m512, x)));
    const __mmask16 plain = _mm512_cmp_ps_mask(__builtin_bit_cast(__m512, x),
                                               _mm512_set1_ps(Real<float>::smallest), _CMP_GE_OQ) &
                            _mm512_cmp_ps_mask(__builtin_bit_cast(__m512, x),
                                               _mm512_set1_ps(Real<float>::infinity), _CMP_LT_OQ);
    if (plain != 0xffff) [[unlikely]]
      return 1.0f / __builtin_bit_cast(V, _mm512_sqrt_ps(__builtin_bit_cast(__m512, x)));
#else
    const V y = __builtin_bit_cast(V, _mm256_rsqrt_ps(__builtin_bit_cast(__m256, x)));
    const auto plain = (x >= Real<float>::smallest) & (x < Real<float>::infinity);
    if (_mm256_movemask_ps(__builtin_bit_cast(__m256, plain)) != 0xff) [[unlikely]]
      return 1.0f / __builtin_bit_cast(V, _mm256_sqrt_ps(__builtin_bit_cast(__m256, x)));
#endif
    const V e = 1.0f - x * y * y;
    return y * (e * (e * 0.375f + 0.5f)) + y;
  }
};

/// F::of for a register of elements at a time.
template <class F>
void map_lanes(const void* x, void* y, int64_t begin, int64_t end) {
  auto in = static_cast<const float*>(x);
  auto out = static_cast<float*>(y);
  using V = Full<float>;
  int64_t i = begin;
  for (; i + lanes<float> <= end; i += lanes<float>)
    store(F::of(load<V>(in + i)), out + i);
  if (i < end)
    store_some(F::of(load_some<V>(in + i, end - i, 1.0f)), out + i, end - i);
}
#endif

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
/// Below 1: x + x * s(x^2). From there on: 1 - exp(-x^2) * p((x - 3) / (x + 3)), which is 1 from 6
/// on. Both polynomials go through the function at Chebyshev's points; relative errors 1e-17 and
/// 6e-17.
TROUPE_INLINE double erf_of(double x) {
  const double a = abs_of(x), square = a * a;
  double s = -7.79589882700214224e-10;
  s = s * square + 1.37200645467776856e-8;
  s = s * square - 1.62084838018717059e-7;
  s = s * square + 1.64474247033173624e-6;
  s = s * square - 0.0000149247369074196603;
  s = s * square + 0.000120552949048397079;
  s = s * square - 0.000854832597538969208;
  s = s * square + 0.00522397760711642273;
  s = s * square - 0.0268661706432377704;
  s = s * square + 0.112837916709450063;
  s = s * square - 0.376126389031835404;
  s = s * square + 0.128379167095512567;
  const double near = a * s + a;
  const double far_a = a > 6.0 ? 6.0 : a;
  const double t = 2.4 * ((far_a - 3.0) / (far_a + 3.0)) + 0.2;
  double p = 6.69764556479081509e-15;
  p = p * t + 6.04379214778881282e-12;
  p = p * t + 6.02173256030323971e-12;
  p = p * t - 2.5700407551346904e-10;
  p = p * t - 2.6377560229741262e-10;
  p = p * t + 1.13393357311470593e-8;
  p = p * t - 4.52673181334613388e-9;
  p = p * t - 5.54127309801663994e-7;
  p = p * t + 2.42555748504292284e-6;
  p = p * t + 0.0000195635831977817407;
  p = p * t - 0.000331602960579283852;
  p = p * t + 0.00247931469708625314;
  p = p * t - 0.0127131476956919182;
  p = p * t + 0.0496984454033941365;
  p = p * t - 0.15436117429436918;
  p = p * t + 0.207983291333428867;
  const double far = 1.0 - exp_of(-(far_a * far_a)) * p;
  return with_sign_of(a < 1.0 ? near : far, x);
}

TROUPE_FUNCTION(erf, erf_of(x))

/// The loop over one function's elements.
template <UnaryOp op, class T>
UnaryFn loop_of() {
  // The table of trig.cpp is for floats alone.
  if constexpr (sizeof(T) == 4 && (op == UnaryOp::sin || op == UnaryOp::cos))
    return trigonometric(op);
#if defined(__AVX2__)
  else if constexpr (sizeof(T) == 4 && op == UnaryOp::erf)
    return map_lanes<Piecewise<Erf>>;
#if defined(__AVX512F__)
  else if constexpr (sizeof(T) == 4 && op == UnaryOp::tanh)
    return map_lanes<Piecewise<Tanh>>;
#else
  else if constexpr (sizeof(T) == 4 && op == UnaryOp::tanh)
    return map_lanes<QuotientTanh>;
#endif
  else if constexpr (sizeof(T) == 4 && op == UnaryOp::rsqrt)
    return map_lanes<ReciprocalRoot>;
#endif
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

/// F of elements of 16 bits, some registers of them at a time; `inputs` are one or two arrays.
template <class N, class F, class... Inputs>
TROUPE_INLINE void map_narrow_arrays(N* out, int64_t begin, int64_t end, const Inputs*... inputs) {
  constexpr int registers = 4, count = registers * lanes<float>;
  constexpr int arrays = sizeof...(inputs);
  const auto several = [](N* to, auto*... from) {
    float wide[arrays][count];
    int array = 0;
    const auto widen = [&](const N* narrow) {
      TROUPE_UNROLL
      for (int r = 0; r < registers; ++r)
        store(load_narrow(narrow + r * lanes<float>), wide[array] + r * lanes<float>);
      ++array;
    };
    (widen(from), ...);
    TROUPE_INDEPENDENT
    for (int i = 0; i < count; ++i)
      if constexpr (arrays == 1)
        wide[0][i] = F::of(wide[0][i]);
      else
        wide[0][i] = F::of(wide[0][i], wide[1][i]);
    TROUPE_UNROLL
    for (int r = 0; r < registers; ++r)
      store_narrow(load<Full<float>>(wide[0] + r * lanes<float>), to + r * lanes<float>);
  };
  for (; begin + count <= end; begin += count)
    several(out + begin, (inputs + begin)...);
  if (begin == end)
    return;
  const size_t bytes = static_cast<size_t>(end - begin) * sizeof(N);
  N rests[arrays][count] = {};
  int array = 0;
  ((__builtin_memcpy(static_cast<void*>(rests[array++]), inputs + begin, bytes)), ...);
  if constexpr (arrays == 1)
    several(rests[0], rests[0]);
  else
    several(rests[0], rests[0], rests[1]);
  __builtin_memcpy(static_cast<void*>(out + begin), rests[0], bytes);
}

template <class N, class F>
void map_narrow(const void* x, void* y, int64_t begin, int64_t end) {
  map_narrow_arrays<N, F>(static_cast<N*>(y), begin, end, static_cast<const N*>(x));
}

#if defined(__AVX2__)
/// The same of a function of registers.
template <class N, class F>
void map_narrow_lanes(const void* x, void* y, int64_t begin, int64_t end) {
  auto in = static_cast<const N*>(x);
  auto out = static_cast<N*>(y);
  for (; begin + lanes<float> <= end; begin += lanes<float>)
    store_narrow(F::of(load_narrow(in + begin)), out + begin);
  if (begin < end)
    store_narrow(F::of(load_narrow(in + begin, end - begin)), out + begin, end - begin);
}
#endif

/// What changes nothing but the sign.
struct SignTurned {
  TROUPE_INLINE uint16_t of(uint16_t bits) { return bits ^ 0x8000; }
};
struct SignCleared {
  TROUPE_INLINE uint16_t of(uint16_t bits) { return bits & 0x7fff; }
};

/// -1, 0 or 1 by the bits.
template <class N>
struct SignOf {
  TROUPE_INLINE uint16_t of(uint16_t bits) {
    const uint16_t magnitude = bits & 0x7fff;
    const uint16_t one = magnitude == 0 ? uint16_t(0) : uint16_t((bits & 0x8000) | N::one);
    return magnitude > N::infinity ? bits : one;
  }
};

template <class N>
UnaryFn narrow_of(UnaryOp op) {
  switch (op) {
  case UnaryOp::neg:
    return map<uint16_t, uint16_t, SignTurned>;
  case UnaryOp::abs:
    return map<uint16_t, uint16_t, SignCleared>;
  case UnaryOp::sign:
    return map<uint16_t, uint16_t, SignOf<N>>;
#define TROUPE_NARROW(name)                                                                        \
  case UnaryOp::name:                                                                              \
    return map_narrow<N, Unary<UnaryOp::name, float>>;
    TROUPE_NARROW(square)
    TROUPE_NARROW(relu)
    TROUPE_NARROW(relu6)
    TROUPE_NARROW(sqrt)
#if defined(__AVX2__)
  case UnaryOp::rsqrt:
    return map_narrow_lanes<N, ReciprocalRoot>;
#else
    TROUPE_NARROW(rsqrt)
#endif
    TROUPE_NARROW(reciprocal)
    TROUPE_NARROW(floor)
    TROUPE_NARROW(ceil)
    TROUPE_NARROW(round)
#undef TROUPE_NARROW
  default:
    return nullptr;
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
TROUPE_FUNCTION_GRADIENT(sigmoid, dy*(x*(1 - x)))
// A gradient of 0 stays 0, also where the derivative is infinite.
// In TensorFlow's order, whose products overflow or vanish where others would not.
TROUPE_FUNCTION_GRADIENT(sqrt, dy == T(0) ? T(0) : dy * (T(0.5) / x))
TROUPE_FUNCTION_GRADIENT(rsqrt, dy* x == T(0) || dy == T(0) ? T(0) : dy * x * (x * x * T(-0.5)))
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

template <class N, class F>
void map_narrow_gradient(const void* dy, const void* x, void* dx, int64_t begin, int64_t end) {
  map_narrow_arrays<N, F>(static_cast<N*>(dx), begin, end, static_cast<const N*>(dy),
                          static_cast<const N*>(x));
}

/// Of elements of 16 bits, without a detour; null for functions that cost more than the detour.
template <class N>
GradFn narrow_gradient_of(GradOp op) {
  switch (op) {
#define TROUPE_NARROW(name)                                                                        \
  case GradOp::name:                                                                               \
    return map_narrow_gradient<N, Grad<GradOp::name, float>>;
    TROUPE_NARROW(relu)
    TROUPE_NARROW(relu6)
    TROUPE_NARROW(elu)
    TROUPE_NARROW(tanh)
    TROUPE_NARROW(sigmoid)
    TROUPE_NARROW(sqrt)
    TROUPE_NARROW(rsqrt)
    TROUPE_NARROW(reciprocal)
#undef TROUPE_NARROW
  default:
    return nullptr;
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
  case Type::complex64:
  case Type::complex128:
    return unary_complex(op, type);
  default:
    return nullptr;
  }
}

UnaryFn unary_narrow(UnaryOp op, Type type) {
#if defined(__F16C__)
  if (type == Type::float16)
    return narrow_of<Float16>(op);
#endif
  return type == Type::bfloat16 ? narrow_of<Bfloat16>(op) : nullptr;
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
#if defined(__F16C__)
  case Type::float16:
    return narrow_gradient_of<Float16>(op);
#endif
  case Type::bfloat16:
    return narrow_gradient_of<Bfloat16>(op);
  default:
    return nullptr;
  }
}

} // namespace troupe::arith::TROUPE_ISA
