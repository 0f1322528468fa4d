// Bits of two arrays, combined, a pattern's length at a time.
#include "kernels/arith/isa/lanes.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

template <BitOp op, class T>
TROUPE_INLINE T combined(T a, T b) {
  if constexpr (op == BitOp::and_)
    return a & b;
  else if constexpr (op == BitOp::or_)
    return a | b;
  else
    return a ^ b;
}

template <BitOp op>
void combine(const uint8_t* a, int64_t step_a, const uint8_t* b, int64_t step_b, uint8_t* out,
             int64_t n) {
  using V = Full<uint8_t>;
  constexpr int64_t width = lanes<uint8_t>;
  int64_t i = 0;
  for (; i + bit_pattern_bytes <= n; i += bit_pattern_bytes, a += step_a, b += step_b) {
    TROUPE_UNROLL
    for (int64_t at = 0; at < bit_pattern_bytes; at += width)
      store(combined<op>(load<V>(a + at), load<V>(b + at)), out + i + at);
  }
  for (; i < n; ++i, ++a, ++b)
    out[i] = combined<op>(*a, *b);
}

} // namespace

void combine_bits(BitOp op, const uint8_t* a, bool repeats_a, const uint8_t* b, bool repeats_b,
                  uint8_t* out, int64_t n) {
  const int64_t step_a = repeats_a ? 0 : bit_pattern_bytes;
  const int64_t step_b = repeats_b ? 0 : bit_pattern_bytes;
  switch (op) {
  case BitOp::and_:
    return combine<BitOp::and_>(a, step_a, b, step_b, out, n);
  case BitOp::or_:
    return combine<BitOp::or_>(a, step_a, b, step_b, out, n);
  case BitOp::xor_:
    return combine<BitOp::xor_>(a, step_a, b, step_b, out, n);
  }
}

} // namespace troupe::arith::TROUPE_ISA
