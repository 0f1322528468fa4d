#include "kernels/arith/half.hpp"
#include "kernels/arith/internal/half_bits.hpp"

namespace troupe::arith {

float f16_to_f32(uint16_t bits) {
  return half_bits_to_float(bits);
}

uint16_t f32_to_f16(float value) {
  return float_to_half_bits(value);
}

float bf16_to_f32(uint16_t bits) {
  return bfloat_bits_to_float(bits);
}

uint16_t f32_to_bf16(float value) {
  return float_to_bfloat_bits(value);
}

} // namespace troupe::arith
