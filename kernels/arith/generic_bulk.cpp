// Pools and convolutions of numbers that no instruction set has code for: plain
// loops. Integers wrap.
#include "kernels/arith/internal/generic.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace troupe::arith {
namespace {

/// The part of output pixel (oy, ox)'s window that lies inside the input: rows, then columns.
struct Window {
  int64_t y0, y1, x0, x1;

  Window(const Pool2DShape& s, int64_t oy, int64_t ox)
      : y0(oy * s.stride_h - s.pad_top), y1(std::min(y0 + s.window_h, s.in_h)),
        x0(ox * s.stride_w - s.pad_left), x1(std::min(x0 + s.window_w, s.in_w)) {
    y0 = std::max<int64_t>(y0, 0);
    x0 = std::max<int64_t>(x0, 0);
  }
};

/// Calls body(output element, position of the first largest input element of its window or -1).
template <class T, class Body>
void for_each_largest(const Pool2DShape& s, const T* in, Body body) {
  for (int64_t oy = 0; oy < s.out_h; ++oy)
    for (int64_t ox = 0; ox < s.out_w; ++ox) {
      const Window w(s, oy, ox);
      for (int64_t c = 0; c < s.channels; ++c) {
        int64_t best = -1;
        for (int64_t y = w.y0; y < w.y1; ++y)
          for (int64_t x = w.x0; x < w.x1; ++x) {
            const int64_t at = (y * s.in_w + x) * s.channels + c;
            best = best < 0 || in[at] > in[best] ? at : best;
          }
        body((oy * s.out_w + ox) * s.channels + c, best);
      }
    }
}

template <class T>
void max_forward(const Pool2DShape& s, const void* x, void* y, int64_t begin, int64_t end) {
  const int64_t in_size = s.in_h * s.in_w * s.channels, out_size = s.out_h * s.out_w * s.channels;
  for (int64_t image = begin; image < end; ++image) {
    const T* in = static_cast<const T*>(x) + image * in_size;
    T* out = static_cast<T*>(y) + image * out_size;
    for_each_largest(s, in, [&](int64_t to, int64_t from) {
      out[to] = from < 0 ? std::numeric_limits<T>::lowest() : in[from];
    });
  }
}

template <class T>
void max_backward(const Pool2DShape& s, const void* x, const void* dy, void* dx, int64_t begin,
                  int64_t end) {
  const int64_t in_size = s.in_h * s.in_w * s.channels, out_size = s.out_h * s.out_w * s.channels;
  for (int64_t image = begin; image < end; ++image) {
    const T* gradient = static_cast<const T*>(dy) + image * out_size;
    // Without a sign, so that sums may wrap.
    auto* target = static_cast<std::make_unsigned_t<T>*>(dx) + image * in_size;
    std::fill_n(target, in_size, 0);
    for_each_largest(s, static_cast<const T*>(x) + image * in_size, [&](int64_t from, int64_t to) {
      if (to >= 0)
        target[to] += static_cast<std::make_unsigned_t<T>>(gradient[from]);
    });
  }
}

/// Calls body(output pixel, input pixel, place in the filter) for every product of pixels of images
/// [begin, end).
template <class Body>
void for_each_tap(const Conv2DShape& s, int64_t begin, int64_t end, Body body) {
  for (int64_t image = begin; image < end; ++image)
    for (int64_t oy = 0; oy < s.out_h; ++oy)
      for (int64_t ox = 0; ox < s.out_w; ++ox)
        for (int64_t fy = 0; fy < s.filter_h; ++fy)
          for (int64_t fx = 0; fx < s.filter_w; ++fx) {
            const int64_t y = oy * s.stride_h - s.pad_top + fy * s.dilation_h;
            const int64_t x = ox * s.stride_w - s.pad_left + fx * s.dilation_w;
            if (y >= 0 && y < s.in_h && x >= 0 && x < s.in_w)
              body((image * s.out_h + oy) * s.out_w + ox, (image * s.in_h + y) * s.in_w + x,
                   fy * s.filter_w + fx);
          }
}

uint32_t bits(int32_t value) {
  return static_cast<uint32_t>(value);
}

} // namespace

PoolFn generic_max_pool(Type type) {
  return type == Type::int32    ? max_forward<int32_t>
         : type == Type::int64  ? max_forward<int64_t>
         : type == Type::uint64 ? max_forward<uint64_t>
                                : nullptr;
}

MaxPoolGradFn generic_max_pool_grad(Type type) {
  return type == Type::int32    ? max_backward<int32_t>
         : type == Type::int64  ? max_backward<int64_t>
         : type == Type::uint64 ? max_backward<uint64_t>
                                : nullptr;
}

void generic_conv_forward(const Conv2DShape& s, const int32_t* x, const int32_t* filter, int32_t* y,
                          int64_t begin, int64_t end) {
  const int64_t image = s.out_h * s.out_w * s.out_c;
  std::fill(y + begin * image, y + end * image, 0);
  for_each_tap(s, begin, end, [&](int64_t to, int64_t from, int64_t tap) {
    for (int64_t c = 0; c < s.in_c; ++c) {
      const uint32_t value = bits(x[from * s.in_c + c]);
      const int32_t* factors = filter + (tap * s.in_c + c) * s.out_c;
      for (int64_t q = 0; q < s.out_c; ++q)
        y[to * s.out_c + q] =
            static_cast<int32_t>(bits(y[to * s.out_c + q]) + value * bits(factors[q]));
    }
  });
}

void generic_conv_backward_input(const Conv2DShape& s, const int32_t* filter, const int32_t* dy,
                                 int32_t* dx, int64_t begin, int64_t end) {
  const int64_t image = s.in_h * s.in_w * s.in_c;
  std::fill(dx + begin * image, dx + end * image, 0);
  for_each_tap(s, begin, end, [&](int64_t from, int64_t to, int64_t tap) {
    for (int64_t c = 0; c < s.in_c; ++c) {
      const int32_t* factors = filter + (tap * s.in_c + c) * s.out_c;
      uint32_t sum = 0;
      for (int64_t q = 0; q < s.out_c; ++q)
        sum += bits(dy[from * s.out_c + q]) * bits(factors[q]);
      dx[to * s.in_c + c] = static_cast<int32_t>(bits(dx[to * s.in_c + c]) + sum);
    }
  });
}

} // namespace troupe::arith
