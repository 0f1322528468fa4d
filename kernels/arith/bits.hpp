// Bits of two arrays, combined.
#pragma once
#include <cstdint>

namespace troupe::arith {

enum class BitOp : uint8_t { and_, or_, xor_ };

/// Bytes that repeat: a pattern of this many stands for an array that is one element over and over.
constexpr int64_t bit_pattern_bytes = 64;

/// out = a op b, n bytes. Where `repeats_a`, a is a pattern of bit_pattern_bytes; so with b. `out`
/// may be a or b, unless that is a pattern.
void combine_bits(BitOp op, const uint8_t* a, bool repeats_a, const uint8_t* b, bool repeats_b,
                  uint8_t* out, int64_t n);

} // namespace troupe::arith
