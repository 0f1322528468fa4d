// Conversions between f32 and the bits of 16-bit floats without branches, so that loops of them
// become vector code. Forced inline: no copy of them may be shared between instruction sets.
#pragma once
#include <cstdint>

namespace troupe::arith {

[[gnu::always_inline]] static inline float bfloat_bits_to_float(uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}

[[gnu::always_inline]] static inline uint16_t float_to_bfloat_bits(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

[[gnu::always_inline]] static inline float half_bits_to_float(uint16_t half) {
  uint32_t magnitude = half & 0x7fffu;
  uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  uint32_t normal = (magnitude << 13) + 0x38000000; // rebias 15 -> 127
  uint32_t special = (magnitude << 13) | 0x7f800000;
  float small =
      static_cast<float>(static_cast<int32_t>(magnitude)) * 5.9604644775390625e-8f; // 2^-24
  uint32_t bits = magnitude >= 0x7c00  ? special
                  : magnitude < 0x0400 ? __builtin_bit_cast(uint32_t, small)
                                       : normal;
  return __builtin_bit_cast(float, bits | sign);
}

[[gnu::always_inline]] static inline uint16_t float_to_half_bits(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  uint32_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  // Adding 0.5 aligns the bits of a subnormal half with the end of the mantissa, and the addition
  // rounds to even.
  float aligned = __builtin_bit_cast(float, magnitude) + 0.5f;
  uint32_t subnormal = __builtin_bit_cast(uint32_t, aligned) - 0x3f000000;
  uint32_t normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  uint32_t nan = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  uint32_t result = magnitude < 0x38800000 ? subnormal : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result; // rounds to infinity
  result = magnitude > 0x7f800000 ? nan : result;
  return static_cast<uint16_t>(result | sign);
}

} // namespace troupe::arith
