// Two inputs of f16, one row at a time: converted, computed in f32 and rounded once in registers. Null where the
// processor has no instructions that convert; blocks of elements are then widened (route.cpp).
#include "kernels/arith/isa/narrow.hpp"

namespace troupe::arith::TROUPE_ISA {
#if defined(__F16C__)
namespace {

using Floats = Full<float>;
constexpr int count = lanes<float>;

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

template <BinaryOp op, bool left_scalar, bool right_scalar>
TROUPE_INLINE void halves(const Float16* a, const Float16* b, Float16* out, int64_t n) {
  Floats left = {}, right = {};
  if constexpr (left_scalar)
    left = spread<Floats>(half_bits_to_float(a->bits));
  if constexpr (right_scalar)
    right = spread<Floats>(half_bits_to_float(b->bits));
  int64_t i = 0;
  for (; i + count <= n; i += count) {
    if constexpr (!left_scalar)
      left = load_narrow(a + i);
    if constexpr (!right_scalar)
      right = load_narrow(b + i);
    store_narrow(value_of<op>(left, right), out + i);
  }
  if (i == n)
    return;
  if constexpr (!left_scalar)
    left = load_narrow(a + i, n - i);
  if constexpr (!right_scalar)
    right = load_narrow(b + i, n - i);
  store_narrow(value_of<op>(left, right), out + i, n - i);
}

template <BinaryOp op>
bool half_row(const void* left, const void* right, void* result, int64_t n, RowMode mode) {
  auto a = static_cast<const Float16*>(left);
  auto b = static_cast<const Float16*>(right);
  auto out = static_cast<Float16*>(result);
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
