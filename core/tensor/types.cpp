#include "core/tensor/types.hpp"

#include <bit>
#include <cmath>

namespace troupe {

Half::Half(float value) {
  std::uint32_t f = std::bit_cast<std::uint32_t>(value);
  std::uint16_t sign = static_cast<std::uint16_t>((f >> 16) & 0x8000u);
  f &= 0x7fffffffu;
  if (f >= 0x7f800000u) { // infinity or NaN (kept quiet)
    bits = static_cast<std::uint16_t>(sign | 0x7c00u | (f > 0x7f800000u ? 0x200u : 0u));
  } else if (f >= 0x477ff000u) { // rounds to infinity
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);
  } else if (f >= 0x38800000u) { // normal: rebias the exponent, round to nearest even
    std::uint32_t odd = (f >> 13) & 1u;
    bits = static_cast<std::uint16_t>(sign | ((f - 0x38000000u + 0xfffu + odd) >> 13));
  } else { // subnormal or zero: adding 0.5 aligns the mantissa, and the FPU rounds
    float magnitude = std::bit_cast<float>(f) + 0.5f;
    bits =
        static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(magnitude) - 0x3f000000u));
  }
}

Half::operator float() const {
  std::uint32_t sign = (bits & 0x8000u) << 16;
  std::uint32_t exponent = (bits >> 10) & 0x1fu;
  std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {
    float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -value : value;
  }
  std::uint32_t biased = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | (biased << 23) | (mantissa << 13));
}

BFloat16::BFloat16(float value) {
  std::uint32_t f = std::bit_cast<std::uint32_t>(value);
  if ((f & 0x7fffffffu) > 0x7f800000u) {
    bits = static_cast<std::uint16_t>((f >> 16) | 0x40u);
    return;
  }
  bits = static_cast<std::uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
}

BFloat16::operator float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

} // namespace troupe
