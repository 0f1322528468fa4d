// Windows of three dimensions that slide over volumes [batch, planes, rows, columns, channels]; an
// image is a volume of one plane.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/strings.hpp"
#include "core/tensor/shape.hpp"
#include "graph/op/shape_context.hpp"
#include "kernels/framework/kernel.hpp"
#include "kernels/nn/internal/window.hpp"

namespace troupe::nn {

using Three = std::array<std::int64_t, 3>;

/// Attributes of an op over volumes.
struct VolumeAttrs {
  Three window = {1, 1, 1}; ///< of pools
  Three stride = {1, 1, 1}, dilation = {1, 1, 1};
  WindowPadding padding;
};

/// Sizes of one op.
struct Volume {
  std::int64_t batch = 0, channels = 0;
  Three in = {}, window = {}, out = {}, stride = {}, dilation = {}, before = {};

  std::int64_t in_positions() const { return in[0] * in[1] * in[2]; }
  std::int64_t out_positions() const { return out[0] * out[1] * out[2]; }
  std::int64_t window_positions() const { return window[0] * window[1] * window[2]; }
};

/// Reads strides, padding and, where the op has them, ksize and dilations; only NDHWC.
Result<VolumeAttrs> read_volume_attrs(std::string_view op, const AttrMap& attrs);
/// Sizes of an op with these windows over an input [batch, planes, rows, columns, channels].
Result<Volume> volume_sizes(const VolumeAttrs& attrs, const Shape& in, const Three& window);
/// A PrepareFn: keeps VolumeAttrs.
Result<std::shared_ptr<const void>> prepare_volume(PrepareContext& c);
/// [batch, spatial..., channels].
Result<Shape> volume_shape(std::int64_t batch, const Three& spatial, std::int64_t channels);
/// Shape functions: of pools, and of convolutions with the filter in input 1.
Status infer_volume_pool(ShapeContext& c);
Status infer_volume_conv(ShapeContext& c);

/// Calls body(position in the input, position in the window) for every input position, of one batch
/// entry, that the window at output position `at` holds.
template <class Body>
void for_each_in_window(const Volume& v, std::int64_t at, Body&& body) {
  const Three o = {at / (v.out[1] * v.out[2]), at / v.out[2] % v.out[1], at % v.out[2]};
  Three first{}, begin{}, end{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t d = v.dilation[i];
    first[i] = o[i] * v.stride[i] - v.before[i];
    begin[i] = first[i] < 0 ? (d - 1 - first[i]) / d : 0;
    end[i] = std::min(v.window[i], (v.in[i] - first[i] + d - 1) / d);
  }
  for (std::int64_t a = begin[0]; a < end[0]; ++a)
    for (std::int64_t b = begin[1]; b < end[1]; ++b)
      for (std::int64_t c = begin[2]; c < end[2]; ++c) {
        const std::int64_t x = first[0] + a * v.dilation[0], y = first[1] + b * v.dilation[1];
        const std::int64_t z = first[2] + c * v.dilation[2];
        body((x * v.in[1] + y) * v.in[2] + z, (a * v.window[1] + b) * v.window[2] + c);
      }
}

} // namespace troupe::nn
