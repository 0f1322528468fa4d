// What each channel does with a filter of its own: depthwise convolution, its gradients, and
// dilation. NHWC, f32 and f64.
#pragma once
#include "kernels/arith/conv.hpp"
#include "kernels/arith/types.hpp"

namespace troupe::arith {

/// Of each channel, out_c / in_c filters: output channel f reads input channel f / (out_c / in_c).
/// Filters are [filter_h, filter_w, out_c]. in_c and out_c are at least 1, and `type` is f32 or
/// f64. Padding adds nothing, not even zero times infinity. Ranges [begin, end) are rows of all
/// images, counted as one.

/// y of rows of y.
void depthwise_forward(Type type, const Conv2DShape& shape, const void* x, const void* filter,
                       void* y, int64_t begin, int64_t end);

/// dx of rows of dx.
void depthwise_backward_input(Type type, const Conv2DShape& shape, const void* filter,
                              const void* dy, void* dx, int64_t begin, int64_t end);

/// dfilter summed over rows of dy only; overwrites it. To split over threads give each part its own
/// buffer and add them up (add_n).
void depthwise_backward_filter(Type type, const Conv2DShape& shape, const void* x, const void* dy,
                               void* dfilter, int64_t begin, int64_t end);

/// The largest x + filter of each window, rows of y; in_c is out_c. NaN does not count, and a
/// window of nothing else, or of nothing, gives the lowest finite number.
void dilation_forward(Type type, const Conv2DShape& shape, const void* x, const void* filter,
                      void* y, int64_t begin, int64_t end);

/// How the instruction sets are asked for one of these: two inputs and what is written.
using DepthwiseFn = void (*)(const Conv2DShape& shape, const void* a, const void* b, void* out,
                             int64_t begin, int64_t end);

} // namespace troupe::arith
