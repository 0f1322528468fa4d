// What the ops that resize images share: attributes, sizes, where a pixel comes from.
#pragma once

#include <cmath>

#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::image {

using Reals = Types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t,
                    std::int64_t, BFloat16, std::uint16_t, Half, std::uint32_t, std::uint64_t>;
/// The same as a list.
std::vector<DType> real_dtypes();

struct ResizeAttrs {
  bool align_corners = false, half_pixel_centers = false;
};
/// A PrepareFn: keeps ResizeAttrs.
Result<std::shared_ptr<const void>> prepare_resize(PrepareContext& c);

/// How many pixels of the input one of the output is.
float resize_scale(std::int64_t in, std::int64_t out, bool align_corners);

/// `from`: what is sampled; `to`: where that goes. In a gradient `from` are the original images.
struct ResizeSizes {
  std::int64_t batch = 0, channels = 0;
  std::int64_t from_height = 0, from_width = 0, to_height = 0, to_width = 0;
  float height_scale = 0, width_scale = 0;

  Shape from_shape() const { return {batch, from_height, from_width, channels}; }
  std::int64_t from_row() const { return from_width * channels; }
  std::int64_t to_row() const { return to_width * channels; }
};

/// Of images in input 0 and their new size in input 1. INVALID_ARGUMENT in TensorFlow's words.
Result<ResizeSizes> resize_sizes(KernelContext& c);
/// Of gradients in input 0 by the resized images and the original ones in input 1.
Result<ResizeSizes> resize_grad_sizes(KernelContext& c);
/// The output's shape.
Result<Shape> resized_shape(const ResizeSizes& s);

/// Where pixel i of the output lies in the input.
inline float resize_position(bool half_pixel_centers, std::int64_t i, float scale) {
  return half_pixel_centers ? (static_cast<float>(i) + 0.5F) * scale - 0.5F
                            : static_cast<float>(i) * scale;
}

inline std::int64_t clamped(std::int64_t i, std::int64_t size) {
  return std::min(size - 1, std::max<std::int64_t>(i, 0));
}

/// Images of input 0 get the size that input 1 says.
Status infer_resize(ShapeContext& c);
/// The gradient has the shape of the original images, input 1.
Status infer_resize_grad(ShapeContext& c);

/// Options of a kernel with these dtypes of T.
KernelOptions resize_options(std::vector<DType> types, PrepareFn prepare = prepare_resize);

} // namespace troupe::image
