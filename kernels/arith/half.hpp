// 16-bit floats as bits. Conversions to them round to nearest even; NaN stays a (quiet) NaN.
#pragma once
#include <cstdint>

namespace troupe::arith {

float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);
float bf16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);

} // namespace troupe::arith
