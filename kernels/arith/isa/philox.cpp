// Blocks of Philox4x32-10, as many at once as a register has lanes of 64 bits: of each lane the
// lower half counts, and the product of two lower halves is one instruction.
#include "kernels/arith/isa/lanes.hpp"
#if !defined(__AVX2__) && defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace troupe::arith::TROUPE_ISA {
namespace {

using Wide = Full<uint64_t>;

/// The lower half of each lane times a number, in 64 bits.
TROUPE_INLINE Wide times(const Wide& x, uint32_t by) {
#if defined(__AVX512F__)
  return __builtin_bit_cast(
      Wide, _mm512_mul_epu32(__builtin_bit_cast(__m512i, x), _mm512_set1_epi64(by)));
#elif defined(__AVX2__)
  return __builtin_bit_cast(
      Wide, _mm256_mul_epu32(__builtin_bit_cast(__m256i, x), _mm256_set1_epi64x(by)));
#elif defined(__SSE2__)
  return __builtin_bit_cast(Wide,
                            _mm_mul_epu32(__builtin_bit_cast(__m128i, x), _mm_set1_epi64x(by)));
#else
  return (x & 0xffffffff) * by;
#endif
}

/// The first half of the lanes of a and b in turn, or the second.
template <bool second>
TROUPE_INLINE Wide zip(const Wide& a, const Wide& b) {
  constexpr int count = lanes<uint64_t>;
  return [&]<int... lane>(std::integer_sequence<int, lane...>) {
    return __builtin_shufflevector(a, b,
                                   (lane / 2 + (second ? count / 2 : 0) + lane % 2 * count)...);
  }
  (std::make_integer_sequence<int, count>());
}

/// A block in each lane: its words 0 and 1, the first in the lower half, and its words 2 and 3.
struct Blocks {
  Wide low, high;
};

/// Of the counters whose lower halves are `lower`.
TROUPE_INLINE Blocks blocks_at(const Wide& lower, const uint32_t* counter, const uint32_t* key) {
  Wide c0 = lower, c1 = lower >> 32;
  Wide c2 = spread<Wide>(uint64_t{counter[2]}), c3 = spread<Wide>(uint64_t{counter[3]});
  uint32_t k0 = key[0], k1 = key[1];
  TROUPE_UNROLL
  for (int round = 0; round < 10; ++round) {
    const Wide a = times(c0, 0xD2511F53), b = times(c2, 0xCD9E8D57);
    c0 = (b >> 32) ^ c1 ^ uint64_t { k0 };
    c2 = (a >> 32) ^ c3 ^ uint64_t { k1 };
    c1 = b;
    c3 = a;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  constexpr uint64_t lower_half = 0xffffffff;
  return {(c0 & lower_half) | (c1 << 32), (c2 & lower_half) | (c3 << 32)};
}

} // namespace

void philox_blocks(const uint32_t* counter, const uint32_t* key, uint64_t stride, int64_t blocks,
                   uint32_t* words) {
  constexpr int width = lanes<uint64_t>;
  Wide lower = spread<Wide>(uint64_t{counter[1]} << 32 | counter[0]);
  for (int lane = 0; lane < width; ++lane)
    lower[lane] += static_cast<uint64_t>(lane) * stride;
  int64_t block = 0;
  for (; block + width <= blocks; block += width, lower += stride * width, words += 4 * width) {
    const Blocks made = blocks_at(lower, counter, key);
    store(zip<false>(made.low, made.high), words);
    store(zip<true>(made.low, made.high), words + 2 * width);
  }
  if (block == blocks)
    return;
  const Blocks made = blocks_at(lower, counter, key);
  for (int lane = 0; block < blocks; ++block, ++lane) {
    const uint64_t low = made.low[lane], high = made.high[lane];
    __builtin_memcpy(words + 4 * lane, &low, sizeof low);
    __builtin_memcpy(words + 4 * lane + 2, &high, sizeof high);
  }
}

void units_of_words(Type type, const uint32_t* words, int64_t n, void* out) {
  if (type == Type::float32) {
    TROUPE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
      static_cast<float*>(out)[i] =
          __builtin_bit_cast(float, 0x3f800000u | (words[i] & 0x7fffffu)) - 1.0f;
  } else if (type == Type::float64) {
    TROUPE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t mantissa = uint64_t{words[2 * i] & 0xfffffu} << 32 | words[2 * i + 1];
      static_cast<double*>(out)[i] =
          __builtin_bit_cast(double, uint64_t{1023} << 52 | mantissa) - 1.0;
    }
  } else if (type == Type::bfloat16) { // of seven bits, which are exact in float
    TROUPE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
      static_cast<uint16_t*>(out)[i] = static_cast<uint16_t>(
          __builtin_bit_cast(uint32_t, static_cast<float>(int32_t(words[i] & 0x7f)) / 128) >> 16);
  } else { // of ten bits, which are exact in float and in half; their exponents differ by 112
    TROUPE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const auto bits =
          __builtin_bit_cast(uint32_t, static_cast<float>(int32_t(words[i] & 0x3ff)) / 1024);
      static_cast<uint16_t*>(out)[i] =
          static_cast<uint16_t>(bits == 0 ? 0 : (bits >> 13) - (112u << 10));
    }
  }
}

} // namespace troupe::arith::TROUPE_ISA
