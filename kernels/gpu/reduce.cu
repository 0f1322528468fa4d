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

#define REDUCE                                                                                     \
  (int op, Broadcast kept, Broadcast over, const void* x, void* out, std::int64_t outputs,         \
   std::int64_t count, std::int64_t share)

// Sums of the elements [begin, end) in steps, apart from those of other threads.
template <class T>
TROUPE_DEVICE WideOf<T> partial(Reduce op, const Broadcast& over, const T* x, std::int64_t begin,
                                std::int64_t end, std::int64_t step) {
  WideOf<T> value = neutral<WideOf<T>>(op);
  for (std::int64_t k = begin; k < end; k += step)
    value = joined(op, value, taken(op, widen(x[offset_of(over, 0, k)])));
  return value;
}

template <class T>
TROUPE_DEVICE void store(Reduce op, WideOf<T> value, void* out, std::int64_t output,
                         std::int64_t outputs, std::int64_t count, std::int64_t share) {
  if (share >= count)
    elements<T>(out)[output] = narrow<T>(finished(op, value, count));
  else
    elements<WideOf<T>>(out)[row_of_blocks() * outputs + output] = value;
}

TROUPE_GPU_KERNEL(reduce_rows, REDUCE) {
  const auto what = static_cast<Reduce>(op);
  const std::int64_t begin = row_of_blocks() * share;
  const std::int64_t end = begin + share < count ? begin + share : count;
  for (std::int64_t output = block_index(); output < outputs; output += blocks()) {
    const WideOf<T> value = partial(what, over, elements<T>(x) + offset_of(kept, 0, output),
                                    begin + thread_index(), end, block_threads());
    const WideOf<T> all = over_block(value, neutral<WideOf<T>>(what), Join{what});
    if (thread_index() == 0)
      store<T>(what, all, out, output, outputs, count, share);
  }
}

TROUPE_GPU_KERNEL(reduce_columns, REDUCE) {
  const auto what = static_cast<Reduce>(op);
  const std::int64_t begin = row_of_blocks() * share;
  const std::int64_t end = begin + share < count ? begin + share : count;
  for (std::int64_t output = first(); output < outputs; output += stride())
    store<T>(what, partial(what, over, elements<T>(x) + offset_of(kept, 0, output), begin, end, 1),
             out, output, outputs, count, share);
}

#define REDUCE_PARTS                                                                               \
  (int op, const void* accumulators, void* out, std::int64_t outputs, std::int64_t count,          \
   std::int64_t parts)
TROUPE_GPU_KERNEL(reduce_parts, REDUCE_PARTS) {
  const auto what = static_cast<Reduce>(op);
  for (std::int64_t output = first(); output < outputs; output += stride()) {
    WideOf<T> value = neutral<WideOf<T>>(what);
    for (std::int64_t part = 0; part < parts; ++part)
      value = joined(what, value, elements<WideOf<T>>(accumulators)[part * outputs + output]);
    elements<T>(out)[output] = narrow<T>(finished(what, value, count));
  }
}

#define REDUCE_ARGUMENTS (op, kept, over, x, out, outputs, count, share)
TROUPE_GPU_FLOATS(TROUPE_GPU_COOPERATIVE, reduce_rows, REDUCE, REDUCE_ARGUMENTS)
TROUPE_GPU_INTEGERS(TROUPE_GPU_COOPERATIVE, reduce_rows, REDUCE, REDUCE_ARGUMENTS)
TROUPE_GPU_COOPERATIVE(reduce_rows, bool, bool, REDUCE, REDUCE_ARGUMENTS)
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, reduce_columns, REDUCE, REDUCE_ARGUMENTS)
TROUPE_GPU_INTEGERS(TROUPE_GPU_INSTANCE, reduce_columns, REDUCE, REDUCE_ARGUMENTS)
TROUPE_GPU_INSTANCE(reduce_columns, bool, bool, REDUCE, REDUCE_ARGUMENTS)
#define PARTS_ARGUMENTS (op, accumulators, out, outputs, count, parts)
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, reduce_parts, REDUCE_PARTS, PARTS_ARGUMENTS)
TROUPE_GPU_INTEGERS(TROUPE_GPU_INSTANCE, reduce_parts, REDUCE_PARTS, PARTS_ARGUMENTS)
TROUPE_GPU_INSTANCE(reduce_parts, bool, bool, REDUCE_PARTS, PARTS_ARGUMENTS)

} // namespace
} // namespace troupe::gpu
