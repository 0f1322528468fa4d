// Inner loops of reductions. f32 sums and products run in f32 over short runs (at most 64 steps one after
// the other in each lane), and in f64 over the runs.
#include "kernels/arith/isa/narrow.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

constexpr int64_t run_length = 64; // steps of a lane

/// How one reduction works on T: Acc is what an accumulator holds, Lane what the fast inner loop
/// uses.
template <class T>
struct Sum {
  using Acc = T;
  using Lane = T;
  static constexpr T identity() { return T(0); }
  template <class A>
  TROUPE_INLINE A step(A a, A b) {
    return a + b;
  }
};
template <>
struct Sum<float> {
  using Acc = double;
  using Lane = float;
  static constexpr float identity() { return 0.0f; }
  template <class A>
  TROUPE_INLINE A step(A a, A b) {
    return a + b;
  }
};
/// What a mean sums: integers in 64 bits, so that only the mean itself has to fit.
template <class T>
struct MeanSum : Sum<T> {};
template <>
struct MeanSum<int32_t> {
  using Acc = int64_t;
  using Lane = int64_t;
  static constexpr int64_t identity() { return 0; }
  template <class A>
  TROUPE_INLINE A step(A a, A b) {
    return a + b;
  }
};

template <class T>
struct Prod {
  using Acc = T;
  using Lane = T;
  static constexpr T identity() { return T(1); }
  template <class A>
  TROUPE_INLINE A step(A a, A b) {
    return a * b;
  }
};
template <>
struct Prod<float> {
  using Acc = double;
  using Lane = float;
  static constexpr float identity() { return 1.0f; }
  template <class A>
  TROUPE_INLINE A step(A a, A b) {
    return a * b;
  }
};

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

/// An accumulator of 8 bytes, as their slots have, for what fits into it.
template <class T>
struct Slot {
  using Type = T;
};
template <>
struct Slot<float> {
  using Type = double;
};
template <>
struct Slot<int32_t> {
  using Type = int64_t;
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

template <class T>
struct Max {
  using Acc = typename Slot<T>::Type;
  using Lane = T;
  static constexpr T identity() { return Limits<T>::low; }
  template <class A>
  TROUPE_INLINE A step(A a, A b) {
    return b != b ? b : extreme_of<true>(a, b);
  }
};
template <class T>
struct Min {
  using Acc = typename Slot<T>::Type;
  using Lane = T;
  static constexpr T identity() { return Limits<T>::high; }
  template <class A>
  TROUPE_INLINE A step(A a, A b) {
    return b != b ? b : extreme_of<false>(a, b);
  }
};
/// Sums of f32 in f64 from the beginning.
struct WideSum : Sum<double> {};
struct Any {
  using Acc = uint8_t;
  using Lane = uint8_t;
  static constexpr uint8_t identity() { return 0; }
  template <class A>
  TROUPE_INLINE A step(A a, A b) {
    return A(a | b);
  }
};
struct All {
  using Acc = uint8_t;
  using Lane = uint8_t;
  static constexpr uint8_t identity() { return 1; }
  template <class A>
  TROUPE_INLINE A step(A a, A b) {
    return A(a & b);
  }
};

/// Accumulators are stored in 8-byte slots.
template <class Acc>
TROUPE_INLINE Acc get(const int64_t* slot) {
  Acc value;
  __builtin_memcpy(&value, slot, sizeof value);
  return value;
}
template <class Acc>
TROUPE_INLINE void put(int64_t* slot, Acc value) {
  *slot = 0;
  __builtin_memcpy(slot, &value, sizeof value);
}

template <class F>
void init(int64_t* acc, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    put<typename F::Acc>(acc + i, typename F::Acc(F::identity()));
}

template <class F>
void merge(int64_t* acc, const int64_t* other, int64_t n) {
  using Acc = typename F::Acc;
  for (int64_t i = 0; i < n; ++i)
    put<Acc>(acc + i, F::step(get<Acc>(acc + i), get<Acc>(other + i)));
}

/// What of each element goes into a reduction.
struct Itself {
  template <class V>
  TROUPE_INLINE V of(const V& x) {
    return x;
  }
};
struct Squared {
  template <class V>
  TROUPE_INLINE V of(const V& x) {
    return x * x;
  }
};

/// A register of lanes from elements of T, which may be narrower.
template <class Lane, class Of, class T>
TROUPE_INLINE Full<Lane> load_lanes(const T* from) {
  return Of::of(__builtin_convertvector(load<Vector<T, lanes<Lane>>>(from), Full<Lane>));
}

/// The first n elements of a register of lanes, and `rest` in the others.
template <class Lane, class Of, class T>
TROUPE_INLINE Full<Lane> load_some_lanes(const T* from, int64_t n, T rest) {
  const auto some = load_some<Vector<T, lanes<Lane>>>(from, n, rest);
  return Of::of(__builtin_convertvector(some, Full<Lane>));
}

template <class Lane, class Of>
TROUPE_INLINE Full<float> load_lanes(const Bfloat16* from) {
  return Of::of(load_narrow(from));
}

#if defined(__F16C__)
template <class Lane, class Of>
TROUPE_INLINE Full<float> load_lanes(const Float16* from) {
  return Of::of(load_narrow(from));
}
#endif

template <class Lane, class Of>
TROUPE_INLINE Full<float> load_some_lanes(const Bfloat16* from, int64_t n, Bfloat16 rest) {
  Bfloat16 some[lanes<float>];
  for (int64_t i = 0; i < lanes<float>; ++i)
    some[i] = i < n ? from[i] : rest;
  return load_lanes<Lane, Of>(some);
}

/// What F makes of n elements in the lanes of one register.
template <class T, class F, class Of = Itself>
TROUPE_INLINE auto fold_lanes(const T* in, int64_t n) {
  using Lane = typename F::Lane;
  using V = Full<Lane>;
  constexpr int64_t width = lanes<Lane>;
  V result = spread<V>(Lane(F::identity()));
  int64_t i = 0;
  for (; i + 2 * width <= n; i += 2 * width)
    result = F::step(result,
                     F::step(load_lanes<Lane, Of>(in + i), load_lanes<Lane, Of>(in + i + width)));
  if (i + width <= n) {
    result = F::step(result, load_lanes<Lane, Of>(in + i));
    i += width;
  }
  if (i < n)
    result = F::step(result, load_some_lanes<Lane, Of>(in + i, n - i, T(F::identity())));
  return result;
}

/// What F makes of a row, in several registers so that steps need not wait for each other.
template <class T, class F, class Of = Itself>
TROUPE_INLINE typename F::Acc fold_row(const T* in, int64_t n) {
  using Acc = typename F::Acc;
  using Lane = typename F::Lane;
  using V = Full<Lane>;
  constexpr int parts = 8;
  constexpr int64_t width = lanes<Lane>;
  Acc total = Acc(F::identity());
  while (n >= parts * width) {
    int64_t steps = n / (parts * width);
    steps = steps < run_length ? steps : run_length;
    n -= steps * parts * width;
    V part[parts];
    TROUPE_UNROLL
    for (int p = 0; p < parts; ++p)
      part[p] = load_lanes<Lane, Of>(in + p * width);
    for (in += parts * width; --steps > 0; in += parts * width) {
      TROUPE_UNROLL
      for (int p = 0; p < parts; ++p)
        part[p] = F::step(part[p], load_lanes<Lane, Of>(in + p * width));
    }
    TROUPE_UNROLL
    for (int half = parts / 2; half > 0; half /= 2) {
      TROUPE_UNROLL
      for (int p = 0; p < half; ++p)
        part[p] = F::step(part[p], part[p + half]);
    }
    total = F::step(total, Acc(fold<F, Lane>(part[0])));
  }
  return n > 0 ? F::step(total, Acc(fold<F, Lane>(fold_lanes<T, F, Of>(in, n)))) : total;
}

template <class T, class F>
void reduce_rows(int64_t* acc, const void* x, int64_t rows, int64_t stride, int64_t n) {
  using Acc = typename F::Acc;
  using Lane = typename F::Lane;
  constexpr int64_t width = lanes<Lane>;
  const auto take = [acc](int64_t r, Acc value) {
    put<Acc>(acc + r, F::step(get<Acc>(acc + r), value));
  };
  auto in = static_cast<const T*>(x);
  int64_t r = 0;
  // As many short rows at once as a register has lanes, so that their last steps are done together.
  if (n <= 16 * width)
    for (; r + width <= rows; r += width) {
      Full<Lane> part[width];
      for (int64_t l = 0; l < width; ++l)
        part[l] = fold_lanes<T, F>(in + (r + l) * stride, n);
      const Full<Lane> totals = fold_each<F>(part);
      for (int64_t l = 0; l < width; ++l)
        take(r + l, Acc(totals[l]));
    }
  for (; r < rows; ++r)
    take(r, fold_row<T, F>(in + r * stride, n));
}

/// The same for booleans.
template <class F>
void reduce_bytes(int64_t* acc, const void* x, int64_t rows, int64_t stride, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) {
    auto in = static_cast<const uint8_t*>(x) + r * stride;
    uint8_t total = get<uint8_t>(acc + r);
    for (int64_t i = 0; i < n; ++i)
      total = F::step(total, in[i]);
    put<uint8_t>(acc + r, total);
  }
}

/// Registers' worth of columns, whose results stay in registers: several rows at once where there
/// are few columns, so that steps need not wait for each other.
template <int registers, class F, class T>
TROUPE_INLINE void register_columns(int64_t* acc, const T* in, int64_t rows, int64_t stride) {
  using Acc = typename F::Acc;
  using Lane = typename F::Lane;
  constexpr int width = lanes<Lane>, chains = 8 / registers;
  const auto at = [=](int64_t r, int k) {
    return load_lanes<Lane, Itself>(in + r * stride + k * width);
  };
  for (int64_t r0 = 0; r0 < rows; r0 += chains * run_length) {
    const int64_t r1 = rows - r0 > chains * run_length ? r0 + chains * run_length : rows;
    Full<Lane> part[chains][registers];
    TROUPE_UNROLL
    for (int k = 0; k < chains * registers; ++k)
      part[k / registers][k % registers] = spread<Full<Lane>>(Lane(F::identity()));
    int64_t r = r0;
    for (; r + chains <= r1; r += chains) {
      TROUPE_UNROLL
      for (int k = 0; k < chains * registers; ++k)
        part[k / registers][k % registers] =
            F::step(part[k / registers][k % registers], at(r + k / registers, k % registers));
    }
    for (; r < r1; ++r) {
      TROUPE_UNROLL
      for (int k = 0; k < registers; ++k)
        part[0][k] = F::step(part[0][k], at(r, k));
    }
    Lane results[registers * width];
    TROUPE_UNROLL
    for (int k = 0; k < registers; ++k) {
      TROUPE_UNROLL
      for (int chain = 1; chain < chains; ++chain)
        part[0][k] = F::step(part[0][k], part[chain][k]);
      store(part[0][k], results + k * width);
    }
    for (int c = 0; c < registers * width; ++c)
      put<Acc>(acc + c, F::step(get<Acc>(acc + c), Acc(results[c])));
  }
}

/// The same of few columns, or of those that do not fill a register.
template <class T, class F>
void few_columns(int64_t* acc, const T* in, int64_t rows, int64_t stride, int64_t columns) {
  using Acc = typename F::Acc;
  using Lane = typename F::Lane;
  for (int64_t r0 = 0; r0 < rows; r0 += run_length) {
    const int64_t r1 = rows - r0 > run_length ? r0 + run_length : rows;
    for (int64_t c = 0; c < columns; ++c) {
      Lane part = Lane(in[r0 * stride + c]);
      for (int64_t r = r0 + 1; r < r1; ++r)
        part = F::step(part, Lane(in[r * stride + c]));
      put<Acc>(acc + c, F::step(get<Acc>(acc + c), Acc(part)));
    }
  }
}

template <class T, class F>
void reduce_columns(int64_t* acc, const void* x, int64_t rows, int64_t stride, int64_t columns) {
  constexpr int width = lanes<typename F::Lane>;
  auto in = static_cast<const T*>(x);
  int64_t c = 0;
  for (; c + 8 * width <= columns; c += 8 * width)
    register_columns<8, F>(acc + c, in + c, rows, stride);
  for (; c + 2 * width <= columns; c += 2 * width)
    register_columns<2, F>(acc + c, in + c, rows, stride);
  for (; c + width <= columns; c += width)
    register_columns<1, F>(acc + c, in + c, rows, stride);
  if (c < columns)
    few_columns<T, F>(acc + c, in + c, rows, stride, columns - c);
}

template <class T, class F>
void finish(const int64_t* acc, void* out, int64_t n, int64_t) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] = T(get<typename F::Acc>(acc + i));
}

template <class T>
void finish_mean(const int64_t* acc, void* out, int64_t n, int64_t count) {
  using Acc = typename MeanSum<T>::Acc;
  for (int64_t i = 0; i < n; ++i) {
    Acc sum = get<Acc>(acc + i);
    if constexpr (T(1) / T(2) == T(0))
      static_cast<T*>(out)[i] = count == 0 ? T(0) : T(sum / Acc(count));
    else
      static_cast<T*>(out)[i] = T(sum / Acc(count));
  }
}

template <class T, class F>
ReduceKernel kernel() {
  ReduceKernel k;
  k.init = init<F>;
  if constexpr (sizeof(T) == 1)
    k.rows = reduce_bytes<F>;
  else
    k.rows = reduce_rows<T, F>;
  k.columns = reduce_columns<T, F>;
  k.merge = merge<F>;
  k.finish = finish<T, F>;
  k.size = sizeof(T);
  return k;
}

template <class T>
ReduceKernel reduce_of(ReduceOp op) {
  switch (op) {
  case ReduceOp::sum:
    return kernel<T, Sum<T>>();
  case ReduceOp::mean: {
    ReduceKernel k = kernel<T, MeanSum<T>>();
    k.finish = finish_mean<T>;
    return k;
  }
  case ReduceOp::prod:
    return kernel<T, Prod<T>>();
  case ReduceOp::max:
    return kernel<T, Max<T>>();
  case ReduceOp::min:
    return kernel<T, Min<T>>();
  default:
    return {};
  }
}

/// The extreme of each lane, without NaN: that is never better than what there is.
template <bool want_max>
struct Extreme {
  template <class V>
  TROUPE_INLINE V step(const V& best, const V& x) {
    return extreme_of<want_max>(best, x);
  }
};

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
  for (; at + width <= n; at += width) { // passes by registers that do not have it
    bool found = false;
    TROUPE_UNROLL
    for (int64_t l = 0; l < width; ++l)
      found |= row[at + l] == best;
    if (found)
      break;
  }
  while (at < n && row[at] != best)
    ++at;
  return at;
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

double squares(const void* x, int64_t begin, int64_t end) {
  const auto in = static_cast<const float*>(x) + begin;
  const double sum = fold_row<float, Sum<float>, Squared>(in, end - begin);
  // Squares may have been too large for f32, or too small to be exact.
  const bool safe = sum > 1e-30 && sum < 1e38;
  return safe ? sum : fold_row<float, WideSum, Squared>(in, end - begin);
}

double double_squares(const void* x, int64_t begin, int64_t end) {
  return fold_row<double, WideSum, Squared>(static_cast<const double*>(x) + begin, end - begin);
}

template <class F>
NarrowReduce narrow_reduce(Type type) {
#if defined(__F16C__)
  if (type == Type::float16)
    return {nullptr, reduce_columns<Float16, F>};
#endif
  return type == Type::bfloat16
             ? NarrowReduce{reduce_rows<Bfloat16, F>, reduce_columns<Bfloat16, F>}
             : NarrowReduce{};
}

} // namespace

SquaresFn sum_of_squares(Type type) {
  return type == Type::float32 ? squares : type == Type::float64 ? double_squares : nullptr;
}

ReduceKernel reduce(ReduceOp op, Type type) {
  switch (type) {
  case Type::float32:
    return reduce_of<float>(op);
  case Type::float64:
    return reduce_of<double>(op);
  case Type::int32:
    return reduce_of<int32_t>(op);
  case Type::int64:
    return reduce_of<int64_t>(op);
  case Type::bool_:
    return op == ReduceOp::any   ? kernel<uint8_t, Any>()
           : op == ReduceOp::all ? kernel<uint8_t, All>()
                                 : ReduceKernel();
  default:
    return {};
  }
}

NarrowReduce reduce_narrow(ReduceOp op, Type type) {
  switch (op) {
  case ReduceOp::sum:
  case ReduceOp::mean:
    return narrow_reduce<Sum<float>>(type);
  case ReduceOp::prod:
    return narrow_reduce<Prod<float>>(type);
  case ReduceOp::max:
    return narrow_reduce<Max<float>>(type);
  case ReduceOp::min:
    return narrow_reduce<Min<float>>(type);
  default:
    return {};
  }
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
