// Where a row or a column has its largest or its smallest element.
#include "kernels/arith/isa/extreme.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

/// The ends of the numbers that are not infinite.
template <class T>
struct Finite {
  static constexpr T lowest = Limits<T>::low, highest = Limits<T>::high;
};
template <>
struct Finite<float> {
  static constexpr float highest = 3.40282347e+38f, lowest = -highest;
};
template <>
struct Finite<double> {
  static constexpr double highest = 1.7976931348623157e+308, lowest = -highest;
};

/// The extreme of each lane, without NaN: that is never better than what there is.
template <bool want_max>
struct Extreme {
  template <class V>
  TROUPE_INLINE V step(const V& best, const V& x) {
    return extreme_of<want_max>(best, x);
  }
};

/// A bit for each lane of T's size whose bits are all set; in the others none is.
template <class T, class Flags>
TROUPE_INLINE uint64_t lanes_with(const Flags& flags) {
#if defined(__AVX512DQ__) && defined(__AVX512BW__)
  const auto all = __builtin_bit_cast(__m512i, flags);
  return sizeof(T) == 8   ? static_cast<uint64_t>(_mm512_movepi64_mask(all))
         : sizeof(T) == 4 ? static_cast<uint64_t>(_mm512_movepi32_mask(all))
                          : static_cast<uint64_t>(_mm512_movepi8_mask(all));
#elif defined(__AVX2__)
  const auto all = __builtin_bit_cast(__m256i, flags);
  return static_cast<uint32_t>(sizeof(T) == 8   ? _mm256_movemask_pd(_mm256_castsi256_pd(all))
                               : sizeof(T) == 4 ? _mm256_movemask_ps(_mm256_castsi256_ps(all))
                                                : _mm256_movemask_epi8(all));
#else
  uint64_t out = 0;
  for (int lane = 0; lane < lanes<T>; ++lane)
    out |= static_cast<uint64_t>(flags[lane] & 1) << lane;
  return out;
#endif
}

/// Where a row has its extreme first; 0 where nothing is better than `worst`.
template <bool want_max, class T>
int64_t place_of_extreme(const T* row, int64_t n, T worst) {
  using F = Extreme<want_max>;
  constexpr int64_t width = lanes<T>;
  constexpr int parts = 4;
  Full<T> part[parts];
  for (Full<T>& each : part)
    each = spread<Full<T>>(worst);
  int64_t i = 0;
  for (; i + parts * width <= n; i += parts * width) {
    TROUPE_UNROLL
    for (int p = 0; p < parts; ++p)
      part[p] = F::step(part[p], load<Full<T>>(row + i + p * width));
  }
  for (; i + width <= n; i += width)
    part[0] = F::step(part[0], load<Full<T>>(row + i));
  T best = fold<F, T>(F::step(F::step(part[0], part[1]), F::step(part[2], part[3])));
  for (; i < n; ++i)
    best = F::step(best, row[i]);
  if (best == worst)
    return 0;
  int64_t at = 0;
  for (; at + width <= n; at += width)
    if (const uint64_t found = lanes_with<T>(load<Full<T>>(row + at) == spread<Full<T>>(best)))
      return at + __builtin_ctzll(found);
  while (at + 1 < n && row[at] != best) // the last, if another thread has written since
    ++at;
  return at;
}

bool has_nan(const float* row, int64_t n) {
  using V = Full<float>;
  auto seen = V{} != V{};
  int64_t i = 0;
  for (; i + lanes<float> <= n; i += lanes<float>) {
    const V x = load<V>(row + i);
    seen |= x != x;
  }
  bool any = lanes_with<float>(seen) != 0;
  for (; i < n; ++i)
    any |= row[i] != row[i];
  return any;
}

/// Better is > for argmax and < for argmin; equal elements keep the earlier index. NaN is never
/// better, so it counts only where there is nothing else: then the answer is 0, as for infinities
/// of the worst kind alone.
template <bool want_max, class T, class Index>
void find_extreme(const void* x, void* out, int64_t n, int64_t inner, int64_t begin, int64_t end) {
  auto in = static_cast<const T*>(x);
  auto result = static_cast<Index*>(out);
  constexpr T worst = want_max ? Finite<T>::lowest : Finite<T>::highest;
  for (int64_t flat = begin; flat < end;) {
    int64_t outer = flat / inner, column = flat % inner;
    const T* base = in + outer * n * inner + column;
    if (inner == 1) {
      result[flat++] = Index(place_of_extreme<want_max>(base, n, worst));
      continue;
    }
    constexpr int64_t width = 64;
    int64_t columns = inner - column < end - flat ? inner - column : end - flat;
    columns = columns < width ? columns : width;
    T best[width];
    Index at[width];
    for (int64_t c = 0; c < columns; ++c) {
      best[c] = worst;
      at[c] = 0;
    }
    for (int64_t k = 0; k < n; ++k) {
      const T* row = base + k * inner;
      for (int64_t c = 0; c < columns; ++c) {
        bool better = want_max ? row[c] > best[c] : row[c] < best[c];
        best[c] = better ? row[c] : best[c];
        at[c] = better ? Index(k) : at[c];
      }
    }
    for (int64_t c = 0; c < columns; ++c)
      result[flat + c] = at[c];
    flat += columns;
  }
}

template <class T>
ArgReduceFn arg_reduce_of(bool want_max, Type index_type) {
  if (index_type == Type::int64)
    return want_max ? find_extreme<true, T, int64_t> : find_extreme<false, T, int64_t>;
  if (index_type == Type::int32)
    return want_max ? find_extreme<true, T, int32_t> : find_extreme<false, T, int32_t>;
  return nullptr;
}

} // namespace

int64_t place_of_largest(const float* row, int64_t n) {
  return has_nan(row, n) ? -1 : place_of_extreme<true>(row, n, Limits<float>::low);
}

ArgReduceFn arg_reduce(bool want_max, Type type, Type index_type) {
  switch (type) {
  case Type::float32:
    return arg_reduce_of<float>(want_max, index_type);
  case Type::float64:
    return arg_reduce_of<double>(want_max, index_type);
  case Type::int32:
    return arg_reduce_of<int32_t>(want_max, index_type);
  case Type::int64:
    return arg_reduce_of<int64_t>(want_max, index_type);
  case Type::uint8:
    return arg_reduce_of<uint8_t>(want_max, index_type);
  default:
    return nullptr;
  }
}

} // namespace troupe::arith::TROUPE_ISA
