// Values side by side in one register. A vector that is wider than the registers of the instruction
// set is taken apart by the compiler, and a loop over an array of lanes may go through memory.
#pragma once
#include "kernels/arith/isa/functions.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#include <type_traits>
#include <utility>

#if defined(__clang__)
#define TROUPE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TROUPE_UNROLL _Pragma("GCC unroll 64")
#endif

namespace troupe::arith::TROUPE_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX2__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

template <class T, int bytes>
struct VectorOf {
  using Type [[gnu::vector_size(bytes)]] = T;
};
/// `count` values of T.
template <class T, int count>
using Vector = typename VectorOf<T, count* static_cast<int>(sizeof(T))>::Type;
/// How many values of T a register holds, and a vector of as many.
template <class T>
constexpr int lanes = register_bytes / static_cast<int>(sizeof(T));
template <class T>
using Full = Vector<T, lanes<T>>;

template <class V>
TROUPE_INLINE V load(const auto* from) {
  V values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
}

template <class V>
TROUPE_INLINE void store(const V& values, auto* to) {
  __builtin_memcpy(to, &values, sizeof values);
}

/// The value in every lane; 0 is taken from it, for -0 plus 0 would be another zero.
template <class V, class T>
TROUPE_INLINE V spread(T value) {
  return value - V{};
}

/// What masked loads and stores of 4 or 8 bytes ask for: all bits of the first n lanes.
template <class V, class T>
TROUPE_INLINE auto first_lanes(int64_t n) {
  using Int = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  constexpr int count = sizeof(V) / sizeof(T);
  return [n]<int... lane>(std::integer_sequence<int, lane...>) {
    return static_cast<Int>(n) > Vector<Int, count>{lane...};
  }
  (std::make_integer_sequence<int, count>());
}

#if defined(__AVX2__)
/// The lanes of at most 32 bytes that `mask` chooses, zeros in the others.
template <class V, class T>
TROUPE_INLINE V load_masked(const T* from, const auto& mask) {
  using Pointer = std::conditional_t<sizeof(T) == 4, const int*, const long long*>;
  const auto at = reinterpret_cast<Pointer>(from);
  if constexpr (sizeof(V) == 32 && sizeof(T) == 4)
    return __builtin_bit_cast(V, _mm256_maskload_epi32(at, __builtin_bit_cast(__m256i, mask)));
  else if constexpr (sizeof(V) == 32)
    return __builtin_bit_cast(V, _mm256_maskload_epi64(at, __builtin_bit_cast(__m256i, mask)));
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(V, _mm_maskload_epi32(at, __builtin_bit_cast(__m128i, mask)));
  else
    return __builtin_bit_cast(V, _mm_maskload_epi64(at, __builtin_bit_cast(__m128i, mask)));
}
#endif
#if defined(__AVX512F__)
template <class V, class T>
TROUPE_INLINE V load_some_of_64(const T* from, int64_t n, T rest) {
  const auto others = __builtin_bit_cast(__m512i, spread<V>(rest));
  const uint32_t mask = (1u << n) - 1;
  if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(V,
                              _mm512_mask_loadu_epi32(others, static_cast<__mmask16>(mask), from));
  else
    return __builtin_bit_cast(V,
                              _mm512_mask_loadu_epi64(others, static_cast<__mmask8>(mask), from));
}
#endif

/// The first n values from memory, and `rest` in the other lanes. Nothing behind the n is read.
template <class V, class T>
TROUPE_INLINE V load_some(const T* from, int64_t n, T rest) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64)
    return load_some_of_64<V>(from, n, rest);
  else
#endif
#if defined(__AVX2__)
  {
    const auto mask = first_lanes<V, T>(n);
    const V values = load_masked<V>(from, mask);
    return mask ? values : spread<V>(rest);
  }
#else
  {
    V values = spread<V>(rest);
    TROUPE_UNROLL
    for (int lane = 0; lane < static_cast<int>(sizeof(V) / sizeof(T)); ++lane)
      if (lane < n)
        values[lane] = from[lane];
    return values;
  }
#endif
}

/// Writes the first n values of a full vector and nothing behind them.
template <class V, class T>
TROUPE_INLINE void store_some(const V& values, T* to, int64_t n) {
  static_assert(sizeof(V) == register_bytes && (sizeof(T) == 4 || sizeof(T) == 8));
#if defined(__AVX512F__)
  const auto bits = __builtin_bit_cast(__m512i, values);
  const uint32_t mask = (1u << n) - 1;
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask), bits);
  else
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask), bits);
#elif defined(__AVX2__)
  using Pointer = std::conditional_t<sizeof(T) == 4, int*, long long*>;
  const auto mask = __builtin_bit_cast(__m256i, first_lanes<V, T>(n));
  const auto bits = __builtin_bit_cast(__m256i, values);
  if constexpr (sizeof(T) == 4)
    _mm256_maskstore_epi32(reinterpret_cast<Pointer>(to), mask, bits);
  else
    _mm256_maskstore_epi64(reinterpret_cast<Pointer>(to), mask, bits);
#else
  TROUPE_UNROLL
  for (int lane = 0; lane < lanes<T>; ++lane)
    if (lane < n)
      to[lane] = values[lane];
#endif
}

/// The same where n may be a constant: as many as there are lanes need no mask.
template <class V, class T, class N>
TROUPE_INLINE V load_first(const T* from, N n, T rest) {
  if constexpr (std::is_integral_v<N>)
    return load_some<V>(from, n, rest);
  else
    return load<V>(from);
}
template <class V, class T, class N>
TROUPE_INLINE void store_first(const V& values, T* to, N n) {
  if constexpr (std::is_integral_v<N>)
    store_some(values, to, n);
  else
    store(values, to);
}

/// Lanes of a and b in turn, `group` at a time: those of even groups, or of odd ones.
template <int group, bool odd, class V>
TROUPE_INLINE V interleave(const V& a, const V& b) {
  constexpr int count = sizeof(V) / sizeof(a[0]);
  return [&]<int... lane>(std::integer_sequence<int, lane...>) {
    return __builtin_shufflevector(
        a, b,
        (lane / group % 2 == 0 ? lane + (odd ? group : 0) : count + lane - (odd ? 0 : group))...);
  }
  (std::make_integer_sequence<int, count>());
}

/// Lane i of the result is what F makes of all lanes of vector i; as many vectors as lanes.
template <class F, int group = 1, class V, int count>
TROUPE_INLINE V fold_each(const V (&vectors)[count]) {
  if constexpr (count == 1) {
    return vectors[0];
  } else {
    V half[count / 2];
    TROUPE_UNROLL
    for (int i = 0; i < count / 2; ++i) {
      const V &a = vectors[2 * i], &b = vectors[2 * i + 1];
      half[i] = F::step(interleave<group, false>(a, b), interleave<group, true>(a, b));
    }
    return fold_each<F, 2 * group>(half);
  }
}

/// What F makes of all lanes, in halves.
template <class F, class T, class V>
TROUPE_INLINE T fold(const V& values) {
  constexpr int count = sizeof(V) / sizeof(T);
  if constexpr (count == 1) {
    return values[0];
  } else {
    Vector<T, count / 2> halves[2];
    __builtin_memcpy(halves, &values, sizeof values);
    const Vector<T, count / 2> both = F::step(halves[0], halves[1]);
    return fold<F, T>(both);
  }
}

} // namespace
} // namespace troupe::arith::TROUPE_ISA
