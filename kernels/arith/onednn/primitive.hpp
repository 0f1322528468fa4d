// Convolutions as oneDNN computes them: f32, activations plain NHWC, filters HWIO, laid out anew
// where the chosen code wants another layout and the caller has not done so.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/arith/internal/onednn.hpp"
#include "kernels/arith/onednn/library.hpp"

namespace troupe::arith::onednn {

/// `turned`: the input's gradient as a convolution (internal/turned_conv.hpp); oneDNN's forward
/// code is the faster.
enum class Direction : int64_t { forward, backward_input, backward_filter, turned };

/// A convolution's operands, in oneDNN's terms.
struct Descriptors {
  dnnl::memory::desc x, y, filter; ///< as they lie in the caller's memory
  dnnl::memory::desc any_filter;   ///< a filter whose layout oneDNN may choose
  dnnl::memory::dims strides, dilations, pad_before, pad_after;

  Descriptors(const Conv2DShape& s, int64_t images);
  /// The filter is another convolution's, seen from its output.
  void turn_filter();
};

/// Which of factor and offset the primitive applies to a result of the forward direction before it
/// is written; part of what it is cached by.
int64_t bits_of(const ConvEpilogue& epilogue);

/// The factor's and the offset's place among the arguments of a primitive made for
/// bits_of(epilogue).
void add_operands(Arguments& arguments, const Descriptors& d, const ConvEpilogue& epilogue);

/// Immutable but for its trust; shared by all threads.
struct Primitive {
  explicit Primitive(const Descriptors& descriptors) : d(descriptors) {}
  Descriptors d;
  Compiled compiled;
  dnnl::primitive reorder; // of the filter; empty where HWIO is used as it is
  dnnl::memory::desc filter;
  bool reorders = false;
  bool turns = false; // the filter is another convolution's; then it always reorders
};

/// Padding below an image and behind its rows, as the shape's sizes imply; negative where the last
/// ones are not read.
int64_t rows_below(const Conv2DShape& s);
int64_t columns_behind(const Conv2DShape& s);

/// oneDNN 2.6's compiled code reads and writes beyond the rows where the filter is wider than the
/// image, or where the padding on one side is much more than on the other or more than the filter
/// reaches: wrong values, or the end of the process.
bool leaves_its_rows(const Conv2DShape& s);

/// The primitive of a convolution over `images` images, from the cache or new; null where oneDNN
/// cannot or should not. Called under a OneThread.
std::shared_ptr<Primitive> primitive(Direction direction, const Conv2DShape& s, int64_t images,
                                     int64_t epilogue = 0);

} // namespace troupe::arith::onednn
