// What the ops that resize images share: attributes, sizes, where a pixel comes from.
#pragma once

#include <cmath>
#include <vector>

#include "kernels/arith/resize.hpp"
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

/// arith's ResizeColumns while it is made: where each pixel of a row comes from.
class Columns {
public:
  explicit Columns(const ResizeSizes& s) : width_(s.to_width), channels_(s.channels) {}
  /// One more source of the pixel that is being made: a pixel of the input.
  void add(std::int64_t pixel, float weight) {
    at_.push_back(pixel * channels_);
    weights_.push_back(weight);
  }
  /// Ends a pixel.
  void end_pixel() { starts_.push_back(static_cast<std::int64_t>(at_.size())); }
  arith::ResizeColumns view() const {
    return {width_, channels_, starts_.data(), at_.data(), weights_.data()};
  }

private:
  std::int64_t width_, channels_;
  std::vector<std::int64_t> starts_ = {0}, at_;
  std::vector<float> weights_;
};

/// Rows of the input in the width of the output. Rows of the output that follow each other read the
/// same ones, and as many as one of them reads are kept.
class WideRows {
public:
  /// A row is made by `make` from its columns.
  using Make = void (*)(const arith::ResizeColumns&, const float*, float*);
  WideRows(Make make, const arith::ResizeColumns& columns, const float* images, std::int64_t row,
           std::int64_t kept)
      : make_(make), columns_(columns), images_(images), row_(row),
        rows_(static_cast<std::size_t>(kept * columns.width * columns.channels)),
        which_(static_cast<std::size_t>(kept), -1) {}

  /// Row i of all images; valid until as many others have been asked for as are kept.
  const float* operator[](std::int64_t i) {
    const auto kept = static_cast<std::int64_t>(which_.size());
    float* out = rows_.data() + i % kept * columns_.width * columns_.channels;
    std::int64_t& which = which_[static_cast<std::size_t>(i % kept)];
    if (which != i)
      make_(columns_, images_ + i * row_, out);
    which = i;
    return out;
  }

private:
  Make make_;
  arith::ResizeColumns columns_;
  const float* images_;
  std::int64_t row_;
  std::vector<float> rows_;
  std::vector<std::int64_t> which_;
};

/// Images of input 0 get the size that input 1 says.
Status infer_resize(ShapeContext& c);
/// The gradient has the shape of the original images, input 1.
Status infer_resize_grad(ShapeContext& c);

/// Options of a kernel with these dtypes of T.
KernelOptions resize_options(std::vector<DType> types, PrepareFn prepare = prepare_resize);

} // namespace troupe::image
