// Index tensors of shape [..., depth]: each of their rows names a row of a tensor by its first
// `depth` dimensions. What GatherNd and the ops of the ScatterNd family share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe::array {

struct NdIndex {
  std::int64_t depth = 0;          ///< dimensions that an index names
  std::int64_t row = 1;            ///< elements of a row
  std::vector<std::int64_t> where; ///< which row each index names; -1 outside
  std::int64_t bad = -1;           ///< the last index that is outside, which TensorFlow names
};

/// Requires indices of rank 1 or more, whose last dimension is at most the shape's rank.
/// UNIMPLEMENTED for indices that are no integers.
Result<NdIndex> read_nd_index(const Tensor& indices, const Shape& shape);

/// "indices[0,1] = [7, 2]" for index `at`.
std::string nd_index_text(const Tensor& indices, std::int64_t at);

} // namespace troupe::array
