// Lanes: the datasets that a function makes of an input's elements, read ahead by several at once,
// their elements in turn.
#pragma once

#include "kernels/data/internal/pipeline.hpp"

namespace troupe::data {

struct LaneOptions {
  std::int64_t cycle = 1;  ///< lanes that elements are taken of in turn
  std::int64_t block = 1;  ///< elements of each
  std::int64_t ahead = 1;  ///< elements of a lane that wait to be taken, at most
  std::int64_t coming = 0; ///< lanes beyond the cycle that are begun
  std::int64_t calls = 1;  ///< lanes that are read at the same time
  bool in_order = true;    ///< else a lane whose next element is not there is passed over
};

/// `dataset` is kept. The iterator begins with the first call of `next`.
IteratorRef iterate_in_lanes(DatasetRef dataset, IteratorRef input, BoundFunction function,
                             std::shared_ptr<Pipeline> pipeline, const LaneOptions& options);

} // namespace troupe::data
