// The only door to oneDNN. Each function returns false, with nothing computed, when the build lacks
// oneDNN or when it has no fast code for the case; the caller then computes it otherwise. They run
// on the calling thread alone.
#pragma once
#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

bool onednn_gemm(const GemmBlock& block); // f32
bool onednn_conv_forward(const Conv2DShape& shape, const float* x, const float* filter, float* y,
                         int64_t begin, int64_t end);
bool onednn_conv_backward_input(const Conv2DShape& shape, const float* filter, const float* dy,
                                float* dx, int64_t begin, int64_t end);
bool onednn_conv_backward_filter(const Conv2DShape& shape, const float* x, const float* dy,
                                 float* dfilter, int64_t begin, int64_t end);

} // namespace troupe::arith
