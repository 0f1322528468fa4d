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

#define TROUPE_FUNCTION(name, expression)                                                          \
  template <class T>                                                                               \
  struct name {                                                                                    \
    TROUPE_INLINE auto of(T a, T b, [[maybe_unused]] bool& ok) { return expression; }              \
  };

TROUPE_FUNCTION(Add, T(a + b))
TROUPE_FUNCTION(Sub, T(a - b))
TROUPE_FUNCTION(Mul, T(a* b))
TROUPE_FUNCTION(Maximum, ((a >= b) | (a != a)) ? a : b)
TROUPE_FUNCTION(Minimum, ((a <= b) | (a != a)) ? a : b)
TROUPE_FUNCTION(ClipAbove, b < a ? b : a)
TROUPE_FUNCTION(ClipBelow, a < b ? b : a)
TROUPE_FUNCTION(SquaredDifference, T((a - b) * (a - b)))
TROUPE_FUNCTION(RealDiv, T(a / b))
TROUPE_FUNCTION(DivNoNan, b == T(0) ? T(0) : T(a / b))
TROUPE_FUNCTION(MulNoNan, b == T(0) ? T(0) : T(a * b))
TROUPE_FUNCTION(Equal, uint8_t(a == b))
TROUPE_FUNCTION(NotEqual, uint8_t(a != b))
TROUPE_FUNCTION(Less, uint8_t(a < b))
TROUPE_FUNCTION(LessEqual, uint8_t(a <= b))
TROUPE_FUNCTION(And, uint8_t((a != 0) & (b != 0)))
TROUPE_FUNCTION(Or, uint8_t((a != 0) | (b != 0)))

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
TROUPE_INLINE float power_of(float a, float b) {
  return __builtin_powf(a, b);
}
TROUPE_INLINE double power_of(double a, double b) {
  return __builtin_pow(a, b);
}
TROUPE_INLINE float angle_of(float a, float b) {
  return __builtin_atan2f(a, b);
}
TROUPE_INLINE double angle_of(double a, double b) {
  return __builtin_atan2(a, b);
}

template <class T>
TROUPE_INLINE T floor_mod_of(T a, T b) {
  T rest = remainder_of(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

TROUPE_FUNCTION(FloorDivReal, floor_of(a / b))
TROUPE_FUNCTION(TruncDivReal, trunc_of(a / b))
TROUPE_FUNCTION(FloorModReal, floor_mod_of(a, b))
TROUPE_FUNCTION(TruncModReal, remainder_of(a, b))
TROUPE_FUNCTION(PowReal, power_of(a, b))
TROUPE_FUNCTION(Atan2, angle_of(a, b))

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

/// A power by one exponent for all: squares and reciprocals need no pow.
template <class T>
bool row_pow(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  if (mode == RowMode::right_scalar) {
    const T exponent = *static_cast<const T*>(right);
    if (exponent == T(2))
      return row<T, T, Mul<T>>(left, left, result, n, RowMode::both_rows);
    if (exponent == T(-1)) {
      const T one = 1;
      return row<T, T, RealDiv<T>>(&one, left, result, n, RowMode::left_scalar);
    }
  }
  return row<T, T, PowReal<T>>(left, right, result, n, mode);
}

template <class T>
BinaryRow binary_of_number(BinaryOp op) {
  switch (op) {
  case BinaryOp::add:
    return row<T, T, Add<T>>;
  case BinaryOp::sub:
    return row<T, T, Sub<T>>;
  case BinaryOp::mul:
    return row<T, T, Mul<T>>;
  case BinaryOp::maximum:
    return row<T, T, Maximum<T>>;
  case BinaryOp::minimum:
    return row<T, T, Minimum<T>>;
  case BinaryOp::clip_above:
    return row<T, T, ClipAbove<T>>;
  case BinaryOp::clip_below:
    return row<T, T, ClipBelow<T>>;
  default:
    return nullptr;
  }
}

template <class T>
BinaryRow binary_of_real(BinaryOp op) {
  switch (op) {
  case BinaryOp::squared_difference:
    return row<T, T, SquaredDifference<T>>;
  case BinaryOp::floor_div:
    return row<T, T, FloorDivReal<T>>;
  case BinaryOp::floor_mod:
    return row<T, T, FloorModReal<T>>;
  case BinaryOp::trunc_div:
    return row<T, T, TruncDivReal<T>>;
  case BinaryOp::trunc_mod:
    return row<T, T, TruncModReal<T>>;
  case BinaryOp::pow:
    return row_pow<T>;
  case BinaryOp::div_no_nan:
    return row<T, T, DivNoNan<T>>;
  case BinaryOp::mul_no_nan:
    return row<T, T, MulNoNan<T>>;
  case BinaryOp::real_div:
    return row<T, T, RealDiv<T>>;
  case BinaryOp::atan2:
    return row<T, T, Atan2<T>>;
  default:
    return binary_of_number<T>(op);
  }
}

template <class T>
BinaryRow binary_of_integer(BinaryOp op) {
  switch (op) {
  case BinaryOp::squared_difference:
    return row<T, T, SquaredDifference<T>>;
  case BinaryOp::floor_div:
    return row<T, T, FloorDivInt<T>>;
  case BinaryOp::floor_mod:
    return row<T, T, FloorModInt<T>>;
  case BinaryOp::trunc_div:
    return row<T, T, TruncDivInt<T>>;
  case BinaryOp::trunc_mod:
    return row<T, T, TruncModInt<T>>;
  case BinaryOp::pow:
    return row<T, T, PowInt<T>>;
  default:
    return binary_of_number<T>(op);
  }
}

/// Integers of one size share what does not depend on their sign.
template <class Signed, class T>
BinaryRow binary_of_small(BinaryOp op) {
  bool ordered = op >= BinaryOp::maximum && op <= BinaryOp::clip_below;
  return ordered ? binary_of_number<T>(op) : binary_of_number<Signed>(op);
}

template <class Bits, class T>
BinaryRow compare_of(BinaryOp op) {
  switch (op) {
  case BinaryOp::equal:
    return row<Bits, uint8_t, Equal<Bits>>;
  case BinaryOp::not_equal:
    return row<Bits, uint8_t, NotEqual<Bits>>;
  case BinaryOp::less:
    return row<T, uint8_t, Less<T>>;
  case BinaryOp::less_equal:
    return row<T, uint8_t, LessEqual<T>>;
  case BinaryOp::greater:
    return swapped<T, uint8_t, Less<T>>;
  case BinaryOp::greater_equal:
    return swapped<T, uint8_t, LessEqual<T>>;
  default:
    return nullptr;
  }
}

BinaryRow binary_of_boolean(BinaryOp op) {
  switch (op) {
  case BinaryOp::logical_and:
    return row<uint8_t, uint8_t, And<uint8_t>>;
  case BinaryOp::logical_or:
    return row<uint8_t, uint8_t, Or<uint8_t>>;
  case BinaryOp::equal:
    return row<uint8_t, uint8_t, Equal<uint8_t>>;
  case BinaryOp::not_equal:
    return row<uint8_t, uint8_t, NotEqual<uint8_t>>;
  default:
    return nullptr;
  }
}

BinaryRow compare(BinaryOp op, Type type) {
  switch (type) {
  case Type::float32:
    return compare_of<float, float>(op);
  case Type::float64:
    return compare_of<double, double>(op);
  case Type::int8:
    return compare_of<uint8_t, int8_t>(op);
  case Type::uint8:
    return compare_of<uint8_t, uint8_t>(op);
  case Type::int16:
    return compare_of<uint16_t, int16_t>(op);
  case Type::uint16:
    return compare_of<uint16_t, uint16_t>(op);
  case Type::int32:
    return compare_of<uint32_t, int32_t>(op);
  case Type::uint32:
    return compare_of<uint32_t, uint32_t>(op);
  case Type::int64:
    return compare_of<uint64_t, int64_t>(op);
  case Type::uint64:
    return compare_of<uint64_t, uint64_t>(op);
  default:
    return nullptr;
  }
}

} // namespace

BinaryRow binary(BinaryOp op, Type type) {
  if (type == Type::bool_)
    return binary_of_boolean(op);
  if (op >= BinaryOp::equal)
    return compare(op, type);
  switch (type) {
  case Type::float32:
    return binary_of_real<float>(op);
  case Type::float64:
    return binary_of_real<double>(op);
  case Type::int32:
    return binary_of_integer<int32_t>(op);
  case Type::int64:
    return binary_of_integer<int64_t>(op);
  case Type::int8:
    return binary_of_small<int8_t, int8_t>(op);
  case Type::uint8:
    return binary_of_small<int8_t, uint8_t>(op);
  case Type::int16:
    return binary_of_small<int16_t, int16_t>(op);
  case Type::uint16:
    return binary_of_small<int16_t, uint16_t>(op);
  case Type::uint32:
    return binary_of_small<int32_t, uint32_t>(op);
  case Type::uint64:
    return binary_of_small<int64_t, uint64_t>(op);
  default:
    return nullptr;
  }
}

} // namespace troupe::arith::TROUPE_ISA
