// What begin, end, strides and the masks of a strided slice mean for one input shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/op/attr_value.hpp"
#include "kernels/framework/glue.hpp"

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

/// Nothing where they are not known.
using Bounds = std::optional<std::span<const std::int64_t>>;

/// `begin`, `end` and `strides` have one length. INVALID_ARGUMENT in TensorFlow's words for bad
/// indices, strides and masks.
Result<SliceSpec> make_slice_spec(std::span<const std::int64_t> input, Bounds begin, Bounds end,
                                  std::span<const std::int64_t> strides, const SliceMasks& masks);

/// The slice that inputs 1 to 3 (begin, end, strides) take of a tensor of that shape.
Result<SliceSpec> read_slice_spec(KernelContext& c, const Shape& shape, const SliceMasks& masks);

} // namespace troupe::array
