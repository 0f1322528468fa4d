// 2-D convolution: activations NHWC, filters HWIO. f32 by oneDNN where it is there and better, f64
// and other f32 by im2col and GEMM, i32 by plain loops.
#pragma once
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// Sizes of one convolution. Padding below and to the right follows from the others: what the
/// windows reach beyond the input. The caller has checked that all sizes are >= 1 (batch may be 0)
/// and that every window begins inside the padded input.
struct Conv2DShape {
  int64_t batch = 0;
  int64_t in_h = 0, in_w = 0, in_c = 0;
  int64_t filter_h = 0, filter_w = 0;
  int64_t out_h = 0, out_w = 0, out_c = 0;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0;
  bool may_use_winograd =
      true; ///< results may differ from plain sums by more than their order does
};

enum class Padding : int { valid, same };

/// Output extent and padding before the first element, of one dimension, by TensorFlow's rules.
/// Returns false when the output would be negative.
bool window_extent(int64_t input, int64_t filter, int64_t dilation, int64_t stride, Padding padding,
                   int64_t& output, int64_t& pad_before);

/// Whether `type` is f32, f64, or i32, which has no filter's gradient.
bool has_conv2d(Type type);

/// y [batch, out_h, out_w, out_c] of images [begin, end). Give each call about the same number of
/// images: oneDNN builds a primitive for every new number, which takes milliseconds the first time.
void conv2d_forward(Type type, const Conv2DShape& shape, const void* x, const void* filter, void* y,
                    int64_t begin, int64_t end);

/// dx [batch, in_h, in_w, in_c] of images [begin, end).
void conv2d_backward_input(Type type, const Conv2DShape& shape, const void* filter, const void* dy,
                           void* dx, int64_t begin, int64_t end);

/// dfilter [filter_h, filter_w, in_c, out_c] summed over images [begin, end) only; overwrites it.
/// To split over threads give each part its own buffer and add them up (add_n).
void conv2d_backward_filter(Type type, const Conv2DShape& shape, const void* x, const void* dy,
                            void* dfilter, int64_t begin, int64_t end);

} // namespace troupe::arith
