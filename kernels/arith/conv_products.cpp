#include "kernels/arith/internal/conv_products.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include "kernels/arith/internal/onednn.hpp"
#include "kernels/arith/internal/scratch.hpp"
#include <algorithm>
#include <cstring>

namespace troupe::arith {
namespace {

/// Measured there alone.
bool has_fast_products() {
  return isa() == Isa::avx512 && onednn_in_use();
}

/// Each output pixel comes from the input pixel at the same place.
bool is_pointwise(const Conv2DShape& s) {
  return s.filter_h == 1 && s.filter_w == 1 && s.stride_h == 1 && s.stride_w == 1 &&
         s.pad_top == 0 && s.pad_left == 0 && s.out_h == s.in_h && s.out_w == s.in_w;
}

/// Measured: with one pixel, and when windows move by several, oneDNN's gradient of the filter
/// takes up to twice as long; with few channels there is too little to multiply.
bool prefers_filter_by_products(const Conv2DShape& s) {
  const bool small = s.filter_h == 1 && s.filter_w == 1;
  const bool strides = s.stride_h > 1 && s.stride_w > 1;
  return has_fast_products() && (small || strides) && s.in_c >= 32 && s.out_c >= 32;
}

/// The input pixels under filter pixel (fy, fx), one for each output pixel of the images, as rows.
void gather(const Conv2DShape& s, const float* x, int64_t images, int64_t fy, int64_t fx,
            float* rows) {
  const auto bytes = static_cast<size_t>(s.in_c) * sizeof(float);
  for (int64_t image = 0; image < images; ++image)
    for (int64_t oy = 0; oy < s.out_h; ++oy) {
      const int64_t y = oy * s.stride_h - s.pad_top + fy * s.dilation_h;
      const float* line = x + (image * s.in_h + y) * s.in_w * s.in_c;
      for (int64_t ox = 0; ox < s.out_w; ++ox, rows += s.in_c) {
        const int64_t column = ox * s.stride_w - s.pad_left + fx * s.dilation_w;
        if (y < 0 || y >= s.in_h || column < 0 || column >= s.in_w)
          std::memset(rows, 0, bytes);
        else
          std::memcpy(rows, line + column * s.in_c, bytes);
      }
    }
}

} // namespace

bool prefers_input_by_products(const Conv2DShape& s) {
  return has_fast_products() && is_pointwise(s) && s.batch * s.in_h * s.in_w >= 28 * 28 &&
         s.in_c >= 32 && s.out_c >= 32;
}

bool backward_input_by_products(const Conv2DShape& s, const float* filter, const float* dy,
                                float* dx, int64_t begin, int64_t end) {
  if (!prefers_input_by_products(s))
    return false;
  const int64_t pixels = s.in_h * s.in_w, first = begin * pixels, m = (end - begin) * pixels;
  return onednn_gemm({false, true, false, m, s.in_c, s.out_c, dy + first * s.out_c, s.out_c, filter,
                      s.out_c, dx + first * s.in_c, s.in_c});
}

bool backward_filter_by_products(const Conv2DShape& s, const float* x, const float* dy,
                                 float* dfilter, int64_t begin, int64_t end) {
  if (!prefers_filter_by_products(s))
    return false;
  const int64_t pixels = s.out_h * s.out_w;
  x += begin * s.in_h * s.in_w * s.in_c;
  dy += begin * pixels * s.out_c;
  const auto multiply = [&](const float* rows, int64_t image, int64_t images, float* to) {
    return onednn_gemm({true, false, image > 0, s.in_c, s.out_c, images * pixels, rows, s.in_c,
                        dy + image * pixels * s.out_c, s.out_c, to, s.out_c});
  };
  if (is_pointwise(s))
    return multiply(x, 0, end - begin, dfilter);
  // As many images at a time as give the products some length, and leave the rows in a cache.
  constexpr int64_t room = 128 << 10;
  const int64_t at_once = std::clamp<int64_t>(room / (pixels * s.in_c), 1, end - begin);
  auto* rows = static_cast<float*>(thread_scratch(
      Scratch::patches, static_cast<size_t>(at_once * pixels * s.in_c) * sizeof(float)));
  for (int64_t image = 0; image < end - begin; image += at_once)
    for (int64_t tap = 0; tap < s.filter_h * s.filter_w; ++tap) {
      const int64_t images = std::min(at_once, end - begin - image);
      gather(s, x + image * s.in_h * s.in_w * s.in_c, images, tap / s.filter_w, tap % s.filter_w,
             rows);
      if (!multiply(rows, image, images, dfilter + tap * s.in_c * s.out_c))
        return false;
    }
  return true;
}

} // namespace troupe::arith
