// The larger and the smaller of two registers, and the ends of each type.
#pragma once

#include "kernels/arith/isa/lanes.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

template <class T>
struct Limits;
template <>
struct Limits<float> {
  static constexpr float low = -__builtin_huge_valf(), high = __builtin_huge_valf();
};
template <>
struct Limits<double> {
  static constexpr double low = -__builtin_huge_val(), high = __builtin_huge_val();
};
template <>
struct Limits<uint8_t> {
  static constexpr uint8_t low = 0, high = 255;
};
template <>
struct Limits<int32_t> {
  static constexpr int32_t low = INT32_MIN, high = INT32_MAX;
};
template <>
struct Limits<int64_t> {
  static constexpr int64_t low = INT64_MIN, high = INT64_MAX;
};

/// The larger, or the smaller, of each lane; a where one is NaN. One instruction of floats.
template <bool want_larger, class A>
TROUPE_INLINE A extreme_of(const A& a, const A& b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<A, Full<float>>) {
    const auto x = __builtin_bit_cast(__m512, b), y = __builtin_bit_cast(__m512, a);
    return __builtin_bit_cast(A, want_larger ? _mm512_max_ps(x, y) : _mm512_min_ps(x, y));
  }
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<A, Full<float>>) {
    const auto x = __builtin_bit_cast(__m256, b), y = __builtin_bit_cast(__m256, a);
    return __builtin_bit_cast(A, want_larger ? _mm256_max_ps(x, y) : _mm256_min_ps(x, y));
  }
#endif
  return (want_larger ? b > a : b < a) ? b : a;
}

} // namespace
} // namespace troupe::arith::TROUPE_ISA
