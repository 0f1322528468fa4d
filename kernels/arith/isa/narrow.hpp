// Floating point elements of 16 bits, which are computed in f32: a register of floats from as many
// of them, and back, rounded to nearest. Float16 is there where the processor has instructions for
// it.
#pragma once
#include "kernels/arith/internal/half_bits.hpp"
#include "kernels/arith/isa/lanes.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

using NarrowBits = Vector<uint16_t, lanes<float>>;

struct Bfloat16 {
  static constexpr uint16_t one = 0x3f80, infinity = 0x7f80;
  uint16_t bits = 0;
  Bfloat16() = default;
  /// Cut off, not rounded: for values that need no more bits, as a reduction's identity.
  explicit Bfloat16(float value) : bits(uint16_t(__builtin_bit_cast(uint32_t, value) >> 16)) {}
  [[gnu::always_inline]] inline explicit operator float() const {
    return bfloat_bits_to_float(bits);
  }

  TROUPE_INLINE Full<float> widen(const NarrowBits& x) {
#if defined(__AVX2__) && !defined(__AVX512F__) // the compiler takes two instructions for each half
    const auto wide =
        __builtin_bit_cast(Full<uint32_t>, _mm256_cvtepu16_epi32(__builtin_bit_cast(__m128i, x)));
#else
    const auto wide = __builtin_convertvector(x, Full<uint32_t>);
#endif
    return __builtin_bit_cast(Full<float>, wide << 16);
  }
  TROUPE_INLINE NarrowBits narrow(const Full<float>& x) {
    const auto value = __builtin_bit_cast(Full<uint32_t>, x);
    const Full<uint32_t> half = value >> 16;
    const Full<uint32_t> rounded = (value + 0x7fff + (half & 1)) >> 16;
    const Full<uint32_t> bits = x != x ? half | 0x40 : rounded;
#if defined(__AVX2__) && !defined(__AVX512F__)
    const auto all = __builtin_bit_cast(__m256i, bits);
    return __builtin_bit_cast(NarrowBits, _mm_packus_epi32(_mm256_castsi256_si128(all),
                                                           _mm256_extracti128_si256(all, 1)));
#else
    return __builtin_convertvector(bits, NarrowBits);
#endif
  }
};

#if defined(__F16C__)
struct Float16 {
  static constexpr uint16_t one = 0x3c00, infinity = 0x7c00;
  uint16_t bits = 0;
  [[gnu::always_inline]] inline explicit operator float() const { return half_bits_to_float(bits); }

  TROUPE_INLINE Full<float> widen(const NarrowBits& x) {
#if defined(__AVX512F__)
    return __builtin_bit_cast(Full<float>, _mm512_cvtph_ps(__builtin_bit_cast(__m256i, x)));
#else
    return __builtin_bit_cast(Full<float>, _mm256_cvtph_ps(__builtin_bit_cast(__m128i, x)));
#endif
  }
  TROUPE_INLINE NarrowBits narrow(const Full<float>& x) {
    constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#if defined(__AVX512F__)
    return __builtin_bit_cast(NarrowBits, _mm512_cvtps_ph(__builtin_bit_cast(__m512, x), nearest));
#else
    return __builtin_bit_cast(NarrowBits, _mm256_cvtps_ph(__builtin_bit_cast(__m256, x), nearest));
#endif
  }
};
#endif

/// The first n elements, and zeros in the other lanes.
template <class N>
TROUPE_INLINE Full<float> load_narrow(const N* from, int64_t n = lanes<float>) {
  NarrowBits bits = {};
  __builtin_memcpy(&bits, from, static_cast<size_t>(n) * sizeof(uint16_t));
  return N::widen(bits);
}

/// Writes the first n lanes.
template <class N>
TROUPE_INLINE void store_narrow(const Full<float>& values, N* to, int64_t n = lanes<float>) {
  const NarrowBits bits = N::narrow(values);
  __builtin_memcpy(static_cast<void*>(to), &bits, static_cast<size_t>(n) * sizeof(uint16_t));
}

} // namespace
} // namespace troupe::arith::TROUPE_ISA
