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

/// Images that are next to each other and can, or cannot, all be computed so: an error is a part of
/// a tile's largest value, so the outputs of a tile must not see values of very different sizes.
struct ImageRun {
  int64_t end;
  bool is_even; ///< they can
};
/// The run that begins with image `begin`. `shape` is the forward shape; in the backward direction
/// the images are those of the output's gradient. One that is not even, up to `end`, unless the
/// filter is packed for it.
ImageRun winograd_run(ConvDirection direction, const Conv2DShape& shape, const float* images,
                      const ConvFilter& filter, int64_t begin, int64_t end);

/// As fused_conv2d and conv2d_backward_input, all of the epilogue, for a run that is even.
void winograd_forward(const Conv2DShape& shape, const float* x, const ConvFilter& filter,
                      const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end);
void winograd_backward_input(const Conv2DShape& shape, const ConvFilter& filter, const float* dy,
                             float* dx, int64_t begin, int64_t end);

/// As conv2d_backward_filter; false, with nothing computed, where another way is faster, an image
/// is not even or a gradient not finite.
bool winograd_backward_filter(const Conv2DShape& shape, const float* x, const float* dy,
                              float* dfilter, int64_t begin, int64_t end);

} // namespace troupe::arith
