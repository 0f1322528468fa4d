// The only door to oneDNN. Each function returns false, with nothing computed, when the build lacks
// oneDNN or when it has no fast code for the case; the caller then computes it otherwise. They run
// on the calling thread alone.
#pragma once
#include "kernels/arith/fused_conv.hpp"
#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

bool onednn_gemm(const GemmBlock& block); // f32
/// `count` products, whose dense matrices follow each other; without `accumulate`. No extent is 0.
bool onednn_gemm_bfloat16(const GemmBlock& block, int64_t count);
/// Does the factor and the offset of the epilogue; the rest is the caller's.
bool onednn_conv_forward(const Conv2DShape& shape, const float* x, const ConvFilter& filter,
                         const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end);
bool onednn_conv_backward_input(const Conv2DShape& shape, const ConvFilter& filter, const float* dy,
                                float* dx, int64_t begin, int64_t end);
FilterPacking onednn_filter_packing(ConvDirection direction, const Conv2DShape& shape,
                                    int64_t images, const ConvEpilogue& epilogue);
bool onednn_is_same_layout(const FilterPacking& a, const FilterPacking& b);
void onednn_pack_filter(const FilterPacking& packing, const float* filter, void* packed);
bool onednn_conv_backward_filter(const Conv2DShape& shape, const float* x, const float* dy,
                                 float* dfilter, int64_t begin, int64_t end);

} // namespace troupe::arith
