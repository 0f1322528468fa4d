#include "kernels/arith/broadcast.hpp"
#include <algorithm>

namespace troupe::arith {
namespace {

int64_t dim_from_right(std::span<const int64_t> shape, size_t from_right) {
  return from_right < shape.size() ? shape[shape.size() - 1 - from_right] : 1;
}

/// Appends an output dimension inside the others, merged with the one before where every input
/// allows it.
bool append(BroadcastPlan& plan, int64_t dim, const int64_t* strides) {
  bool merge = plan.rank > 0;
  for (int i = 0; merge && i < plan.inputs; ++i)
    merge = plan.strides[i][plan.rank - 1] == strides[i] * dim;
  if (!merge && plan.rank == BroadcastPlan::max_rank)
    return false;
  int at = merge ? plan.rank - 1 : plan.rank++;
  plan.dims[at] = merge ? plan.dims[at] * dim : dim;
  for (int i = 0; i < plan.inputs; ++i)
    plan.strides[i][at] = strides[i];
  return true;
}

} // namespace

bool make_broadcast_plan(std::initializer_list<std::span<const int64_t>> shapes,
                         BroadcastPlan& plan) {
  plan = {};
  plan.inputs = static_cast<int>(shapes.size());
  if (plan.inputs > BroadcastPlan::max_inputs)
    return false;
  size_t rank = 0;
  int64_t pending[BroadcastPlan::max_inputs]; // elements of each input not yet walked, to get
                                              // strides outermost first
  int count = 0;
  for (auto shape : shapes) {
    rank = std::max(rank, shape.size());
    pending[count] = 1;
    for (int64_t dim : shape)
      pending[count] *= dim;
    ++count;
  }
  bool fits = true;
  for (size_t k = rank; k-- > 0;) {
    int64_t dim = 1;
    for (auto shape : shapes) {
      int64_t mine = dim_from_right(shape, k);
      if (mine != 1 && dim != 1 && mine != dim)
        return false;
      dim = mine == 1 ? dim : mine;
    }
    plan.size *= dim;
    int64_t strides[BroadcastPlan::max_inputs];
    int i = 0;
    for (auto shape : shapes) {
      int64_t mine = dim_from_right(shape, k);
      pending[i] = mine == 0 ? 0 : pending[i] / mine;
      strides[i] = mine == 1 ? 0 : pending[i];
      ++i;
    }
    if (dim != 1 && fits)
      fits = append(plan, dim, strides);
  }
  return fits || plan.size == 0;
}

BroadcastPlan flat_plan(int64_t size, int inputs) {
  BroadcastPlan plan;
  plan.inputs = inputs;
  plan.size = size;
  plan.rank = 1;
  plan.dims[0] = size;
  for (int i = 0; i < inputs; ++i)
    plan.strides[i][0] = 1;
  return plan;
}

bool broadcast_shape(std::span<const int64_t> a, std::span<const int64_t> b,
                     std::vector<int64_t>& out) {
  size_t rank = std::max(a.size(), b.size());
  out.assign(rank, 1);
  for (size_t k = 0; k < rank; ++k) {
    int64_t x = dim_from_right(a, k), y = dim_from_right(b, k);
    if (x != y && x != 1 && y != 1)
      return false;
    out[rank - 1 - k] = x == 1 ? y : x;
  }
  return true;
}

} // namespace troupe::arith
