// Convolution with what usually follows it, f32: while a result is still in registers it is scaled,
// shifted, added to and cut off at zero. And filters laid out once for many calls.
#pragma once
#include "kernels/arith/conv.hpp"
#include <cstddef>
#include <memory>

namespace troupe::arith {

/// y = conv * factor + offset + addend, at least 0 with relu. Null: not done. factor and offset
/// have one number for each output channel; a factor comes with an offset. addend has the shape of
/// y; its first element belongs to y's first.
struct ConvEpilogue {
  const float* factor = nullptr;
  const float* offset = nullptr;
  const float* addend = nullptr;
  bool relu = false;
};

enum class ConvDirection : int { forward, backward_input };

/// A filter evaluated at points, for convolutions with fewer products (internal/winograd.hpp):
/// [size, size, in_c, out_c], pixels from the last to the first if turned.
struct WinogradLayout {
  Isa isa = Isa::base;
  bool turned = false;
  int64_t size = 0, in_c = 0, out_c = 0; ///< size 0: none of this
  bool operator==(const WinogradLayout&) const = default;
};

/// How a filter is wanted for calls over `images` images with such an epilogue (the pointers say
/// only what is done). No bytes: it is taken as it is.
struct FilterPacking {
  std::size_t bytes = 0;
  std::shared_ptr<const void> primitive; ///< oneDNN's
  WinogradLayout winograd;
  int64_t images = 1; ///< a call should have as many, where there are
  bool operator==(const FilterPacking&) const = default;

  /// Parts that can be laid out one by one.
  int64_t parts() const { return winograd.size == 0 ? 1 : winograd.in_c; }
};
FilterPacking filter_packing(ConvDirection direction, const Conv2DShape& shape, int64_t images,
                             const ConvEpilogue& epilogue = {});

/// Whether a filter that was laid out for one serves the other.
bool is_same_layout(const FilterPacking& a, const FilterPacking& b);

/// Lays parts [begin, end) of `filter` (HWIO) out in `packed`, which has packing.bytes bytes and is
/// aligned to 64.
void pack_filter(const FilterPacking& packing, const float* filter, void* packed, int64_t begin,
                 int64_t end);

/// A filter, and perhaps the same laid out: calls whose code wants another layout use the first.
struct ConvFilter {
  const float* plain = nullptr;
  const FilterPacking* packing = nullptr;
  const void* packed = nullptr;
};

/// As conv2d_forward of conv.hpp, then the epilogue.
void fused_conv2d(const Conv2DShape& shape, const float* x, const ConvFilter& filter,
                  const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end);

/// As conv2d_backward_input of conv.hpp.
void conv2d_backward_input(const Conv2DShape& shape, const ConvFilter& filter, const float* dy,
                           float* dx, int64_t begin, int64_t end);

/// Output rows [begin, end) of one image as a convolution of their own: `image` is for batch 1 and
/// gets the offsets, in elements, of the first row in x and in y. To split what has too few images.
struct ConvRows {
  Conv2DShape shape;
  int64_t x_offset = 0, y_offset = 0;
};
ConvRows rows_of_conv(const Conv2DShape& shape, int64_t begin, int64_t end);

/// The same by input rows [begin, end): the gradient of the part's input is that of these rows. The
/// stride between rows is 1.
ConvRows input_rows_of_conv(const Conv2DShape& shape, int64_t begin, int64_t end);

} // namespace troupe::arith
