// Walks the kept and the outer reduced dimensions; the innermost two belong to the loops of the
// instruction set.
#include "kernels/arith/reduce.hpp"
#include "kernels/arith/internal/generic.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include <algorithm>
#include <cstring>

namespace troupe::arith {
namespace {

constexpr int64_t strip =
    256; // outputs at a time: their accumulators stay on the stack and in the cache

struct Walk {
  int rank = 0;
  int64_t dims[ReducePlan::max_rank];
  int64_t strides[ReducePlan::max_rank];

  void add(int64_t dim, int64_t stride) {
    dims[rank] = dim;
    strides[rank++] = stride;
  }
  int64_t size() const {
    int64_t size = 1;
    for (int k = 0; k < rank; ++k)
      size *= dims[k];
    return size;
  }
  int64_t offset(int64_t flat) const {
    int64_t result = 0;
    for (int k = rank - 1; k >= 0; --k) {
      result += flat % dims[k] * strides[k];
      flat /= dims[k];
    }
    return result;
  }
};

/// The plan taken apart. `lane` is the innermost kept dimension, `depth` the innermost reduced one;
/// one of the two has stride 1.
struct Parts {
  Walk kept, reduced; // the dimensions outside lane and depth
  int64_t lane = 1, lane_stride = 1;
  int64_t depth = 1, depth_stride = 1;
  bool by_rows = false; // depth is innermost
  int64_t first = 0;    // offset of the first element of the range

  Parts(const ReducePlan& plan, int64_t begin, int64_t end) {
    int last_kept = -1, last_reduced = -1, first_reduced = -1;
    for (int k = 0; k < plan.rank; ++k) {
      (plan.reduced[k] ? last_reduced : last_kept) = k;
      if (plan.reduced[k] && first_reduced < 0)
        first_reduced = k;
    }
    by_rows = last_reduced > last_kept;
    if (first_reduced < 0)
      depth =
          end -
          begin; // nothing is reduced: one part of a split takes the element, the others nothing
    int64_t strides[ReducePlan::max_rank];
    int64_t stride = 1;
    for (int k = plan.rank - 1; k >= 0; --k) {
      strides[k] = stride;
      stride *= plan.dims[k];
    }
    for (int k = 0; k < plan.rank; ++k) {
      int64_t dim = plan.dims[k];
      if (k == first_reduced) {
        dim = end - begin;
        first = begin * strides[k];
      }
      if (k == last_kept) {
        lane = dim;
        lane_stride = strides[k];
      } else if (k == last_reduced) {
        depth = dim;
        depth_stride = strides[k];
      } else {
        (plan.reduced[k] ? reduced : kept).add(dim, strides[k]);
      }
    }
  }
};

constexpr int64_t wide_room = 2048; // elements that are widened at once

/// As kernel.rows of elements that are computed in another type.
void rows_widened(const ReduceKernel& kernel, int64_t* acc, const char* x, int64_t rows,
                  int64_t stride, int64_t n) {
  alignas(64) char wide[wide_room * sizeof(int64_t)];
  const int64_t at_once = stride == n && n > 0 ? wide_room / n : 0; // neighbours
  int64_t r = 0;
  for (; at_once > 1 && r < rows; r += at_once) {
    const int64_t count = std::min(at_once, rows - r);
    kernel.route->widen(x + r * n * kernel.size, wide, 0, count * n);
    kernel.rows(acc + r, wide, count, n, n);
  }
  for (; r < rows; ++r)
    for (int64_t i = 0; i < n; i += wide_room) {
      const int64_t count = std::min(wide_room, n - i);
      kernel.route->widen(x + (r * stride + i) * kernel.size, wide, 0, count);
      kernel.rows(acc + r, wide, 1, 0, count);
    }
}

/// As kernel.columns of such elements; there are at most `strip` columns.
void columns_widened(const ReduceKernel& kernel, int64_t* acc, const char* x, int64_t rows,
                     int64_t stride, int64_t columns) {
  alignas(64) char wide[wide_room * sizeof(int64_t)];
  const int64_t at_once = std::max<int64_t>(wide_room / columns, 1);
  for (int64_t r0 = 0; r0 < rows; r0 += at_once) {
    const int64_t count = std::min(at_once, rows - r0);
    if (stride == columns)
      kernel.route->widen(x + r0 * columns * kernel.size, wide, 0, count * columns);
    for (int64_t r = 0; r < count && stride != columns; ++r)
      kernel.route->widen(x + (r0 + r) * stride * kernel.size,
                          wide + r * columns * kernel.route->via_size, 0, columns);
    kernel.columns(acc, wide, count, columns, columns);
  }
}

template <class T>
void clamp(void* values, int64_t n, int64_t low, int64_t high) {
  auto* value = static_cast<T*>(values);
  for (int64_t i = 0; i < n; ++i)
    value[i] = std::clamp(value[i], static_cast<T>(low), static_cast<T>(high));
}

/// Writes n outputs from their accumulators.
void finish(const ReduceKernel& kernel, const int64_t* acc, char* out, int64_t n, int64_t count) {
  if (kernel.route == nullptr)
    return kernel.finish(acc, out, n, count);
  alignas(64) char wide[strip * sizeof(int64_t)];
  for (int64_t i = 0; i < n; i += strip) {
    const int64_t some = std::min(strip, n - i);
    kernel.finish(acc + i, wide, some, count);
    if (kernel.clamps)
      kernel.route->via == Type::int32 ? clamp<int32_t>(wide, some, kernel.low, kernel.high)
                                       : clamp<int64_t>(wide, some, kernel.low, kernel.high);
    kernel.route->narrow(wide, out + i * kernel.size, 0, some);
  }
}

/// Takes a run of outputs, all within one lane, into their accumulators.
void take(const ReduceKernel& kernel, const Parts& parts, const char* x, int64_t output, int64_t n,
          int64_t* acc) {
  const int64_t base = parts.first + parts.kept.offset(output / parts.lane) +
                       output % parts.lane * parts.lane_stride;
  const int64_t rounds = parts.reduced.size();
  for (int64_t r = 0; r < rounds; ++r) {
    const char* from = x + (base + parts.reduced.offset(r)) * kernel.size;
    if (kernel.narrow.rows != nullptr && parts.by_rows)
      kernel.narrow.rows(acc, from, n, parts.lane_stride, parts.depth);
    else if (kernel.narrow.columns != nullptr && !parts.by_rows)
      kernel.narrow.columns(acc, from, parts.depth, parts.depth_stride, n);
    else if (kernel.route != nullptr && parts.by_rows)
      rows_widened(kernel, acc, from, n, parts.lane_stride, parts.depth);
    else if (kernel.route != nullptr)
      columns_widened(kernel, acc, from, parts.depth, parts.depth_stride, n);
    else if (parts.by_rows)
      kernel.rows(acc, from, n, parts.lane_stride, parts.depth);
    else
      kernel.columns(acc, from, parts.depth, parts.depth_stride, n);
  }
}

} // namespace

ReduceKernel reduce_kernel(ReduceOp op, Type type) {
  ReduceKernel own = isa_table().reduce(op, type);
  if (!own)
    own = generic_reduce(op, type);
  const Route* route = route_of(type);
  if (own || route == nullptr)
    return own;
  ReduceKernel kernel = isa_table().reduce(op, route->via);
  if (!kernel || type == Type::complex64)
    return {};
  kernel.size = route->size;
  kernel.route = route;
  kernel.narrow = isa_table().reduce_narrow(op, type);
  // The most and the least of no integers are the type's own, not those of the wider one.
  if (type != Type::float16 && type != Type::bfloat16) {
    const bool has_sign = type == Type::int8 || type == Type::int16;
    const int bits = 8 * route->size - (has_sign ? 1 : 0);
    kernel.clamps = op == ReduceOp::max || op == ReduceOp::min;
    kernel.high = (int64_t{1} << bits) - 1;
    kernel.low = has_sign ? -kernel.high - 1 : 0;
  }
  return kernel;
}

JoinRowsFn join_rows(BinaryOp op, Type type) {
  return isa_table().join_rows(op, type);
}

int64_t place_of_largest(const float* row, int64_t n) {
  return isa_table().place_of_largest(row, n);
}

ArgReduceKernel arg_reduce_kernel(bool want_max, Type type, Type index_type) {
  const auto find = [&](Type t) {
    const ArgReduceFn fn = isa_table().arg_reduce(want_max, t, index_type);
    return fn != nullptr ? fn : generic_arg_reduce(want_max, t, index_type);
  };
  ArgReduceKernel kernel;
  kernel.fn = find(type);
  if (kernel.fn == nullptr && type != Type::complex64) {
    kernel.route = route_of(type);
    kernel.fn = kernel.route != nullptr ? find(kernel.route->via) : nullptr;
  }
  return kernel;
}

bool make_reduce_plan(std::span<const int64_t> shape, std::span<const bool> reduced,
                      ReducePlan& plan) {
  plan = {};
  bool fits = true;
  for (size_t k = 0; k < shape.size(); ++k) {
    const int64_t dim = shape[k];
    (reduced[k] ? plan.count : plan.outputs) *= dim;
    if (dim == 1 || !fits)
      continue;
    if (plan.rank > 0 && plan.reduced[plan.rank - 1] == reduced[k]) {
      plan.dims[plan.rank - 1] *= dim;
    } else if (plan.rank == ReducePlan::max_rank) {
      fits = false;
    } else {
      plan.dims[plan.rank] = dim;
      plan.reduced[plan.rank++] = reduced[k];
    }
  }
  for (int k = plan.rank - 1; k >= 0; --k)
    if (plan.reduced[k])
      plan.split = plan.dims[k];
  return fits;
}

void run_reduce(const ReduceKernel& kernel, const ReducePlan& plan, const void* x, void* out,
                int64_t begin, int64_t end) {
  const Parts parts(plan, 0, plan.split);
  int64_t acc[strip];
  for (int64_t at = begin; at < end;) {
    const int64_t n = std::min({strip, end - at, parts.lane - at % parts.lane});
    kernel.init(acc, n);
    if (plan.count > 0)
      take(kernel, parts, static_cast<const char*>(x), at, n, acc);
    finish(kernel, acc, static_cast<char*>(out) + at * kernel.size, n, plan.count);
    at += n;
  }
}

void reduce_partial(const ReduceKernel& kernel, const ReducePlan& plan, const void* x, int64_t* acc,
                    int64_t begin, int64_t end) {
  const Parts parts(plan, begin, end);
  kernel.init(acc, plan.outputs);
  for (int64_t at = 0; at < plan.outputs && plan.count > 0;) {
    const int64_t n = std::min({strip, plan.outputs - at, parts.lane - at % parts.lane});
    take(kernel, parts, static_cast<const char*>(x), at, n, acc + at);
    at += n;
  }
}

void reduce_combine(const ReduceKernel& kernel, const ReducePlan& plan, int64_t* accs, int parts,
                    void* out) {
  for (int k = 1; k < parts; ++k)
    kernel.merge(accs, accs + k * plan.outputs, plan.outputs);
  finish(kernel, accs, static_cast<char*>(out), plan.outputs, plan.count);
}

} // namespace troupe::arith
