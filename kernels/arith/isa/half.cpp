// Two inputs of f16, one row at a time: converted, computed in f32 and rounded once in registers. Null where the
// processor has no instructions that convert; blocks of elements are then widened (route.cpp).
#include "kernels/arith/internal/half_bits.hpp"
#include "kernels/arith/isa/lanes.hpp"

namespace troupe::arith::TROUPE_ISA {
#if defined(__F16C__)
namespace {

using Floats = Full<float>;
constexpr int count = lanes<float>;
using Halves = Vector<uint16_t, count>;

TROUPE_INLINE Floats widen(const Halves& x) {
#if defined(__AVX512F__)
  return __builtin_bit_cast(Floats, _mm512_cvtph_ps(__builtin_bit_cast(__m256i, x)));
#else
  return __builtin_bit_cast(Floats, _mm256_cvtph_ps(__builtin_bit_cast(__m128i, x)));
#endif
}

TROUPE_INLINE Halves narrow(const Floats& x) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#if defined(__AVX512F__)
  return __builtin_bit_cast(Halves, _mm512_cvtps_ph(__builtin_bit_cast(__m512, x), nearest));
#else
  return __builtin_bit_cast(Halves, _mm256_cvtps_ph(__builtin_bit_cast(__m256, x), nearest));
#endif
}

/// The functions of binary.cpp on registers.
template <BinaryOp op>
TROUPE_INLINE Floats value_of(const Floats& a, const Floats& b) {
  if constexpr (op == BinaryOp::add)
    return a + b;
  else if constexpr (op == BinaryOp::sub)
    return a - b;
  else if constexpr (op == BinaryOp::mul)
    return a * b;
  else if constexpr (op == BinaryOp::real_div)
    return a / b;
  else if constexpr (op == BinaryOp::squared_difference)
    return (a - b) * (a - b);
  else if constexpr (op == BinaryOp::maximum)
    return ((a >= b) | (a != a)) ? a : b;
  else
    return ((a <= b) | (a != a)) ? a : b;
}

/// The first n elements, and zeros in the other lanes.
TROUPE_INLINE Floats some(const uint16_t* from, int64_t n) {
  Halves values = {};
  __builtin_memcpy(&values, from, static_cast<size_t>(n) * sizeof(uint16_t));
  return widen(values);
}

template <BinaryOp op, bool left_scalar, bool right_scalar>
TROUPE_INLINE void halves(const uint16_t* a, const uint16_t* b, uint16_t* out, int64_t n) {
  Floats left = {}, right = {};
  if constexpr (left_scalar)
    left = spread<Floats>(half_bits_to_float(*a));
  if constexpr (right_scalar)
    right = spread<Floats>(half_bits_to_float(*b));
  int64_t i = 0;
  for (; i + count <= n; i += count) {
    if constexpr (!left_scalar)
      left = widen(load<Halves>(a + i));
    if constexpr (!right_scalar)
      right = widen(load<Halves>(b + i));
    store(narrow(value_of<op>(left, right)), out + i);
  }
  if (i == n)
    return;
  if constexpr (!left_scalar)
    left = some(a + i, n - i);
  if constexpr (!right_scalar)
    right = some(b + i, n - i);
  const Halves values = narrow(value_of<op>(left, right));
  __builtin_memcpy(out + i, &values, static_cast<size_t>(n - i) * sizeof(uint16_t));
}

template <BinaryOp op>
bool half_row(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  auto a = static_cast<const uint16_t*>(left);
  auto b = static_cast<const uint16_t*>(right);
  auto out = static_cast<uint16_t*>(result);
  if (mode == RowMode::both_rows)
    halves<op, false, false>(a, b, out, n);
  else if (mode == RowMode::right_scalar)
    halves<op, false, true>(a, b, out, n);
  else
    halves<op, true, false>(a, b, out, n);
  return true;
}

} // namespace

BinaryRow binary_half(BinaryOp op) {
  switch (op) {
  case BinaryOp::add:
    return half_row<BinaryOp::add>;
  case BinaryOp::sub:
    return half_row<BinaryOp::sub>;
  case BinaryOp::mul:
    return half_row<BinaryOp::mul>;
  case BinaryOp::real_div:
    return half_row<BinaryOp::real_div>;
  case BinaryOp::squared_difference:
    return half_row<BinaryOp::squared_difference>;
  case BinaryOp::maximum:
    return half_row<BinaryOp::maximum>;
  case BinaryOp::minimum:
    return half_row<BinaryOp::minimum>;
  default:
    return nullptr;
  }
}

#else

BinaryRow binary_half(BinaryOp) {
  return nullptr;
}

#endif
} // namespace troupe::arith::TROUPE_ISA
