// Complex numbers, a block at a time: taken apart into real and imaginary parts, which vectors
// compute with, and put together again. Where the plain formulas give nothing finite (zeros,
// infinities, the ends of the range) the generic code computes the element anew.
#include "kernels/arith/internal/generic.hpp"
#include "kernels/arith/isa/math.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

constexpr int64_t block = 64;

template <class T>
struct Parts {
  T re[block], im[block];
};

template <class T>
TROUPE_INLINE void take_apart(const T* x, int64_t n, Parts<T>& p) {
  TROUPE_INDEPENDENT
  for (int64_t k = 0; k < n; ++k) {
    p.re[k] = x[2 * k];
    p.im[k] = x[2 * k + 1];
  }
}

template <class T>
TROUPE_INLINE void put_together(const Parts<T>& p, int64_t n, T* y) {
  TROUPE_INDEPENDENT
  for (int64_t k = 0; k < n; ++k) {
    y[2 * k] = p.re[k];
    y[2 * k + 1] = p.im[k];
  }
}

template <class T>
TROUPE_INLINE bool is_plain(T re, T im) {
  return abs_of(re) + abs_of(im) < Real<T>::infinity;
}

template <class T>
TROUPE_INLINE bool are_plain(const Parts<T>& p, int64_t n) {
  int odd = 0;
  for (int64_t k = 0; k < n; ++k)
    odd |= is_plain(p.re[k], p.im[k]) ? 0 : 1;
  return odd == 0;
}

/// Calls run(begin, size) for blocks; their size is a constant but for the last one's.
template <class Run>
TROUPE_INLINE void for_each_block(int64_t begin, int64_t end, Run run) {
  for (; begin + block <= end; begin += block)
    run(begin, block);
  if (begin < end)
    run(begin, end - begin);
}

TROUPE_INLINE float root_of(float x) {
  return __builtin_sqrtf(x);
}
TROUPE_INLINE double root_of(double x) {
  return __builtin_sqrt(x);
}

/// Without overflow or underflow in between. Infinite if a part is.
template <class T>
TROUPE_INLINE T length_of(T re, T im) {
  const T a = abs_of(re), b = abs_of(im);
  const T high = a > b ? a : b, low = a > b ? b : a;
  const T ratio = low / high, length = high * root_of(T(1) + ratio * ratio);
  const T result = high == T(0) ? low : length; // 0, or NaN
  return (a == Real<T>::infinity) | (b == Real<T>::infinity) ? Real<T>::infinity : result;
}

/// The power of two that brings a positive size to [1, 2): times that nothing is rounded. Of 0, of
/// denormals and of the largest sizes something that makes NaN or infinity of a quotient.
template <class V>
TROUPE_INLINE V to_one(V size) {
  using R = Real<V>;
  using Bits = typename R::Bits;
  constexpr auto exponent = R::all_but_sign & ~R::mantissa_mask;
  constexpr auto twice_one = static_cast<std::remove_cv_t<decltype(exponent)>>(2 * R::bias)
                             << R::mantissa_bits;
  return __builtin_bit_cast(V, twice_one - (__builtin_bit_cast(Bits, size) & exponent));
}

// ---- one input

template <UnaryOp op, class T>
struct Unary;

#define TROUPE_FUNCTION(name, real, imaginary)                                                     \
  template <class T>                                                                               \
  struct Unary<UnaryOp::name, T> {                                                                 \
    static constexpr UnaryOp op = UnaryOp::name;                                                   \
    TROUPE_INLINE void of(T a, T b, T& re, T& im) {                                                \
      re = real;                                                                                   \
      im = imaginary;                                                                              \
    }                                                                                              \
  };

TROUPE_FUNCTION(neg, -a, -b)
TROUPE_FUNCTION(square, a* a - b * b, a* b + b * a)

template <class T>
struct Unary<UnaryOp::sign, T> {
  static constexpr UnaryOp op = UnaryOp::sign;
  TROUPE_INLINE void of(T a, T b, T& re, T& im) {
    const T length = length_of(a, b);
    const T known = length < Real<T>::infinity ? length : Real<T>::nan;
    re = a / known;
    im = b / known;
  }
};

template <class T>
struct Unary<UnaryOp::reciprocal, T> {
  static constexpr UnaryOp op = UnaryOp::reciprocal;
  TROUPE_INLINE void of(T a, T b, T& re, T& im) {
    const T c = abs_of(a), d = abs_of(b), scale = to_one(c > d ? c : d);
    const T x = a * scale, y = b * scale, square = x * x + y * y;
    re = x / square * scale;
    im = -y / square * scale;
  }
};

// With t = sqrt((|a| + |z|) / 2): t + i b / (2 t), or with the parts changed left of zero.
template <class T>
struct Unary<UnaryOp::sqrt, T> {
  static constexpr UnaryOp op = UnaryOp::sqrt;
  TROUPE_INLINE void of(T a, T b, T& re, T& im) {
    const T t = root_of(T(0.5) * abs_of(a) + T(0.5) * length_of(a, b));
    const T other = b / (t + t);
    re = a < T(0) ? abs_of(other) : t;
    im = a < T(0) ? with_sign_of(t, b) : other;
  }
};

// In double, where a^2 + b^2 neither overflows nor loses what is near 1.
template <>
struct Unary<UnaryOp::log, float> {
  static constexpr UnaryOp op = UnaryOp::log;
  TROUPE_INLINE void of(float a, float b, float& re, float& im) {
    const double x = a, y = b;
    re = static_cast<float>(0.5 * log_of(x * x + y * y));
    im = atan2_of(b, a);
  }
};

template <class T>
[[gnu::noinline]] void repair(UnaryOp op, const Parts<T>& in, int64_t n, Parts<T>& out) {
  const UnaryFn exact = generic_unary(op, Type::complex128);
  for (int64_t k = 0; k < n; ++k) {
    if (is_plain(out.re[k], out.im[k]))
      continue;
    const double x[2] = {static_cast<double>(in.re[k]), static_cast<double>(in.im[k])};
    double y[2] = {};
    exact(x, y, 0, 1);
    out.re[k] = static_cast<T>(y[0]);
    out.im[k] = static_cast<T>(y[1]);
  }
}

template <class T, class F>
void map(const void* x, void* y, int64_t begin, int64_t end) {
  const auto* from = static_cast<const T*>(x);
  auto* to = static_cast<T*>(y);
  for_each_block(begin, end, [&](int64_t i, int64_t n) {
    Parts<T> in, out;
    take_apart(from + 2 * i, n, in);
    TROUPE_INDEPENDENT
    for (int64_t k = 0; k < n; ++k)
      F::of(in.re[k], in.im[k], out.re[k], out.im[k]);
    if (!are_plain(out, n))
      repair(F::op, in, n, out);
    put_together(out, n, to + 2 * i);
  });
}

/// exp(a) (cos b + i sin b).
void exp_floats(const void* x, void* y, int64_t begin, int64_t end) {
  const UnaryFn sine = trigonometric(UnaryOp::sin), cosine = trigonometric(UnaryOp::cos);
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<float*>(y);
  for_each_block(begin, end, [&](int64_t i, int64_t n) {
    Parts<float> in, out;
    take_apart(from + 2 * i, n, in);
    cosine(in.im, out.re, 0, n);
    sine(in.im, out.im, 0, n);
    TROUPE_INDEPENDENT
    for (int64_t k = 0; k < n; ++k) {
      const float size = exp_of(in.re[k]);
      out.re[k] *= size;
      out.im[k] *= size;
    }
    if (!are_plain(out, n))
      repair(UnaryOp::exp, in, n, out);
    put_together(out, n, to + 2 * i);
  });
}

template <class T>
UnaryFn unary_of(UnaryOp op) {
  switch (op) {
  case UnaryOp::neg:
    return map<T, Unary<UnaryOp::neg, T>>;
  case UnaryOp::square:
    return map<T, Unary<UnaryOp::square, T>>;
  case UnaryOp::sign:
    return map<T, Unary<UnaryOp::sign, T>>;
  case UnaryOp::reciprocal:
    return map<T, Unary<UnaryOp::reciprocal, T>>;
  case UnaryOp::sqrt:
    return map<T, Unary<UnaryOp::sqrt, T>>;
  case UnaryOp::log:
    if constexpr (sizeof(T) == 4)
      return map<T, Unary<UnaryOp::log, T>>;
    return nullptr;
  case UnaryOp::exp:
    return sizeof(T) == 4 ? exp_floats : nullptr;
  default:
    return nullptr;
  }
}

// ---- two inputs: (a + i b) and (c + i d)

template <BinaryOp op, class T>
struct Binary;

// Registers hold parts side by side, as memory does.
template <class V, size_t... i>
TROUPE_INLINE V swap_parts(V v, std::index_sequence<i...>) {
  return __builtin_shufflevector(v, v, (i ^ 1)...);
}
template <class V, size_t... i>
TROUPE_INLINE V real_parts(V v, std::index_sequence<i...>) {
  return __builtin_shufflevector(v, v, (i & ~size_t{1})...);
}
template <class V, size_t... i>
TROUPE_INLINE V imaginary_parts(V v, std::index_sequence<i...>) {
  return __builtin_shufflevector(v, v, (i | 1)...);
}
template <class V>
using Places = std::make_index_sequence<sizeof(V) / sizeof(Element<V>)>;

/// Changes the signs of the parts at even places (real) or odd ones.
template <int parity, class V>
TROUPE_INLINE V negate_parts(V v) {
  using Bits = typename Real<V>::Bits;
  Bits signs{};
  for (size_t i = parity; i < sizeof(V) / sizeof(Element<V>); i += 2)
    signs[i] = ~Real<V>::all_but_sign;
  return __builtin_bit_cast(V, __builtin_bit_cast(Bits, v) ^ signs);
}

template <class V>
TROUPE_INLINE V product_of(V x, V y) {
  return real_parts(x, Places<V>{}) * y +
         negate_parts<0>(imaginary_parts(x, Places<V>{}) * swap_parts(y, Places<V>{}));
}

#undef TROUPE_FUNCTION
#define TROUPE_FUNCTION(name, real, imaginary, whole)                                              \
  template <class T>                                                                               \
  struct Binary<BinaryOp::name, T> {                                                               \
    static constexpr BinaryOp op = BinaryOp::name;                                                 \
    TROUPE_INLINE void of(T a, T b, T c, T d, T& re, T& im) {                                      \
      re = real;                                                                                   \
      im = imaginary;                                                                              \
    }                                                                                              \
    template <class V>                                                                             \
    TROUPE_INLINE V of_pairs(V x, V y) {                                                           \
      return whole;                                                                                \
    }                                                                                              \
  };

TROUPE_FUNCTION(add, a + c, b + d, x + y)
TROUPE_FUNCTION(sub, a - c, b - d, x - y)
TROUPE_FUNCTION(mul, a* c - b * d, a* d + b * c, product_of(x, y))

template <class T>
struct Binary<BinaryOp::real_div, T> {
  static constexpr BinaryOp op = BinaryOp::real_div;
  TROUPE_INLINE void of(T a, T b, T c, T d, T& re, T& im) {
    const T e = abs_of(c), f = abs_of(d), scale = to_one(e > f ? e : f);
    const T x = c * scale, y = d * scale, square = x * x + y * y;
    re = (a * x + b * y) / square * scale;
    im = (b * x - a * y) / square * scale;
  }
  template <class V>
  TROUPE_INLINE V of_pairs(V x, V y) {
    const V size = y < V{} ? -y : y, other = swap_parts(size, Places<V>{});
    const V scale = to_one(size > other ? size : other), conjugate = negate_parts<1>(y * scale);
    const V square = conjugate * conjugate;
    return product_of(conjugate, x) / (square + swap_parts(square, Places<V>{})) * scale;
  }
};

template <class T>
[[gnu::noinline]] void repair(BinaryOp op, const Parts<T>& l, const Parts<T>& r, int64_t n,
                              Parts<T>& out) {
  const BinaryRow exact = generic_binary(op, Type::complex128);
  for (int64_t k = 0; k < n; ++k) {
    if (is_plain(out.re[k], out.im[k]))
      continue;
    const double x[2] = {static_cast<double>(l.re[k]), static_cast<double>(l.im[k])};
    const double y[2] = {static_cast<double>(r.re[k]), static_cast<double>(r.im[k])};
    double z[2] = {};
    exact(x, y, z, 1, RowMode::both_rows);
    out.re[k] = static_cast<T>(z[0]);
    out.im[k] = static_cast<T>(z[1]);
  }
}

template <class T>
TROUPE_INLINE void repeat(const T* x, Parts<T>& p) {
  for (int64_t k = 0; k < block; ++k) {
    p.re[k] = x[0];
    p.im[k] = x[1];
  }
}

template <class T, class F>
bool row(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  const auto *a = static_cast<const T*>(left), *b = static_cast<const T*>(right);
  auto* to = static_cast<T*>(result);
  Parts<T> l, r, out;
  if (mode == RowMode::left_scalar)
    repeat(a, l);
  if (mode == RowMode::right_scalar)
    repeat(b, r);
  for_each_block(0, n, [&](int64_t i, int64_t count) {
    if (mode != RowMode::left_scalar)
      take_apart(a + 2 * i, count, l);
    if (mode != RowMode::right_scalar)
      take_apart(b + 2 * i, count, r);
    TROUPE_INDEPENDENT
    for (int64_t k = 0; k < count; ++k)
      F::of(l.re[k], l.im[k], r.re[k], r.im[k], out.re[k], out.im[k]);
    if (!are_plain(out, count))
      repair(F::op, l, r, count, out);
    put_together(out, count, to + 2 * i);
  });
  return true;
}

template <class T>
TROUPE_INLINE Full<T> spread_pair(const T* x) {
  Full<T> v{};
  for (int i = 0; i < lanes<T>; ++i)
    v[i] = x[i % 2];
  return v;
}

struct Added {
  template <class V>
  TROUPE_INLINE V step(const V& a, const V& b) {
    return a + b;
  }
};

/// The same in registers. What is not finite throughout is computed by `row`, before the output is
/// written, which may be in the input's place.
template <class T, class F>
bool row_of_pairs(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  using V = Full<T>;
  const auto *a = static_cast<const T*>(left), *b = static_cast<const T*>(right);
  auto* to = static_cast<T*>(result);
  const bool one_left = mode == RowMode::left_scalar, one_right = mode == RowMode::right_scalar;
  V x = one_left ? spread_pair(a) : V{}, y = one_right ? spread_pair(b) : V{};
  const auto by_parts = [&](int64_t begin, int64_t size) {
    row<T, F>(one_left ? a : a + 2 * begin, one_right ? b : b + 2 * begin, to + 2 * begin, size,
              mode);
  };
  constexpr int group = 4; // registers that are checked at once
  constexpr int64_t size = group * lanes<T> / 2;
  int64_t i = 0;
  for (; i + size <= n; i += size) {
    V z[group], no_number{}; // 0 as long as all are finite
    TROUPE_UNROLL
    for (int k = 0; k < group; ++k) {
      if (!one_left)
        x = load<V>(a + 2 * i + k * lanes<T>);
      if (!one_right)
        y = load<V>(b + 2 * i + k * lanes<T>);
      z[k] = F::of_pairs(x, y);
      no_number += z[k] * T(0);
    }
    if (fold<Added, T>(no_number) != 0) {
      by_parts(i, size);
      continue;
    }
    TROUPE_UNROLL
    for (int k = 0; k < group; ++k)
      store(z[k], to + 2 * i + k * lanes<T>);
  }
  if (i < n)
    by_parts(i, n - i);
  return true;
}

template <class T>
BinaryRow binary_of(BinaryOp op) {
  switch (op) {
  case BinaryOp::add:
    return row_of_pairs<T, Binary<BinaryOp::add, T>>;
  case BinaryOp::sub:
    return row_of_pairs<T, Binary<BinaryOp::sub, T>>;
  case BinaryOp::mul:
    return row_of_pairs<T, Binary<BinaryOp::mul, T>>;
  case BinaryOp::real_div:
    return row_of_pairs<T, Binary<BinaryOp::real_div, T>>;
  default:
    return nullptr;
  }
}

// ---- real numbers of complex ones

template <class T, ComplexPart part>
void parts(const void* x, void* y, int64_t begin, int64_t end) {
  const auto* from = static_cast<const T*>(x);
  auto* to = static_cast<T*>(y);
  for_each_block(begin, end, [&](int64_t i, int64_t n) {
    Parts<T> in;
    take_apart(from + 2 * i, n, in);
    TROUPE_INDEPENDENT
    for (int64_t k = 0; k < n; ++k)
      to[i + k] = part == ComplexPart::real        ? in.re[k]
                  : part == ComplexPart::imaginary ? in.im[k]
                  : part == ComplexPart::length    ? length_of(in.re[k], in.im[k])
                                                   : atan2_of(in.im[k], in.re[k]);
  });
}

template <class T>
UnaryFn parts_of(ComplexPart part) {
  switch (part) {
  case ComplexPart::real:
    return parts<T, ComplexPart::real>;
  case ComplexPart::imaginary:
    return parts<T, ComplexPart::imaginary>;
  case ComplexPart::length:
    return parts<T, ComplexPart::length>;
  case ComplexPart::angle:
    return parts<T, ComplexPart::angle>;
  }
  return nullptr;
}

} // namespace

UnaryFn unary_complex(UnaryOp op, Type type) {
  return type == Type::complex64 ? unary_of<float>(op) : unary_of<double>(op);
}

BinaryRow binary_complex(BinaryOp op, Type type) {
  return type == Type::complex64 ? binary_of<float>(op) : binary_of<double>(op);
}

UnaryFn complex_part(ComplexPart part, Type type) {
  return type == Type::complex64    ? parts_of<float>(part)
         : type == Type::complex128 ? parts_of<double>(part)
                                    : nullptr;
}

} // namespace troupe::arith::TROUPE_ISA
