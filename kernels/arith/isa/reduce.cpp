// Inner loops of reductions. f32 sums and products run in f32 over short runs (at most 64 steps one
// after the other in each lane), and in f64 over the runs.
#include "kernels/arith/isa/extreme.hpp"
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

/// Whole rows of few columns, one behind the other, as long rows of registers: lane k of register j
/// is of column (j * width + k) modulo the columns, and as many registers as there are columns
/// begin anew. Returns how many rows it took.
template <class T, class F>
int64_t whole_few_columns(int64_t* acc, const T* in, int64_t rows, int64_t columns) {
  using Acc = typename F::Acc;
  using Lane = typename F::Lane;
  constexpr int64_t width = lanes<Lane>; // rows that fill the registers
  Full<Lane> part[width];
  int64_t r = 0;
  while (rows - r >= width) {
    const int64_t left = (rows - r) / width, steps = left < run_length ? left : run_length;
    for (int64_t j = 0; j < columns; ++j)
      part[j] = spread<Full<Lane>>(Lane(F::identity()));
    for (int64_t step = 0; step < steps; ++step, in += width * columns)
      for (int64_t j = 0; j < columns; ++j)
        part[j] = F::step(part[j], load_lanes<Lane, Itself>(in + j * width));
    r += steps * width;
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t lane = 0; lane < width; ++lane) {
        int64_t* slot = acc + (j * width + lane) % columns;
        put<Acc>(slot, F::step(get<Acc>(slot), Acc(Lane(part[j][lane]))));
      }
  }
  return r;
}

template <class T, class F>
void reduce_columns(int64_t* acc, const void* x, int64_t rows, int64_t stride, int64_t columns) {
  constexpr int width = lanes<typename F::Lane>;
  auto in = static_cast<const T*>(x);
  if (columns == stride && columns < width) {
    const int64_t done = whole_few_columns<T, F>(acc, in, rows, columns);
    in += done * stride;
    rows -= done;
  }
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

} // namespace troupe::arith::TROUPE_ISA
