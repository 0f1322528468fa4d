// Two inputs, one row at a time: each input is a row or one element. Sources are compiled with
// -fwrapv, so integers wrap.
#include "kernels/arith/isa/math.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

template <class T, class R, class F>
bool row(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  auto a = static_cast<const T*>(left);
  auto b = static_cast<const T*>(right);
  auto out = static_cast<R*>(result);
  bool ok = true;
  if (mode == RowMode::both_rows) {
    TROUPE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
      out[i] = F::of(a[i], b[i], ok);
  } else if (mode == RowMode::right_scalar) {
    const T scalar = *b;
    TROUPE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
      out[i] = F::of(a[i], scalar, ok);
  } else {
    const T scalar = *a;
    TROUPE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
      out[i] = F::of(scalar, b[i], ok);
  }
  return ok;
}

/// op(b, a) where F is op: for greater from less.
template <class T, class R, class F>
bool swapped(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  RowMode other = mode == RowMode::left_scalar    ? RowMode::right_scalar
                  : mode == RowMode::right_scalar ? RowMode::left_scalar
                                                  : mode;
  return row<T, R, F>(right, left, result, n, other);
}

/// Each function of the list on elements of T; `ok` turns false where an integer is divided by 0.
template <BinaryOp op, class T>
struct Binary;

#define TROUPE_FUNCTION(name, expression)                                                          \
  template <class T>                                                                               \
  struct Binary<BinaryOp::name, T> {                                                               \
    TROUPE_INLINE auto of(T a, T b, [[maybe_unused]] bool& ok) { return expression; }              \
  };

TROUPE_FUNCTION(add, T(a + b))
TROUPE_FUNCTION(sub, T(a - b))
TROUPE_FUNCTION(mul, T(a* b))
TROUPE_FUNCTION(maximum, ((a >= b) | (a != a)) ? a : b)
TROUPE_FUNCTION(minimum, ((a <= b) | (a != a)) ? a : b)
TROUPE_FUNCTION(clip_above, b < a ? b : a)
TROUPE_FUNCTION(clip_below, a < b ? b : a)
TROUPE_FUNCTION(squared_difference, T((a - b) * (a - b)))
TROUPE_FUNCTION(real_div, T(a / b))
TROUPE_FUNCTION(div_no_nan, b == T(0) ? T(0) : T(a / b))
TROUPE_FUNCTION(mul_no_nan, b == T(0) ? T(0) : T(a * b))
TROUPE_FUNCTION(equal, uint8_t(a == b))
TROUPE_FUNCTION(not_equal, uint8_t(a != b))
TROUPE_FUNCTION(less, uint8_t(a < b))
TROUPE_FUNCTION(less_equal, uint8_t(a <= b))
TROUPE_FUNCTION(logical_and, uint8_t((a != 0) & (b != 0)))
TROUPE_FUNCTION(logical_or, uint8_t((a != 0) | (b != 0)))

TROUPE_INLINE float floor_of(float x) {
  return __builtin_floorf(x);
}
TROUPE_INLINE double floor_of(double x) {
  return __builtin_floor(x);
}
TROUPE_INLINE float trunc_of(float x) {
  return __builtin_truncf(x);
}
TROUPE_INLINE double trunc_of(double x) {
  return __builtin_trunc(x);
}
TROUPE_INLINE float remainder_of(float a, float b) {
  return __builtin_fmodf(a, b);
}
TROUPE_INLINE double remainder_of(double a, double b) {
  return __builtin_fmod(a, b);
}
// The library scales denormals up before it takes their exponent; where they count as 0, as on
// compute threads, that gives some number.
TROUPE_INLINE float without_denormals(float a) {
  return __builtin_fabsf(a) < 0x1p-126F ? __builtin_copysignf(0, a) : a;
}
TROUPE_INLINE double without_denormals(double a) {
  return __builtin_fabs(a) < 0x1p-1022 ? __builtin_copysign(0, a) : a;
}
TROUPE_INLINE float power_of(float a, float b) {
  return __builtin_powf(without_denormals(a), without_denormals(b));
}
TROUPE_INLINE double power_of(double a, double b) {
  return __builtin_pow(without_denormals(a), without_denormals(b));
}

template <class T>
TROUPE_INLINE T floor_mod_of(T a, T b) {
  T rest = remainder_of(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Integer division that survives a zero divisor (ok turns false) and the lowest number divided by
/// -1 (wraps).
template <class T>
struct TruncDivInt {
  TROUPE_INLINE T of(T a, T b, bool& ok) {
    if (b == 0) {
      ok = false;
      return 0;
    }
    return b == -1 ? -a : a / b;
  }
};

template <class T>
struct TruncModInt {
  TROUPE_INLINE T of(T a, T b, bool& ok) {
    if (b == 0) {
      ok = false;
      return 0;
    }
    return b == -1 ? 0 : a % b;
  }
};

template <class T>
struct FloorDivInt {
  TROUPE_INLINE T of(T a, T b, bool& ok) {
    T quotient = TruncDivInt<T>::of(a, b, ok);
    T rest = a - quotient * b;
    return ok && rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
  }
};

template <class T>
struct FloorModInt {
  TROUPE_INLINE T of(T a, T b, bool& ok) {
    T rest = TruncModInt<T>::of(a, b, ok);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};

template <class T>
struct PowInt {
  TROUPE_INLINE T of(T a, T b, bool& ok) {
    if (b < 0) {
      ok = false;
      return 0;
    }
    T result = 1;
    for (T base = a; b > 0; b >>= 1) {
      if (b & 1)
        result *= base;
      base *= base;
    }
    return result;
  }
};

template <class T>
inline constexpr bool is_real = T(1) / T(2) != T(0);

/// One of two, by whether T is floating point; the other is not looked at.
template <class T, template <class> class OfReal, template <class> class OfInteger>
struct Choose : OfInteger<T> {};
template <template <class> class OfReal, template <class> class OfInteger>
struct Choose<float, OfReal, OfInteger> : OfReal<float> {};
template <template <class> class OfReal, template <class> class OfInteger>
struct Choose<double, OfReal, OfInteger> : OfReal<double> {};

#define TROUPE_REAL_FUNCTION(name, expression)                                                     \
  template <class T>                                                                               \
  struct name {                                                                                    \
    TROUPE_INLINE T of(T a, T b, bool&) { return expression; }                                     \
  };

TROUPE_REAL_FUNCTION(FloorDivReal, floor_of(a / b))
TROUPE_REAL_FUNCTION(TruncDivReal, trunc_of(a / b))
TROUPE_REAL_FUNCTION(FloorModReal, floor_mod_of(a, b))
TROUPE_REAL_FUNCTION(TruncModReal, remainder_of(a, b))
TROUPE_REAL_FUNCTION(PowReal, power_of(a, b))
TROUPE_FUNCTION(atan2, atan2_of(a, b))

template <class T>
struct Binary<BinaryOp::floor_div, T> : Choose<T, FloorDivReal, FloorDivInt> {};
template <class T>
struct Binary<BinaryOp::trunc_div, T> : Choose<T, TruncDivReal, TruncDivInt> {};
template <class T>
struct Binary<BinaryOp::floor_mod, T> : Choose<T, FloorModReal, FloorModInt> {};
template <class T>
struct Binary<BinaryOp::trunc_mod, T> : Choose<T, TruncModReal, TruncModInt> {};
template <class T>
struct Binary<BinaryOp::pow, T> : Choose<T, PowReal, PowInt> {};

/// A power by one exponent for all: squares and reciprocals need no pow.
template <class T>
bool row_pow(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  if (mode == RowMode::right_scalar) {
    const T exponent = *static_cast<const T*>(right);
    if (exponent == T(2))
      return row<T, T, Binary<BinaryOp::mul, T>>(left, left, result, n, RowMode::both_rows);
    if (exponent == T(-1)) {
      const T one = 1;
      return row<T, T, Binary<BinaryOp::real_div, T>>(&one, left, result, n, RowMode::left_scalar);
    }
  }
  return row<T, T, Binary<BinaryOp::pow, T>>(left, right, result, n, mode);
}

/// The remainder of floats, computed in f64 without branches. It is exact where the quotient has at
/// most 29 bits; `fits` turns 0 where it has more, for infinities, NaN and denormals, which f64 may
/// see as 0, and for a remainder that is none of a normal number's size, which a cast to f32 may
/// flush.
TROUPE_INLINE float remainder_by_doubles(float a, float b, int& fits) {
  constexpr double longest = 0x1p29, infinity = __builtin_huge_val();
  const double x = a, y = b;
  const double quotient = __builtin_trunc(x / y);
  const double rest = x - quotient * y;
  // A quotient that was rounded up to a whole number leaves less than nothing.
  const double turned = (rest < 0) != (x < 0) && rest != 0 ? rest + __builtin_copysign(y, x) : rest;
  const uint32_t bits = __builtin_bit_cast(uint32_t, a) & 0x7fffffff;
  const bool is_denormal = bits - 1 < 0x007fffff;
  const bool is_small = (turned != 0) & (__builtin_fabs(turned) < 0x1p-126);
  fits &= int(__builtin_fabs(quotient) < longest) & int(__builtin_fabs(y) < infinity) &
          int(!is_denormal) & int(!is_small);
  return __builtin_copysignf(static_cast<float>(turned), a);
}

/// Remainders, by blocks of which one that does not fit is computed by the library.
template <bool floors>
bool row_remainder(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  constexpr int64_t width = 64;
  const auto *a = static_cast<const float*>(left), *b = static_cast<const float*>(right);
  auto* out = static_cast<float*>(result);
  const auto by_blocks = [&](auto a_of, auto b_of) {
    for (int64_t at = 0; at < n; at += width) {
      const int64_t end = n - at > width ? at + width : n;
      float rests[width];
      int fits = 1;
      TROUPE_INDEPENDENT
      for (int64_t i = at; i < end; ++i) {
        const float x = a_of(i), y = b_of(i), rest = remainder_by_doubles(x, y, fits);
        rests[i - at] = floors && rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
      }
      for (int64_t i = at; i < end; ++i)
        out[i] = fits != 0 ? rests[i - at]
                 : floors  ? floor_mod_of(a_of(i), b_of(i))
                           : remainder_of(a_of(i), b_of(i));
    }
  };
  const auto a_at = [a](int64_t i) { return a[i]; };
  const auto b_at = [b](int64_t i) { return b[i]; };
  if (mode == RowMode::both_rows)
    by_blocks(a_at, b_at);
  else if (mode == RowMode::right_scalar)
    by_blocks(a_at, [scalar = *b](int64_t) { return scalar; });
  else
    by_blocks([scalar = *a](int64_t) { return scalar; }, b_at);
  return true;
}

/// What computes a row of one function.
template <BinaryOp op, class T>
BinaryRow row_of() {
  if constexpr (op == BinaryOp::greater) {
    return swapped<T, uint8_t, Binary<BinaryOp::less, T>>;
  } else if constexpr (op == BinaryOp::greater_equal) {
    return swapped<T, uint8_t, Binary<BinaryOp::less_equal, T>>;
  } else if constexpr ((op == BinaryOp::floor_mod || op == BinaryOp::trunc_mod) &&
                       std::is_same_v<T, float>) {
    return row_remainder<op == BinaryOp::floor_mod>;
  } else if constexpr (op == BinaryOp::pow && is_real<T>) {
    return row_pow<T>;
  } else {
    bool ok = true;
    return row<T, decltype(Binary<op, T>::of(T(), T(), ok)), Binary<op, T>>;
  }
}

/// Small integers have functions of their own where these are many times as fast as by way of i32.
constexpr bool has_small(BinaryOp op) {
  return op <= BinaryOp::clip_below || op >= BinaryOp::equal;
}

template <class T, Elements elements>
BinaryRow binary_of(BinaryOp op) {
  switch (op) {
#define TROUPE_BINARY(function, kind, cost)                                                        \
  case BinaryOp::function:                                                                         \
    if constexpr (has(elements, Kind::kind) && (elements != Elements::integer || sizeof(T) > 1 ||  \
                                                has_small(BinaryOp::function)))                    \
      return row_of<BinaryOp::function, T>();                                                      \
    return nullptr;
#include "graph/op/elementwise.def"
  }
  return nullptr;
}

} // namespace

BinaryRow binary(BinaryOp op, Type type) {
  switch (type) {
  case Type::float32:
    return binary_of<float, Elements::real>(op);
  case Type::float64:
    return binary_of<double, Elements::real>(op);
  case Type::int32:
    return binary_of<int32_t, Elements::integer>(op);
  case Type::int64:
    return binary_of<int64_t, Elements::integer>(op);
  case Type::int8:
    return binary_of<int8_t, Elements::integer>(op);
  case Type::uint8:
    return binary_of<uint8_t, Elements::integer>(op);
  case Type::bool_:
    return binary_of<uint8_t, Elements::boolean>(op);
  case Type::float16:
    return binary_half(op);
  case Type::bfloat16:
    return binary_bfloat16(op);
  case Type::complex64:
  case Type::complex128:
    return binary_complex(op, type);
  default:
    return nullptr;
  }
}

} // namespace troupe::arith::TROUPE_ISA
