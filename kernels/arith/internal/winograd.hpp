// Convolutions with fewer products (isa/winograd.cpp): where that was measured to be faster than
// oneDNN's, which reach nine tenths of the machine.
#pragma once
#include "kernels/arith/fused_conv.hpp"

namespace troupe::arith {

/// A packing that says so, for the instruction set in use; no bytes where another way is faster.
/// The shape of the backward direction is that of the forward one.
FilterPacking winograd_packing(ConvDirection direction, const Conv2DShape& shape);

/// Evaluates the filter for input channels [begin, end) of the layout.
void winograd_pack_filter(const WinogradLayout& layout, const float* filter, void* packed,
                          int64_t begin, int64_t end);

/// As fused_conv2d and conv2d_backward_input, all of the epilogue; false, with nothing computed,
/// unless the filter is packed for it.
bool winograd_forward(const Conv2DShape& shape, const float* x, const ConvFilter& filter,
                      const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end);
bool winograd_backward_input(const Conv2DShape& shape, const ConvFilter& filter, const float* dy,
                             float* dx, int64_t begin, int64_t end);

/// As conv2d_backward_filter; false, with nothing computed, where another way is faster.
bool winograd_backward_filter(const Conv2DShape& shape, const float* x, const float* dy,
                              float* dfilter, int64_t begin, int64_t end);

} // namespace troupe::arith
