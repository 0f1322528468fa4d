// Pooling over NHWC: the channels of one pixel are a row, and whole rows are compared or added.
#include "kernels/arith/isa/lanes.hpp"

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

/// Neighbouring channels in `count` registers.
template <class T, int count>
struct Channels {
  Full<T> part[count];
};

/// What F::step makes of some channels of a window's pixels, beginning with `first`: `count` times
/// as many as a register has lanes, or the first n of them.
template <class F, int count, class T>
TROUPE_INLINE Channels<T, count> over_window(const Pool2DShape& s, Window w, const T* in, auto n,
                                             T first) {
  Channels<T, count> result;
  TROUPE_UNROLL
  for (int p = 0; p < count; ++p)
    result.part[p] = spread<Full<T>>(first);
  for (int64_t iy = w.y0; iy < w.y1; ++iy) {
    const T* from = in + (iy * s.in_w + w.x0) * s.channels;
    for (int64_t ix = w.x0; ix < w.x1; ++ix, from += s.channels) {
      TROUPE_UNROLL
      for (int p = 0; p < count; ++p)
        result.part[p] =
            F::step(result.part[p], load_first<Full<T>>(from + p * lanes<T>, n, first));
    }
  }
  return result;
}

/// Each output pixel is F::last of what F::step makes of its window.
template <class F, class T>
void forward(const Pool2DShape& shape, const void* x, void* y, int64_t begin, int64_t end) {
  const Pool2DShape s = shape;
  const auto some = [&s]<int count>(Window w, const T* in, T* out, auto n,
                                    std::integral_constant<int, count>) {
    const auto result = over_window<F, count>(s, w, in, n, F::template first<T>);
    const T size = T((w.y1 - w.y0) * (w.x1 - w.x0));
    TROUPE_UNROLL
    for (int p = 0; p < count; ++p)
      store_first(F::last(result.part[p], size), out + p * lanes<T>, n);
  };
  for_each_window(s, static_cast<const T*>(x), static_cast<T*>(y), begin, end,
                  [&s, some](Window w, const T* in, T* out) {
                    constexpr std::integral_constant<int, 1> one;
                    constexpr std::integral_constant<int, 4> four;
                    constexpr std::integral_constant<int64_t, lanes<T>> all;
                    int64_t c = 0;
                    for (; c + 4 * all <= s.channels; c += 4 * all)
                      some(w, in + c, out + c, all, four);
                    for (; c + all <= s.channels; c += all)
                      some(w, in + c, out + c, all, one);
                    if (c < s.channels)
                      some(w, in + c, out + c, s.channels - c, one);
                  });
}

struct Largest {
  template <class T>
  static constexpr T first = lowest<T>;
  template <class V>
  TROUPE_INLINE V step(const V& best, const V& pixel) {
    return pixel > best ? pixel : best;
  }
  template <class V>
  TROUPE_INLINE V last(const V& best, auto) {
    return best;
  }
};
struct Mean {
  template <class T>
  static constexpr T first = T(0);
  template <class V>
  TROUPE_INLINE V step(const V& sum, const V& pixel) {
    return sum + pixel;
  }
  template <class V>
  TROUPE_INLINE V last(const V& sum, auto size) {
    return sum / size;
  }
};

/// Where the first maximum of each of n channels of a window is; then the gradient is added there,
/// and nothing to the other pixels.
template <class T>
TROUPE_INLINE void add_to_largest(const Pool2DShape& s, Window w, const T* in, const T* gradient,
                                  T* target, int64_t n) {
  T best[lanes<T>];
  int32_t at[lanes<T>];
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
  using Values = Full<T>;
  using Place = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Places = Full<Place>;
  Values best = load<Values>(in + (w.y0 * s.in_w + w.x0) * s.channels);
  Places at = spread<Places>(static_cast<Place>(w.y0 * s.in_w + w.x0));
  for (int64_t iy = w.y0; iy < w.y1; ++iy)
    for (int64_t ix = w.x0; ix < w.x1; ++ix) {
      const auto pixel = load<Values>(in + (iy * s.in_w + ix) * s.channels);
      const Places better = pixel > best,
                   here = spread<Places>(static_cast<Place>(iy * s.in_w + ix));
      best = better ? pixel : best;
      at = better ? here : at;
    }
  const auto dy = load<Values>(gradient);
  for (int64_t iy = w.y0; iy < w.y1; ++iy)
    for (int64_t ix = w.x0; ix < w.x1; ++ix) {
      T* to = target + (iy * s.in_w + ix) * s.channels;
      Values sum = at == spread<Places>(static_cast<Place>(iy * s.in_w + ix)) ? dy : Values{};
      if (!alone)
        sum += load<Values>(to);
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
  constexpr int64_t all = lanes<T>;
  const bool alone = windows_tile(s) && s.channels % all == 0;
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
        for (; c + all <= s.channels; c += all)
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
  return type == Type::float32   ? forward<Largest, float>
         : type == Type::float64 ? forward<Largest, double>
                                 : nullptr;
}

PoolFn avg_pool(Type type) {
  return type == Type::float32   ? forward<Mean, float>
         : type == Type::float64 ? forward<Mean, double>
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
