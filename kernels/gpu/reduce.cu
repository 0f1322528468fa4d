// Reductions. Threads of a block, or of a column, sum apart what is then joined pairwise, so that
// long sums of floats keep their digits.
#include "kernels/gpu/device.hpp"
#include "kernels/gpu/internal/shared_kernels.hpp"
#include "kernels/gpu/reduce_op.hpp"

namespace troupe::gpu {
namespace {

template <class T>
TROUPE_DEVICE T neutral(Reduce op) {
  switch (op) {
  case Reduce::prod:
  case Reduce::all:
    return T(1);
  case Reduce::max:
    return lowest<T>;
  case Reduce::min:
    return highest<T>;
  default:
    return T(0);
  }
}

template <class T>
TROUPE_DEVICE T joined(Reduce op, T a, T b) {
  switch (op) {
  case Reduce::prod:
    return static_cast<T>(a * b);
  case Reduce::max:
    return a != a ? a : b != b || b > a ? b : a;
  case Reduce::min:
    return a != a ? a : b != b || b < a ? b : a;
  case Reduce::any:
    return a != T(0) || b != T(0) ? T(1) : T(0);
  case Reduce::all:
    return a != T(0) && b != T(0) ? T(1) : T(0);
  default:
    return static_cast<T>(a + b);
  }
}

/// A function of two values.
struct Join {
  Reduce op;
  template <class T>
  TROUPE_DEVICE T operator()(T a, T b) const {
    return joined(op, a, b);
  }
};

/// What an element counts as.
template <class T>
TROUPE_DEVICE T taken(Reduce op, T x) {
  if (op == Reduce::half_of_squares) // halved first, since the square may be too large
    return static_cast<T>(x / T(2) * x);
  return op == Reduce::root_of_squares ? static_cast<T>(x * x) : x;
}

template <class T>
TROUPE_DEVICE T finished(Reduce op, T value, std::int64_t count) {
  if (op == Reduce::root_of_squares)
    return static_cast<T>(std::sqrt(static_cast<double>(value)));
  if (op != Reduce::mean)
    return value;
  if constexpr (std::is_floating_point_v<T>)
    return value / static_cast<T>(count);
  else
    return count == 0 ? T(0) : static_cast<T>(value / static_cast<T>(count));
}

/// A reduction that is known when the code is made, so that its loop does not ask at each element.
template <Reduce op>
struct Known {
  TROUPE_DEVICE constexpr operator Reduce() const { return op; }
};

/// Which elements are this thread's: one of `lanes` that take turns.
struct Share {
  std::int64_t begin, end;
  unsigned lane, lanes;
};

/// Of elements that lie beside each other, by packs.
template <class T, class Op>
TROUPE_DEVICE WideOf<T> of_run(Op op, const T* all, Share share) {
  using W = WideOf<T>;
  const T* x = all + share.begin;
  const std::int64_t count = share.end - share.begin;
  const unsigned lane = share.lane;
  constexpr int size = Pack<T>::size;
  W sums[size];
  for (W& sum : sums)
    sum = neutral<W>(op);
  const auto beyond =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x) % 16 / sizeof(T));
  std::int64_t head = beyond == 0 ? 0 : size - beyond;
  head = head < count ? head : count;
  if (lane < head)
    sums[0] = taken(op, widen(x[lane]));
  const Pack<T>* packs = reinterpret_cast<const Pack<T>*>(x + head);
  const std::int64_t n = (count - head) / size;
  constexpr int at_once = 2; // loads on their way
  std::int64_t i = lane;
  for (; i + (at_once - 1) * std::int64_t{share.lanes} < n; i += at_once * share.lanes) {
    Pack<T> values[at_once];
    for (int j = 0; j < at_once; ++j)
      values[j] = packs[i + j * std::int64_t{share.lanes}];
    for (int j = 0; j < at_once; ++j)
      for (int k = 0; k < size; ++k)
        sums[k] = joined(op, sums[k], taken(op, widen(values[j].at[k])));
  }
  for (; i < n; i += share.lanes) {
    const Pack<T> values = packs[i];
    for (int k = 0; k < size; ++k)
      sums[k] = joined(op, sums[k], taken(op, widen(values.at[k])));
  }
  if (const std::int64_t last = head + n * size + lane; last < count)
    sums[size - 1] = joined(op, sums[size - 1], taken(op, widen(x[last])));
  for (int half = size / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k)
      sums[k] = joined(op, sums[k], sums[k + half]);
  return sums[0];
}

/// Of a share of elements wherever they are. Four sums, so that loads do not wait for each other.
template <class T, class Op>
TROUPE_DEVICE WideOf<T> of_share(Op op, const Broadcast& over, const T* x, Share share) {
  using W = WideOf<T>;
  W sums[4];
  for (W& sum : sums)
    sum = neutral<W>(op);
  const bool is_line = over.rank == 1;
  const std::int64_t line = is_line ? over.strides[0][0] : 0;
  const std::int64_t step = share.lanes;
  std::int64_t k = share.begin + share.lane;
  constexpr int at_once = std::is_same_v<W, float> ? 8 : 4; // loads on their way
  for (; k + (at_once - 1) * step < share.end; k += at_once * step) {
    T values[at_once];
    TROUPE_UNROLL
    for (int j = 0; j < at_once; ++j) {
      const std::int64_t at = k + j * step;
      values[j] = x[is_line ? at * line : offset_of(over, at)];
    }
    TROUPE_UNROLL
    for (int j = 0; j < at_once; ++j)
      sums[j % 4] = joined(op, sums[j % 4], taken(op, widen(values[j])));
  }
  for (; k < share.end; k += step)
    sums[0] = joined(op, sums[0], taken(op, widen(x[is_line ? k * line : offset_of(over, k)])));
  return joined(op, joined(op, sums[0], sums[1]), joined(op, sums[2], sums[3]));
}

/// A thread's share of an output's elements; is_run: they lie beside each other. Packs, and a loop
/// that knows what it computes, are for sums of floats: for all else they would be as much code
/// again.
template <class T>
TROUPE_DEVICE WideOf<T> of_thread(Reduce op, bool is_run, const Broadcast& over, const T* x,
                                  Share share) {
  if constexpr (std::is_same_v<WideOf<T>, float>) {
    if (op == Reduce::sum || op == Reduce::mean)
      return is_run ? of_run(Known<Reduce::sum>(), x, share)
                    : of_share(Known<Reduce::sum>(), over, x, share);
  }
  return of_share(op, over, x, share);
}

/// Which of the elements this row of blocks reduces.
TROUPE_DEVICE Share of_row(std::int64_t count, std::int64_t share, unsigned lane, unsigned lanes) {
  const std::int64_t begin = row_of_blocks() * share;
  return {begin, begin + share < count ? begin + share : count, lane, lanes};
}

template <class T>
TROUPE_DEVICE void store(Reduce op, WideOf<T> value, void* out, std::int64_t output,
                         std::int64_t count, std::int64_t share) {
  if (share >= count)
    elements<T>(out)[output] = narrow<T>(finished(op, value, count));
  else
    elements<WideOf<T>>(out)[output * ((count + share - 1) / share) + row_of_blocks()] = value;
}

#define REDUCE_ROWS                                                                                \
  (int op, Broadcast kept, Broadcast over, const void* x, void* out, std::int64_t outputs,         \
   std::int64_t count, std::int64_t share, int lanes)
TROUPE_GPU_KERNEL(reduce_rows, REDUCE_ROWS) {
  const auto what = static_cast<Reduce>(op);
  const Share mine = of_row(count, share, thread_index() % lanes, lanes);
  const bool is_run = over.rank == 1 && over.strides[0][0] == 1;
  // A row is a warp's, else a block's. One loop for both, since each is as much code again.
  const bool of_warps = lanes == 32;
  const std::int64_t begin = of_warps ? first() / 32 : block_index();
  const std::int64_t step = of_warps ? stride() / 32 : blocks();
  for (std::int64_t output = begin; output < outputs; output += step) {
    WideOf<T> value = of_thread(what, is_run, over, elements<T>(x) + offset_of(kept, output), mine);
    value = of_warps ? over_warp(value, Join{what})
                     : over_block(value, neutral<WideOf<T>>(what), Join{what});
    if (mine.lane == 0)
      store<T>(what, value, out, output, count, share);
  }
}

#define REDUCE_COLUMNS                                                                             \
  (int op, Broadcast kept, Broadcast over, const void* x, void* out, std::int64_t outputs,         \
   std::int64_t count, std::int64_t share, int columns)
TROUPE_GPU_KERNEL(reduce_columns, REDUCE_COLUMNS) {
  using W = WideOf<T>;
  TROUPE_SHARED(W, of_threads, 256);
  const auto what = static_cast<Reduce>(op);
  const unsigned column = thread_index() % columns, lanes = block_threads() / columns;
  const Share mine = of_row(count, share, thread_index() / columns, lanes);
  for (std::int64_t begin = static_cast<std::int64_t>(block_index()) * columns; begin < outputs;
       begin += static_cast<std::int64_t>(blocks()) * columns) {
    const std::int64_t output = begin + column;
    W value = neutral<W>(what);
    if (output < outputs)
      value = of_thread(what, false, over, elements<T>(x) + offset_of(kept, output), mine);
    if (lanes > 1) {
      barrier(); // the values before were read
      of_threads[thread_index()] = value;
      barrier();
      for (unsigned other = 1; mine.lane == 0 && other < lanes; ++other)
        value = joined(what, value, of_threads[other * columns + column]);
    }
    if (mine.lane == 0 && output < outputs)
      store<T>(what, value, out, output, count, share);
  }
}

#define REDUCE_PARTS                                                                               \
  (int op, const void* accumulators, void* out, std::int64_t outputs, std::int64_t count,          \
   std::int64_t parts)
TROUPE_GPU_KERNEL(reduce_parts, REDUCE_PARTS) {
  using W = WideOf<T>;
  const auto what = static_cast<Reduce>(op);
  const unsigned lane = thread_index() % 32;
  for (std::int64_t output = first() / 32; output < outputs; output += stride() / 32) {
    W value = neutral<W>(what);
    const W* of_output = elements<W>(accumulators) + output * parts;
    constexpr int at_once = 8; // loads on their way: a board takes longer for one than for all
    std::int64_t part = lane;
    for (; part + (at_once - 1) * 32 < parts; part += at_once * 32) {
      W values[at_once];
      TROUPE_UNROLL
      for (int j = 0; j < at_once; ++j)
        values[j] = of_output[part + j * 32];
      TROUPE_UNROLL
      for (int j = 0; j < at_once; ++j)
        value = joined(what, value, values[j]);
    }
    for (; part < parts; part += 32)
      value = joined(what, value, of_output[part]);
    value = over_warp(value, Join{what});
    if (lane == 0)
      elements<T>(out)[output] = narrow<T>(finished(what, value, count));
  }
}

#define ROWS_ARGUMENTS (op, kept, over, x, out, outputs, count, share, lanes)
TROUPE_GPU_FLOATS(TROUPE_GPU_COOPERATIVE, reduce_rows, REDUCE_ROWS, ROWS_ARGUMENTS)
TROUPE_GPU_INTEGERS(TROUPE_GPU_COOPERATIVE, reduce_rows, REDUCE_ROWS, ROWS_ARGUMENTS)
TROUPE_GPU_COOPERATIVE(reduce_rows, bool, bool, REDUCE_ROWS, ROWS_ARGUMENTS)
#define COLUMNS_ARGUMENTS (op, kept, over, x, out, outputs, count, share, columns)
TROUPE_GPU_FLOATS(TROUPE_GPU_COOPERATIVE, reduce_columns, REDUCE_COLUMNS, COLUMNS_ARGUMENTS)
TROUPE_GPU_INTEGERS(TROUPE_GPU_COOPERATIVE, reduce_columns, REDUCE_COLUMNS, COLUMNS_ARGUMENTS)
TROUPE_GPU_COOPERATIVE(reduce_columns, bool, bool, REDUCE_COLUMNS, COLUMNS_ARGUMENTS)
#define PARTS_ARGUMENTS (op, accumulators, out, outputs, count, parts)
TROUPE_GPU_FLOATS(TROUPE_GPU_COOPERATIVE, reduce_parts, REDUCE_PARTS, PARTS_ARGUMENTS)
TROUPE_GPU_INTEGERS(TROUPE_GPU_COOPERATIVE, reduce_parts, REDUCE_PARTS, PARTS_ARGUMENTS)
TROUPE_GPU_COOPERATIVE(reduce_parts, bool, bool, REDUCE_PARTS, PARTS_ARGUMENTS)

} // namespace
} // namespace troupe::gpu
