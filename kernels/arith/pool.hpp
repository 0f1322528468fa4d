// Max and average pooling, NHWC, f32 and f64.
#pragma once
#include "kernels/arith/conv.hpp"
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// Sizes of one pooling; as Conv2DShape, without dilation. Every window must hold at least one
/// input element.
struct Pool2DShape {
  int64_t batch = 0;
  int64_t in_h = 0, in_w = 0, channels = 0;
  int64_t window_h = 1, window_w = 1;
  int64_t out_h = 0, out_w = 0;
  int64_t stride_h = 1, stride_w = 1;
  int64_t pad_top = 0, pad_left = 0;
};

/// max_pool gives y [batch, out_h, out_w, channels] of images [begin, end): the largest of each
/// window; padding is not looked at. NaN does not count: a window of nothing else, or of negative
/// infinity, gives the lowest finite number, as TensorFlow does. avg_pool gives the mean of what
/// each window holds; padding does not count. avg_pool_grad gives dx of images [begin, end) from dy
/// (the first pointer): each dy is spread evenly over its window.
using PoolFn = void (*)(const Pool2DShape& shape, const void* x, void* y, int64_t begin,
                        int64_t end);

/// dx of images [begin, end): each dy goes to the first maximum of its window, rows first, as
/// TensorFlow's CPU kernel does it.
using MaxPoolGradFn = void (*)(const Pool2DShape& shape, const void* x, const void* dy, void* dx,
                               int64_t begin, int64_t end);

} // namespace troupe::arith
