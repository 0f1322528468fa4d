// Which bytes are not 0. Nothing branches on a byte, for half of such branches would be
// mispredicted.
#include "kernels/arith/isa/lanes.hpp"

namespace troupe::arith::TROUPE_ISA {

int64_t count_flags(const uint8_t* flags, int64_t n) {
  using V = Full<uint8_t>;
  constexpr int64_t width = lanes<uint8_t>, most = 255; // that a lane can count
  int64_t count = 0, i = 0;
  while (i + width <= n) {
    V counts = {};
    for (int64_t step = 0; step < most && i + width <= n; ++step, i += width)
      counts -= __builtin_bit_cast(V, load<V>(flags + i) != 0);
    for (int64_t lane = 0; lane < width; ++lane)
      count += counts[lane];
  }
  for (; i < n; ++i)
    count += flags[i] != 0;
  return count;
}

int64_t find_flags(const uint8_t* flags, int64_t n, int64_t first, int64_t room, int64_t* out) {
  int64_t found = 0, i = 0;
#if defined(__AVX512F__)
  for (; i + 64 <= n && found + 64 <= room; i += 64) {
    const __m512i bytes = _mm512_loadu_si512(flags + i);
    uint64_t set = _mm512_test_epi8_mask(bytes, bytes);
    __m512i positions =
        _mm512_add_epi64(_mm512_set1_epi64(first + i), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    for (int part = 0; part < 8; ++part, set >>= 8) {
      const auto mask = static_cast<__mmask8>(set);
      _mm512_storeu_si512(out + found, _mm512_maskz_compress_epi64(mask, positions));
      found += __builtin_popcount(mask);
      positions = _mm512_add_epi64(positions, _mm512_set1_epi64(8));
    }
  }
#endif
  // A place that was written in vain is written again by the next.
  for (; i < n && found < room; ++i) {
    out[found] = first + i;
    found += flags[i] != 0;
  }
  return found;
}

} // namespace troupe::arith::TROUPE_ISA
