// Windows that slide over images: how large the output is and what padding they see.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "graph/op/attr_value.hpp"
#include "graph/op/shape_context.hpp"

namespace troupe::nn {

enum class Padding : std::uint8_t { valid, same, explicit_sizes };

/// Padding of the two spatial dimensions as the attributes ask for it; `before` and `after` count
/// for explicit_sizes only.
struct WindowPadding {
  Padding kind = Padding::valid;
  std::array<std::int64_t, 2> before = {}, after = {};
};

/// Reads `padding` and, where the op has them, `explicit_paddings`. INVALID_ARGUMENT in
/// TensorFlow's words.
Result<WindowPadding> read_padding(const AttrMap& attrs);

struct Extent {
  std::int64_t output = 0, pad_before = 0;
};

/// Output extent and padding of spatial dimension `axis` (0: rows, 1: columns) as kernels compute
/// them. INVALID_ARGUMENT "Computed output size would be negative: …".
Result<Extent> window_extent(const WindowPadding& padding, int axis, std::int64_t input,
                             std::int64_t window, std::int64_t dilation, std::int64_t stride);

/// Output extent as shape functions infer it, from dimensions that may be unknown.
Result<std::int64_t> infer_extent(const WindowPadding& padding, int axis, std::int64_t input,
                                  std::int64_t window, std::int64_t dilation, std::int64_t stride);

/// Checks of pools' gradients in TensorFlow's words: the sizes of their result, and that the last
/// of `count` windows does not begin behind an image dimension.
Status check_not_negative(const Tensor& sizes);
Status check_last_window(std::int64_t count, std::int64_t stride, std::int64_t input);

/// UNIMPLEMENTED, with a remedy, unless `data_format` is NHWC.
Status require_nhwc(std::string_view op, const AttrMap& attrs);

/// INVALID_ARGUMENT "strides of … are beyond 2^31 - 1": no image is that large, and sums of such
/// sizes would not fit.
Status require_moderate(std::string_view name, const std::vector<std::int64_t>& sizes);

/// Attributes of a pooling op.
struct PoolAttrs {
  std::array<std::int64_t, 2> window = {1, 1}, stride = {1, 1};
  std::int64_t depth = 1; ///< channels that are pooled into one; then the window is 1 x 1
  WindowPadding padding;
};

/// Reads and checks them for a kernel: NHWC, windows and strides of the two spatial dimensions, or
/// of the depth. UNIMPLEMENTED for windows over both, over the batch, or over a depth in other
/// steps than its own size.
Result<PoolAttrs> read_pool_attrs(std::string_view op, const AttrMap& attrs);
/// The same of an op whose ksize and strides are inputs: TensorFlow's kernels check them in another
/// order, with other sentences.
Result<PoolAttrs> read_pool_attrs_of_inputs(std::string_view op, const AttrMap& attrs);
/// INVALID_ARGUMENT unless every window sees an element of the image.
Status check_padding(const PoolAttrs& attrs);

/// The shape function of MaxPool and AvgPool, any data_format.
Status infer_pool(ShapeContext& c);
/// The same where windows and strides are inputs `at` and `at` + 1.
Status infer_pool_by_inputs(ShapeContext& c, int at);

} // namespace troupe::nn
