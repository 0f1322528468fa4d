// What the kernels of MaxPool and AvgPool share.
#pragma once

#include <array>

#include "kernels/arith/pool.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"
#include "kernels/nn/internal/window.hpp"

namespace troupe::nn {

/// Of an input of another rank than 4, in TensorFlow's words: it numbers the formats.
inline Status no_images(const Shape& in, const AttrMap& attrs) {
  const bool nchw = attrs.get_or<std::string>("data_format", "NHWC") == "NCHW";
  return invalid_argument(
      str_cat("tensor_in_shape must have 2 spatial dimensions. ", in.rank(), " ", nchw ? 1 : 0));
}

/// Sizes of a pooling of images of shape `in`, which has rank 4.
inline Result<arith::Pool2DShape> pool_sizes(const PoolAttrs& attrs, const Shape& in) {
  TROUPE_TRY(check_padding(attrs));
  TROUPE_ASSIGN(Extent h,
                window_extent(attrs.padding, 0, in[1], attrs.window[0], 1, attrs.stride[0]));
  TROUPE_ASSIGN(Extent w,
                window_extent(attrs.padding, 1, in[2], attrs.window[1], 1, attrs.stride[1]));
  return arith::Pool2DShape{
      .batch = in[0],
      .in_h = in[1],
      .in_w = in[2],
      .channels = in[3],
      .window_h = attrs.window[0],
      .window_w = attrs.window[1],
      .out_h = h.output,
      .out_w = w.output,
      .stride_h = attrs.stride[0],
      .stride_w = attrs.stride[1],
      .pad_top = h.pad_before,
      .pad_left = w.pad_before,
  };
}

/// Attributes of an op whose last two inputs are ksize and strides, read as those of `op`.
inline Result<PoolAttrs> pool_attrs_of_inputs(KernelContext& c, std::string_view op) {
  AttrMap attrs = c.attrs();
  for (const auto& [name, from_end] : {std::pair{"ksize", 2}, std::pair{"strides", 1}}) {
    TROUPE_ASSIGN(const Integers sizes, integers(c.input(c.num_inputs() - from_end)));
    attrs.set(name, std::vector<std::int64_t>(sizes.begin(), sizes.end()));
  }
  return read_pool_attrs_of_inputs(op, attrs);
}

inline Result<Shape> output_shape(const arith::Pool2DShape& s) {
  return Shape::make(std::array{s.batch, s.out_h, s.out_w, s.channels});
}

/// The same for kernels on GPUs.
inline gpu::Windows windows_of(const arith::Pool2DShape& s) {
  return {.in_h = s.in_h,
          .in_w = s.in_w,
          .channels = s.channels,
          .window_h = s.window_h,
          .window_w = s.window_w,
          .out_h = s.out_h,
          .out_w = s.out_w,
          .stride_h = s.stride_h,
          .stride_w = s.stride_w,
          .pad_top = s.pad_top,
          .pad_left = s.pad_left};
}

/// Nanoseconds for one image, about.
inline double cost_per_image(const arith::Pool2DShape& s) {
  return 0.3 * static_cast<double>(s.out_h * s.out_w * s.channels) *
         static_cast<double>(s.window_h * s.window_w);
}

} // namespace troupe::nn
