// What begin, end, strides and the masks of a strided slice mean for one input shape.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/shape.hpp"
#include "graph/op/attr_value.hpp"

namespace troupe::array {

struct SliceMasks {
  std::int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;
};
Result<SliceMasks> slice_masks(const AttrMap& attrs);

/// A slice made explicit: for each dimension of the input where it begins, its step and how many
/// elements it takes (-1: not known); and the shape of the result, with the axes that the masks add
/// and take away.
struct SliceSpec {
  std::vector<std::int64_t> begin, strides, sizes;
  std::vector<std::int64_t> result;
  /// Every element, in order.
  bool is_whole = true;
};

/// `begin` and `end` are null where they are not known; all three have one length. INVALID_ARGUMENT
/// in TensorFlow's words for bad indices, strides and masks.
Result<SliceSpec> make_slice_spec(const std::vector<std::int64_t>& input,
                                  const std::vector<std::int64_t>* begin,
                                  const std::vector<std::int64_t>* end,
                                  const std::vector<std::int64_t>& strides,
                                  const SliceMasks& masks);

} // namespace troupe::array
