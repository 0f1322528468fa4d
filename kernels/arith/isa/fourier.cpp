// Stages of Fourier transforms, after Stockham: each stage sorts what it writes, so that all reads
// and writes are of neighbours. Real and imaginary parts lie in arrays of their own.
#include "kernels/arith/isa/lanes.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

/// Complex numbers side by side: V is one element or a register of them.
template <class V>
struct Parts {
  V re, im;
};
template <class V>
TROUPE_INLINE Parts<V> operator+(Parts<V> a, Parts<V> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
TROUPE_INLINE Parts<V> operator-(Parts<V> a, Parts<V> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V>
TROUPE_INLINE Parts<V> times(Parts<V> a, auto re, auto im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
template <class V>
TROUPE_INLINE Parts<V> scaled(Parts<V> a, auto factor) {
  return {a.re * factor, a.im * factor};
}
/// -i a.
template <class V>
TROUPE_INLINE Parts<V> turned(Parts<V> a) {
  return {a.im, -a.re};
}

template <class V>
TROUPE_INLINE void butterfly(Parts<V> (&x)[2]) {
  const Parts<V> sum = x[0] + x[1];
  x[1] = x[0] - x[1];
  x[0] = sum;
}

template <class T, class V>
TROUPE_INLINE void butterfly(Parts<V> (&x)[3]) {
  constexpr T sine = T(0.86602540378443864676);
  const Parts<V> sum = x[1] + x[2], across = turned(scaled(x[1] - x[2], sine));
  const Parts<V> middle = x[0] - scaled(sum, T(0.5));
  x[0] = x[0] + sum;
  x[1] = middle + across;
  x[2] = middle - across;
}

template <class V>
TROUPE_INLINE void butterfly(Parts<V> (&x)[4]) {
  const Parts<V> a = x[0] + x[2], b = x[0] - x[2];
  const Parts<V> c = x[1] + x[3], d = turned(x[1] - x[3]);
  x[0] = a + c;
  x[1] = b + d;
  x[2] = a - c;
  x[3] = b - d;
}

template <class T, class V>
TROUPE_INLINE void butterfly(Parts<V> (&x)[5]) {
  constexpr T cos1 = T(0.30901699437494742410), cos2 = T(-0.80901699437494742410);
  constexpr T sin1 = T(0.95105651629515357212), sin2 = T(0.58778525229247312917);
  const Parts<V> a = x[1] + x[4], b = x[2] + x[3];
  const Parts<V> c = turned(x[1] - x[4]), d = turned(x[2] - x[3]);
  const Parts<V> near = x[0] + scaled(a, cos1) + scaled(b, cos2);
  const Parts<V> far = x[0] + scaled(a, cos2) + scaled(b, cos1);
  const Parts<V> near_across = scaled(c, sin1) + scaled(d, sin2);
  const Parts<V> far_across = scaled(c, sin2) - scaled(d, sin1);
  x[0] = x[0] + a + b;
  x[1] = near + near_across;
  x[2] = far + far_across;
  x[3] = far - far_across;
  x[4] = near - near_across;
}

template <class T, class V, int radix>
TROUPE_INLINE void transform(Parts<V> (&x)[radix]) {
  if constexpr (radix == 3 || radix == 5)
    butterfly<T>(x);
  else
    butterfly(x);
}

template <class T>
struct Arrays {
  const T *in_re, *in_im, *factor_re, *factor_im;
  T *out_re, *out_im;
  int64_t groups, width;

  explicit Arrays(const FourierStage& s)
      : in_re(static_cast<const T*>(s.in_re)), in_im(static_cast<const T*>(s.in_im)),
        factor_re(static_cast<const T*>(s.factor_re)),
        factor_im(static_cast<const T*>(s.factor_im)), out_re(static_cast<T*>(s.out_re)),
        out_im(static_cast<T*>(s.out_im)), groups(s.groups), width(s.width) {}
};

/// Elements [at, at + lanes of V) of group p.
template <int radix, class V, class T>
TROUPE_INLINE void columns(const Arrays<T>& s, int64_t p, int64_t at) {
  Parts<V> x[radix];
  TROUPE_UNROLL
  for (int j = 0; j < radix; ++j) {
    const int64_t from = s.width * (p + s.groups * j) + at;
    x[j] = {load<V>(s.in_re + from), load<V>(s.in_im + from)};
  }
  transform<T>(x);
  TROUPE_UNROLL
  for (int k = 0; k < radix; ++k) {
    if (k > 0 && p > 0)
      x[k] = times(x[k], s.factor_re[k * s.groups + p], s.factor_im[k * s.groups + p]);
    const int64_t to = s.width * (radix * p + k) + at;
    store(x[k].re, s.out_re + to);
    store(x[k].im, s.out_im + to);
  }
}

/// Many columns: each group's are next to each other.
template <int radix, class V, class T>
[[gnu::noinline]] void wide_stage(const Arrays<T>& s) {
  constexpr int64_t step = sizeof(V) / sizeof(T);
  for (int64_t p = 0; p < s.groups; ++p) {
    int64_t at = 0;
    for (; at + step <= s.width; at += step)
      columns<radix, V>(s, p, at);
    for (; at < s.width; ++at)
      columns<radix, T>(s, p, at);
  }
}

template <class V, int... lane>
TROUPE_INLINE void interleave(const V& a, const V& b, V& low, V& high,
                              std::integer_sequence<int, lane...>) {
  constexpr int half = sizeof...(lane) / 2, all = sizeof...(lane);
  low = __builtin_shufflevector(a, b, (lane / 2 + lane % 2 * all)...);
  high = __builtin_shufflevector(a, b, (half + lane / 2 + lane % 2 * all)...);
}

/// Stores x[0][0], x[1][0], x[2][0], x[3][0], x[0][1] and so on.
template <class T, class V>
TROUPE_INLINE void store_turned(const V (&x)[4], T* to) {
  constexpr int count = lanes<T>;
  constexpr auto all = std::make_integer_sequence<int, count>();
  V even[2], odd[2], out[4];
  interleave(x[0], x[2], even[0], even[1], all);
  interleave(x[1], x[3], odd[0], odd[1], all);
  interleave(even[0], odd[0], out[0], out[1], all);
  interleave(even[1], odd[1], out[2], out[3], all);
  TROUPE_UNROLL
  for (int i = 0; i < 4; ++i)
    store(out[i], to + i * count);
}

/// The first stage of one signal alone, of radix 4: as many groups at once as a register has lanes.
template <class T>
[[gnu::noinline]] void first_stage(const Arrays<T>& s) {
  using V = Full<T>;
  int64_t p = 0;
  for (; p + lanes<T> <= s.groups; p += lanes<T>) {
    Parts<V> x[4];
    TROUPE_UNROLL
    for (int j = 0; j < 4; ++j)
      x[j] = {load<V>(s.in_re + p + s.groups * j), load<V>(s.in_im + p + s.groups * j)};
    butterfly(x);
    V re[4], im[4];
    TROUPE_UNROLL
    for (int k = 0; k < 4; ++k) {
      if (k > 0)
        x[k] = times(x[k], load<V>(s.factor_re + k * s.groups + p),
                     load<V>(s.factor_im + k * s.groups + p));
      re[k] = x[k].re;
      im[k] = x[k].im;
    }
    store_turned<T>(re, s.out_re + 4 * p);
    store_turned<T>(im, s.out_im + 4 * p);
  }
  for (; p < s.groups; ++p)
    columns<4, T>(s, p, 0);
}

/// Any radix, by the sum that defines the transform; the roots lie behind the factors.
template <class V, class T>
TROUPE_INLINE void any_columns(const Arrays<T>& s, int64_t radix, int64_t p, int64_t at) {
  const T *root_re = s.factor_re + radix * s.groups, *root_im = s.factor_im + radix * s.groups;
  for (int64_t k = 0; k < radix; ++k) {
    Parts<V> sum = {load<V>(s.in_re + s.width * p + at), load<V>(s.in_im + s.width * p + at)};
    for (int64_t j = 1, turn = k; j < radix; ++j, turn += turn + k >= radix ? k - radix : k) {
      const int64_t from = s.width * (p + s.groups * j) + at;
      sum = sum + times(Parts<V>{load<V>(s.in_re + from), load<V>(s.in_im + from)}, root_re[turn],
                        root_im[turn]);
    }
    sum = times(sum, s.factor_re[k * s.groups + p], s.factor_im[k * s.groups + p]);
    const int64_t to = s.width * (radix * p + k) + at;
    store(sum.re, s.out_re + to);
    store(sum.im, s.out_im + to);
  }
}

template <class T>
void any_stage(const Arrays<T>& s, int64_t radix) {
  for (int64_t p = 0; p < s.groups; ++p) {
    int64_t at = 0;
    for (; at + lanes<T> <= s.width; at += lanes<T>)
      any_columns<Full<T>>(s, radix, p, at);
    for (; at < s.width; ++at)
      any_columns<T>(s, radix, p, at);
  }
}

template <int radix, class T>
void stage_of(const Arrays<T>& s) {
  if constexpr (radix == 4) {
    if (s.width == 1)
      return first_stage(s);
  }
  // Few columns: in shorter vectors, which they fill.
  constexpr int most = lanes<T>;
  if constexpr (most > 8) {
    if (s.width >= 8 && s.width < most)
      return wide_stage<radix, Vector<T, 8>>(s);
  }
  if constexpr (most > 4) {
    if (s.width < most)
      return wide_stage<radix, Vector<T, 4>>(s);
  }
  wide_stage<radix, Full<T>>(s);
}

template <class T>
void stage(const FourierStage& call) {
  const Arrays<T> s(call);
  switch (call.radix) {
  case 2:
    return stage_of<2>(s);
  case 3:
    return stage_of<3>(s);
  case 4:
    return stage_of<4>(s);
  case 5:
    return stage_of<5>(s);
  default:
    return any_stage(s, call.radix);
  }
}

template <class T>
void split(const T* from, T* re, T* im, int64_t n) {
  TROUPE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    re[i] = from[2 * i];
    im[i] = from[2 * i + 1];
  }
}

template <class T>
void merge(const T* re, const T* im, T scale, T* to, int64_t n) {
  TROUPE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    to[2 * i] = re[i] * scale;
    to[2 * i + 1] = im[i] * scale;
  }
}

// With z[k] = x[2k] + i x[2k+1], the transforms of the even and of the odd elements are
// (Z[k] + conj Z[h-k]) / 2 and (Z[k] - conj Z[h-k]) / 2i.
template <class T>
void real_half(const FourierHalf& call) {
  const T *re = static_cast<const T*>(call.re), *im = static_cast<const T*>(call.im);
  const T *root_re = static_cast<const T*>(call.root_re),
          *root_im = static_cast<const T*>(call.root_im);
  T* to = static_cast<T*>(call.out);
  const int64_t h = call.half;
  to[0] = re[0] + im[0];
  to[1] = 0;
  to[2 * h] = re[0] - im[0];
  to[2 * h + 1] = 0;
  TROUPE_INDEPENDENT
  for (int64_t k = 1; k < h; ++k) {
    const T even_re = T(0.5) * (re[k] + re[h - k]), even_im = T(0.5) * (im[k] - im[h - k]);
    const T odd_re = T(0.5) * (im[k] + im[h - k]), odd_im = T(0.5) * (re[h - k] - re[k]);
    to[2 * k] = even_re + odd_re * root_re[k] - odd_im * root_im[k];
    to[2 * k + 1] = even_im + odd_re * root_im[k] + odd_im * root_re[k];
  }
}

/// The other way round, of what has twice the size; of the first and the last element the real
/// parts.
template <class T>
void real_whole(const FourierHalf& call, const T* from) {
  T *re = static_cast<T*>(call.re), *im = static_cast<T*>(call.im);
  const T *root_re = static_cast<const T*>(call.root_re),
          *root_im = static_cast<const T*>(call.root_im);
  const int64_t h = call.half;
  re[0] = from[0] + from[2 * h];
  im[0] = from[0] - from[2 * h];
  TROUPE_INDEPENDENT
  for (int64_t k = 1; k < h; ++k) {
    const T even_re = from[2 * k] + from[2 * (h - k)],
            even_im = from[2 * k + 1] - from[2 * (h - k) + 1];
    const T turn_re = from[2 * k] - from[2 * (h - k)],
            turn_im = from[2 * k + 1] + from[2 * (h - k) + 1];
    const T odd_re = turn_re * root_re[k] + turn_im * root_im[k];
    const T odd_im = turn_im * root_re[k] - turn_re * root_im[k];
    re[k] = even_re - odd_im;
    im[k] = even_im + odd_re;
  }
}

} // namespace

void fourier_stage(Type type, const FourierStage& call) {
  return type == Type::float32 ? stage<float>(call) : stage<double>(call);
}

void fourier_split(Type type, const void* from, void* re, void* im, int64_t n) {
  if (type == Type::float32)
    return split(static_cast<const float*>(from), static_cast<float*>(re), static_cast<float*>(im),
                 n);
  split(static_cast<const double*>(from), static_cast<double*>(re), static_cast<double*>(im), n);
}

void fourier_merge(Type type, const void* re, const void* im, double scale, void* to, int64_t n) {
  if (type == Type::float32)
    return merge(static_cast<const float*>(re), static_cast<const float*>(im),
                 static_cast<float>(scale), static_cast<float*>(to), n);
  merge(static_cast<const double*>(re), static_cast<const double*>(im), scale,
        static_cast<double*>(to), n);
}

void fourier_real_half(Type type, const FourierHalf& call) {
  return type == Type::float32 ? real_half<float>(call) : real_half<double>(call);
}

void fourier_real_whole(Type type, const FourierHalf& call, const void* from) {
  if (type == Type::float32)
    return real_whole(call, static_cast<const float*>(from));
  real_whole(call, static_cast<const double*>(from));
}

} // namespace troupe::arith::TROUPE_ISA
