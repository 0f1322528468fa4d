// Walks the kept and the outer reduced dimensions; the innermost two belong to the loops of the
// instruction set.
#include "kernels/arith/reduce.hpp"
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

/// Takes a run of outputs, all within one lane, into their accumulators.
void take(const ReduceKernel& kernel, const Parts& parts, const char* x, int64_t output, int64_t n,
          int64_t* acc) {
  const int64_t base = parts.first + parts.kept.offset(output / parts.lane) +
                       output % parts.lane * parts.lane_stride;
  const int64_t rounds = parts.reduced.size();
  for (int64_t r = 0; r < rounds; ++r) {
    const char* from = x + (base + parts.reduced.offset(r)) * kernel.size;
    if (parts.by_rows)
      kernel.rows(acc, from, n, parts.lane_stride, parts.depth);
    else
      kernel.columns(acc, from, parts.depth, parts.depth_stride, n);
  }
}

} // namespace

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
    kernel.finish(acc, static_cast<char*>(out) + at * kernel.size, n, plan.count);
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
  kernel.finish(accs, out, plan.outputs, plan.count);
}

} // namespace troupe::arith
