// Two inputs of f16 or bf16, one row at a time: converted, computed in f32 and
// rounded once in registers. Null where the processor has no instructions that convert; blocks of
// elements are then widened (route.cpp), but for FloorDiv.
#include "kernels/arith/isa/narrow.hpp"

namespace troupe::arith::TROUPE_ISA {
#if defined(__F16C__)
namespace {

using Floats = Full<float>;
constexpr int count = lanes<float>;

TROUPE_INLINE Floats floor_of(const Floats& x) {
#if defined(__AVX512F__)
  return __builtin_bit_cast(Floats,
                            _mm512_roundscale_ps(__builtin_bit_cast(__m512, x), _MM_FROUND_FLOOR));
#else
  return __builtin_bit_cast(Floats, _mm256_floor_ps(__builtin_bit_cast(__m256, x)));
#endif
}

/// The functions of binary.cpp on registers; the quotient of FloorDiv is a half before its floor is
/// taken, as TensorFlow's is.
template <class N, BinaryOp op>
TROUPE_INLINE Floats value_of(const Floats& a, const Floats& b) {
  if constexpr (op == BinaryOp::add)
    return a + b;
  else if constexpr (op == BinaryOp::sub)
    return a - b;
  else if constexpr (op == BinaryOp::mul)
    return a * b;
  else if constexpr (op == BinaryOp::real_div)
    return a / b;
  else if constexpr (op == BinaryOp::floor_div)
    return floor_of(N::widen(N::narrow(a / b)));
  else if constexpr (op == BinaryOp::squared_difference)
    return (a - b) * (a - b);
  else if constexpr (op == BinaryOp::maximum)
    return ((a >= b) | (a != a)) ? a : b;
  else
    return ((a <= b) | (a != a)) ? a : b;
}

template <class N, BinaryOp op, bool left_scalar, bool right_scalar>
TROUPE_INLINE void halves(const N* a, const N* b, N* out, int64_t n) {
  Floats left = {}, right = {};
  if constexpr (left_scalar)
    left = spread<Floats>(static_cast<float>(*a));
  if constexpr (right_scalar)
    right = spread<Floats>(static_cast<float>(*b));
  int64_t i = 0;
  for (; i + count <= n; i += count) {
    if constexpr (!left_scalar)
      left = load_narrow(a + i);
    if constexpr (!right_scalar)
      right = load_narrow(b + i);
    store_narrow(value_of<N, op>(left, right), out + i);
  }
  if (i == n)
    return;
  if constexpr (!left_scalar)
    left = load_narrow(a + i, n - i);
  if constexpr (!right_scalar)
    right = load_narrow(b + i, n - i);
  store_narrow(value_of<N, op>(left, right), out + i, n - i);
}

template <class N, BinaryOp op>
bool narrow_row(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  auto a = static_cast<const N*>(left);
  auto b = static_cast<const N*>(right);
  auto out = static_cast<N*>(result);
  if (mode == RowMode::both_rows)
    halves<N, op, false, false>(a, b, out, n);
  else if (mode == RowMode::right_scalar)
    halves<N, op, false, true>(a, b, out, n);
  else
    halves<N, op, true, false>(a, b, out, n);
  return true;
}

template <class N>
BinaryRow binary_narrow(BinaryOp op) {
  switch (op) {
  case BinaryOp::add:
    return narrow_row<N, BinaryOp::add>;
  case BinaryOp::sub:
    return narrow_row<N, BinaryOp::sub>;
  case BinaryOp::mul:
    return narrow_row<N, BinaryOp::mul>;
  case BinaryOp::real_div:
    return narrow_row<N, BinaryOp::real_div>;
  case BinaryOp::floor_div:
    return narrow_row<N, BinaryOp::floor_div>;
  case BinaryOp::squared_difference:
    return narrow_row<N, BinaryOp::squared_difference>;
  case BinaryOp::maximum:
    return narrow_row<N, BinaryOp::maximum>;
  case BinaryOp::minimum:
    return narrow_row<N, BinaryOp::minimum>;
  default:
    return nullptr;
  }
}

} // namespace

BinaryRow binary_half(BinaryOp op) {
  return binary_narrow<Float16>(op);
}
BinaryRow binary_bfloat16(BinaryOp op) {
  return binary_narrow<Bfloat16>(op);
}

#else
namespace {

/// Elsewhere only what a detour through f32 would round otherwise: one element at a time.
template <float (*widen)(uint16_t), uint16_t (*narrow)(float)>
bool floor_div_row(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  const auto *a = static_cast<const uint16_t*>(left), *b = static_cast<const uint16_t*>(right);
  const int a_step = mode == RowMode::left_scalar ? 0 : 1;
  const int b_step = mode == RowMode::right_scalar ? 0 : 1;
  for (int64_t i = 0; i < n; ++i) {
    const float quotient = widen(narrow(widen(a[i * a_step]) / widen(b[i * b_step])));
    static_cast<uint16_t*>(result)[i] = narrow(__builtin_floorf(quotient));
  }
  return true;
}

} // namespace

BinaryRow binary_half(BinaryOp op) {
  return op == BinaryOp::floor_div ? floor_div_row<half_bits_to_float, float_to_half_bits>
                                   : nullptr;
}
BinaryRow binary_bfloat16(BinaryOp op) {
  return op == BinaryOp::floor_div ? floor_div_row<bfloat_bits_to_float, float_to_bfloat_bits>
                                   : nullptr;
}

#endif
} // namespace troupe::arith::TROUPE_ISA
