// How up to three dense inputs broadcast to one dense output, with adjacent dimensions merged at
// run time.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace troupe::arith {

/// Output dimensions, outermost first, and for every input its stride in elements along each of
/// them (0: broadcast). Dimensions of size 1 are gone and neighbours that every input walks alike
/// are one; a scalar output has rank 0. The innermost stride of an input is always 0 or 1.
struct BroadcastPlan {
  static constexpr int max_rank = 8;
  static constexpr int max_inputs = 3;
  int rank = 0;
  int inputs = 0;
  int64_t size = 1; // elements of the output
  int64_t dims[max_rank] = {};
  int64_t strides[max_inputs][max_rank] = {};
};

/// Makes the plan of two or three shapes by NumPy's rules. Returns false when the shapes do not
/// broadcast together, or when more than 8 dimensions are left after merging; `plan` is then
/// unspecified.
bool make_broadcast_plan(std::initializer_list<std::span<const int64_t>> shapes,
                         BroadcastPlan& plan);

/// The plan of `inputs` arrays of the same `size` elements.
BroadcastPlan flat_plan(int64_t size, int inputs = 2);

/// The shape that two shapes broadcast to. Returns false when they do not.
bool broadcast_shape(std::span<const int64_t> a, std::span<const int64_t> b,
                     std::vector<int64_t>& out);

} // namespace troupe::arith
