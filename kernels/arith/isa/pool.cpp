// Pooling over NHWC: the channels of one pixel are a row, and whole rows are compared or added.
#include "kernels/arith/isa/functions.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

/// What NaN and negative infinity count as in a window.
template <class T>
constexpr T lowest = sizeof(T) == 4 ? T(-3.40282347e+38f) : T(-1.7976931348623157e+308);

/// The part of a window that lies inside the input.
struct Window {
  int64_t y0, y1, x0, x1;

  TROUPE_INLINE Window of(const Pool2DShape& s, int64_t oy, int64_t ox) {
    int64_t y = oy * s.stride_h - s.pad_top, x = ox * s.stride_w - s.pad_left;
    int64_t y_end = y + s.window_h, x_end = x + s.window_w;
    return {y < 0 ? 0 : y, y_end > s.in_h ? s.in_h : y_end, x < 0 ? 0 : x,
            x_end > s.in_w ? s.in_w : x_end};
  }
};

/// Calls body(window, input image, output pixel) for each output pixel of images [begin, end).
template <class T, class Body>
TROUPE_INLINE void for_each_window(const Pool2DShape& s, const T* x, T* y, int64_t begin,
                                   int64_t end, Body body) {
  for (int64_t image = begin; image < end; ++image) {
    const T* in = x + image * s.in_h * s.in_w * s.channels;
    T* out = y + image * s.out_h * s.out_w * s.channels;
    for (int64_t oy = 0; oy < s.out_h; ++oy)
      for (int64_t ox = 0; ox < s.out_w; ++ox, out += s.channels)
        body(Window::of(s, oy, ox), in, out);
  }
}

/// The largest of each of n channels of a window.
template <class T>
TROUPE_INLINE void largest(const Pool2DShape& s, Window w, const T* in, T* best, int64_t n) {
  for (int64_t c = 0; c < n; ++c)
    best[c] = lowest<T>;
  for (int64_t iy = w.y0; iy < w.y1; ++iy)
    for (int64_t ix = w.x0; ix < w.x1; ++ix) {
      const T* pixel = in + (iy * s.in_w + ix) * s.channels;
      TROUPE_INDEPENDENT
      for (int64_t c = 0; c < n; ++c)
        best[c] = pixel[c] > best[c] ? pixel[c] : best[c];
    }
}

/// Channels side by side in a register, written as one, because a loop over them would go through
/// memory with each pixel.
template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  using Values [[gnu::vector_size(64)]] = float;
  using Place = int32_t;
  using Places [[gnu::vector_size(64)]] = Place;
  static constexpr int64_t count = 16;
};
template <>
struct Lanes<double> {
  using Values [[gnu::vector_size(64)]] = double;
  using Place = int64_t;
  using Places [[gnu::vector_size(64)]] = Place;
  static constexpr int64_t count = 8;
};

/// By reference: how such a type is passed depends on the instruction set.
template <class Values>
TROUPE_INLINE void load(const auto* from, Values& to) {
  __builtin_memcpy(&to, from, sizeof(to));
}

template <class Values>
TROUPE_INLINE void store(const Values& values, auto* to) {
  __builtin_memcpy(to, &values, sizeof(values));
}

template <class T>
TROUPE_INLINE void largest_lanes(const Pool2DShape& s, Window w, const T* in, T* out) {
  typename Lanes<T>::Values best = lowest<T> - typename Lanes<T>::Values{};
  for (int64_t iy = w.y0; iy < w.y1; ++iy)
    for (int64_t ix = w.x0; ix < w.x1; ++ix) {
      typename Lanes<T>::Values pixel;
      load(in + (iy * s.in_w + ix) * s.channels, pixel);
      best = pixel > best ? pixel : best;
    }
  store(best, out);
}

template <class T>
void max_forward(const Pool2DShape& shape, const void* x, void* y, int64_t begin, int64_t end) {
  const Pool2DShape s = shape;
  constexpr int64_t lanes = Lanes<T>::count;
  for_each_window(s, static_cast<const T*>(x), static_cast<T*>(y), begin, end,
                  [&s](Window w, const T* in, T* out) {
                    int64_t c = 0;
                    for (; c + lanes <= s.channels; c += lanes)
                      largest_lanes(s, w, in + c, out + c);
                    if (c < s.channels)
                      largest(s, w, in + c, out + c, s.channels - c);
                  });
}

template <class T>
void average_forward(const Pool2DShape& shape, const void* x, void* y, int64_t begin, int64_t end) {
  const Pool2DShape s = shape;
  for_each_window(s, static_cast<const T*>(x), static_cast<T*>(y), begin, end,
                  [&s](Window w, const T* in, T* out) {
                    TROUPE_INDEPENDENT
                    for (int64_t c = 0; c < s.channels; ++c)
                      out[c] = T(0);
                    for (int64_t iy = w.y0; iy < w.y1; ++iy)
                      for (int64_t ix = w.x0; ix < w.x1; ++ix) {
                        const T* pixel = in + (iy * s.in_w + ix) * s.channels;
                        TROUPE_INDEPENDENT
                        for (int64_t c = 0; c < s.channels; ++c)
                          out[c] += pixel[c];
                      }
                    const T size = T((w.y1 - w.y0) * (w.x1 - w.x0));
                    TROUPE_INDEPENDENT
                    for (int64_t c = 0; c < s.channels; ++c)
                      out[c] /= size;
                  });
}

/// Where the first maximum of each of n channels of a window is; then the gradient is added there,
/// and nothing to the other pixels.
template <class T>
TROUPE_INLINE void add_to_largest(const Pool2DShape& s, Window w, const T* in, const T* gradient,
                                  T* target, int64_t n) {
  T best[Lanes<T>::count];
  int32_t at[Lanes<T>::count];
  const int64_t first = w.y0 * s.in_w + w.x0;
  for (int64_t c = 0; c < n; ++c) {
    best[c] = in[first * s.channels + c];
    at[c] = static_cast<int32_t>(first);
  }
  for (int64_t iy = w.y0; iy < w.y1; ++iy)
    for (int64_t ix = w.x0; ix < w.x1; ++ix) {
      const int64_t here = iy * s.in_w + ix;
      const T* pixel = in + here * s.channels;
      TROUPE_INDEPENDENT
      for (int64_t c = 0; c < n; ++c) {
        const bool better = pixel[c] > best[c];
        best[c] = better ? pixel[c] : best[c];
        at[c] = better ? static_cast<int32_t>(here) : at[c];
      }
    }
  for (int64_t c = 0; c < n; ++c)
    target[at[c] * s.channels + c] += gradient[c];
}

/// The same for as many channels as there are lanes; if no other window has these pixels, they are
/// written, whatever they were.
template <class T>
TROUPE_INLINE void add_to_largest_lanes(const Pool2DShape& s, Window w, const T* in,
                                        const T* gradient, T* target, bool alone) {
  using Values = typename Lanes<T>::Values;
  using Place = typename Lanes<T>::Place;
  using Places = typename Lanes<T>::Places;
  Values best, dy, pixel, zero = {};
  load(in + (w.y0 * s.in_w + w.x0) * s.channels, best);
  load(gradient, dy);
  Places at = static_cast<Place>(w.y0 * s.in_w + w.x0) - Places{};
  for (int64_t iy = w.y0; iy < w.y1; ++iy)
    for (int64_t ix = w.x0; ix < w.x1; ++ix) {
      load(in + (iy * s.in_w + ix) * s.channels, pixel);
      const Places better = pixel > best, here = static_cast<Place>(iy * s.in_w + ix) - Places{};
      best = better ? pixel : best;
      at = better ? here : at;
    }
  for (int64_t iy = w.y0; iy < w.y1; ++iy)
    for (int64_t ix = w.x0; ix < w.x1; ++ix) {
      T* to = target + (iy * s.in_w + ix) * s.channels;
      Values sum = at == static_cast<Place>(iy * s.in_w + ix) - Places{} ? dy : zero;
      if (!alone) {
        load(to, pixel);
        sum += pixel;
      }
      store(sum, to);
    }
}

/// Every pixel of the input is in exactly one window.
TROUPE_INLINE bool windows_tile(const Pool2DShape& s) {
  return s.stride_h == s.window_h && s.stride_w == s.window_w &&
         s.out_h * s.stride_h - s.pad_top >= s.in_h && s.out_w * s.stride_w - s.pad_left >= s.in_w;
}

template <class T>
void max_backward(const Pool2DShape& shape, const void* x, const void* dy, void* dx, int64_t begin,
                  int64_t end) {
  const Pool2DShape s = shape;
  constexpr int64_t lanes = Lanes<T>::count;
  const bool alone = windows_tile(s) && s.channels % lanes == 0;
  const int64_t image_size = s.in_h * s.in_w * s.channels;
  auto out = static_cast<T*>(dx);
  for (int64_t image = begin; image < end; ++image) {
    const T* in = static_cast<const T*>(x) + image * image_size;
    T* target = out + image * image_size;
    if (!alone)
      __builtin_memset(target, 0, static_cast<size_t>(image_size) * sizeof(T));
    const T* gradient = static_cast<const T*>(dy) + image * s.out_h * s.out_w * s.channels;
    for (int64_t oy = 0; oy < s.out_h; ++oy)
      for (int64_t ox = 0; ox < s.out_w; ++ox, gradient += s.channels) {
        const Window w = Window::of(s, oy, ox);
        int64_t c = 0;
        for (; c + lanes <= s.channels; c += lanes)
          add_to_largest_lanes(s, w, in + c, gradient + c, target + c, alone);
        if (c < s.channels)
          add_to_largest(s, w, in + c, gradient + c, target + c, s.channels - c);
      }
  }
}

template <class T>
void average_backward(const Pool2DShape& s, const void* dy, void* dx, int64_t begin, int64_t end) {
  const int64_t image_size = s.in_h * s.in_w * s.channels;
  auto out = static_cast<T*>(dx);
  for (int64_t i = begin * image_size; i < end * image_size; ++i)
    out[i] = T(0);
  for (int64_t image = begin; image < end; ++image) {
    T* target = out + image * image_size;
    const T* gradient = static_cast<const T*>(dy) + image * s.out_h * s.out_w * s.channels;
    for (int64_t oy = 0; oy < s.out_h; ++oy)
      for (int64_t ox = 0; ox < s.out_w; ++ox, gradient += s.channels) {
        const Window w = Window::of(s, oy, ox);
        const T share = T(1) / T((w.y1 - w.y0) * (w.x1 - w.x0));
        for (int64_t iy = w.y0; iy < w.y1; ++iy)
          for (int64_t ix = w.x0; ix < w.x1; ++ix) {
            T* pixel = target + (iy * s.in_w + ix) * s.channels;
            TROUPE_INDEPENDENT
            for (int64_t c = 0; c < s.channels; ++c)
              pixel[c] += gradient[c] * share;
          }
      }
  }
}

} // namespace

PoolFn max_pool(Type type) {
  return type == Type::float32   ? max_forward<float>
         : type == Type::float64 ? max_forward<double>
                                 : nullptr;
}

PoolFn avg_pool(Type type) {
  return type == Type::float32   ? average_forward<float>
         : type == Type::float64 ? average_forward<double>
                                 : nullptr;
}

MaxPoolGradFn max_pool_grad(Type type) {
  return type == Type::float32   ? max_backward<float>
         : type == Type::float64 ? max_backward<double>
                                 : nullptr;
}

PoolFn avg_pool_grad(Type type) {
  return type == Type::float32   ? average_backward<float>
         : type == Type::float64 ? average_backward<double>
                                 : nullptr;
}

} // namespace troupe::arith::TROUPE_ISA
