// The input's gradient of a convolution that moves by one pixel is a convolution, too: of dy with
// the filter turned round (its pixels from the last to the first) and its channels exchanged.
#pragma once
#include "kernels/arith/conv.hpp"
#include <utility>

namespace troupe::arith {

inline bool has_turned(const Conv2DShape& s) {
  return s.stride_h == 1 && s.stride_w == 1 && s.dilation_h == 1 && s.dilation_w == 1 &&
         s.pad_top < s.filter_h && s.pad_left < s.filter_w;
}

/// The convolution of dy that gives dx.
inline Conv2DShape turned(const Conv2DShape& s) {
  Conv2DShape out = s;
  std::swap(out.in_h, out.out_h);
  std::swap(out.in_w, out.out_w);
  std::swap(out.in_c, out.out_c);
  out.pad_top = s.filter_h - 1 - s.pad_top;
  out.pad_left = s.filter_w - 1 - s.pad_left;
  return out;
}

} // namespace troupe::arith
