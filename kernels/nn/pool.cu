// Pooling of images and its gradients. Each element of a gradient is gathered from the windows that
// hold it, so that the sums have one order.
#include "kernels/gpu/device.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"

namespace troupe::gpu {
namespace {

/// The part of a window that lies inside the image.
struct Range {
  std::int64_t begin, end;
};
TROUPE_DEVICE Range inside(std::int64_t window, std::int64_t stride, std::int64_t pad,
                           std::int64_t size, std::int64_t extent) {
  const std::int64_t begin = window * stride - pad, end = begin + size;
  return {begin > 0 ? begin : 0, end < extent ? end : extent};
}
/// The windows that hold a position.
TROUPE_DEVICE Range holding(std::int64_t position, const Divider& stride, std::int64_t pad,
                            std::int64_t size, std::int64_t windows) {
  const std::int64_t at = position + pad;
  const std::int64_t begin = at < size ? 0 : divided(at - size, stride) + 1,
                     end = divided(at, stride) + 1;
  return {begin, end < windows ? end : windows};
}

/// An element's place.
struct Place {
  std::int64_t image, row, column, channel;
};
TROUPE_DEVICE Place place(std::int64_t i, const Divider& height, const Divider& width,
                          const Divider& channels) {
  Place out;
  out.channel = split(i, channels);
  out.column = split(i, width);
  out.row = split(i, height);
  out.image = i;
  return out;
}
TROUPE_DEVICE std::int64_t input_at(const Windows& w, std::int64_t image, std::int64_t row,
                                    std::int64_t column, std::int64_t channel) {
  return ((image * w.in_h + row) * w.in_w + column) * w.channels + channel;
}
TROUPE_DEVICE std::int64_t output_at(const Windows& w, std::int64_t image, std::int64_t row,
                                     std::int64_t column, std::int64_t channel) {
  return ((image * w.out_h + row) * w.out_w + column) * w.channels + channel;
}

/// The least finite number, which a window of NaN or of negative infinity gives, as TensorFlow has
/// it.
template <class T>
inline constexpr WideOf<T> least_finite = std::numeric_limits<T>::lowest();
template <>
inline constexpr float least_finite<Half> = -65504.0F;
template <>
inline constexpr float least_finite<BFloat16> = -0x1.fep127F;

/// Where the first largest element of a window is.
template <class T>
TROUPE_DEVICE std::int64_t largest_of(const Windows& w, const T* x, const Place& window) {
  const Range rows = inside(window.row, w.stride_h, w.pad_top, w.window_h, w.in_h);
  const Range columns = inside(window.column, w.stride_w, w.pad_left, w.window_w, w.in_w);
  std::int64_t best = -1;
  for (std::int64_t row = rows.begin; row < rows.end; ++row)
    for (std::int64_t column = columns.begin; column < columns.end; ++column) {
      const std::int64_t at = input_at(w, window.image, row, column, window.channel);
      if (best < 0 || widen(x[at]) > widen(x[best]) || widen(x[best]) != widen(x[best]))
        best = at;
    }
  return best;
}

/// Where an element is within a window, padding included.
TROUPE_DEVICE std::int64_t place_in(const Windows& w, const Place& window, std::int64_t row,
                                    std::int64_t column) {
  return (row - (window.row * w.stride_h - w.pad_top)) * w.window_w + column -
         (window.column * w.stride_w - w.pad_left);
}

/// As many places as a pack has elements.
template <class T>
struct alignas(4 * (Pack<T>::size < 4 ? Pack<T>::size : 4)) Places {
  std::int32_t at[Pack<T>::size];
};

/// The first largest elements of the windows of a pack's channels, and their places within them; -1
/// and the least number of windows in the padding alone.
template <class T>
struct LargestOfPack {
  Pack<T> values;
  Places<T> places;
};
template <class T>
TROUPE_DEVICE LargestOfPack<T> largest_of_pack(const Windows& w, const T* x, const Place& window) {
  const Range rows = inside(window.row, w.stride_h, w.pad_top, w.window_h, w.in_h);
  const Range columns = inside(window.column, w.stride_w, w.pad_left, w.window_w, w.in_w);
  LargestOfPack<T> out;
  for (int k = 0; k < Pack<T>::size; ++k) {
    out.values.at[k] = narrow<T>(least_finite<T>);
    out.places.at[k] = -1;
  }
  for (std::int64_t row = rows.begin; row < rows.end; ++row)
    for (std::int64_t column = columns.begin; column < columns.end; ++column) {
      const Pack<T> here = *reinterpret_cast<const Pack<T>*>(
          x + input_at(w, window.image, row, column, window.channel));
      const auto at = static_cast<std::int32_t>(place_in(w, window, row, column));
      for (int k = 0; k < Pack<T>::size; ++k) {
        const WideOf<T> value = widen(here.at[k]), best = widen(out.values.at[k]);
        if (out.places.at[k] < 0 || value > best || best != best) {
          out.values.at[k] = here.at[k];
          out.places.at[k] = at;
        }
      }
    }
  return out;
}

template <class T>
TROUPE_DEVICE bool pools_packs(const Windows& w, const void* x, const void* y) {
  return w.channels % Pack<T>::size == 0 && holds_packs(x) && holds_packs(y);
}

#define POOL (Windows windows, WindowDividers by, const void* x, void* y, std::int64_t n)
TROUPE_GPU_KERNEL(max_pool, POOL) {
  constexpr int run = Pack<T>::size;
  const auto result = [](WideOf<T> largest) {
    return narrow<T>(largest > least_finite<T> ? largest : least_finite<T>);
  };
  if (pools_packs<T>(windows, x, y)) {
    for (std::int64_t i = first(); i < n / run; i += stride()) {
      const Place window = place(i * run, by.out_h, by.out_w, by.channels);
      Pack<T> values = largest_of_pack(windows, elements<T>(x), window).values;
      for (T& value : values.at)
        value = result(widen(value));
      elements<Pack<T>>(y)[i] = values;
    }
    return;
  }
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place window = place(i, by.out_h, by.out_w, by.channels);
    const std::int64_t at = largest_of(windows, elements<T>(x), window);
    elements<T>(y)[i] = result(at < 0 ? least_finite<T> : widen(elements<T>(x)[at]));
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, max_pool, POOL, (windows, by, x, y, n))

TROUPE_GPU_KERNEL(avg_pool, POOL) {
  const Windows& w = windows;
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place at = place(i, by.out_h, by.out_w, by.channels);
    const Range rows = inside(at.row, w.stride_h, w.pad_top, w.window_h, w.in_h);
    const Range columns = inside(at.column, w.stride_w, w.pad_left, w.window_w, w.in_w);
    WideOf<T> sum = 0;
    for (std::int64_t row = rows.begin; row < rows.end; ++row)
      for (std::int64_t column = columns.begin; column < columns.end; ++column)
        sum += widen(elements<T>(x)[input_at(w, at.image, row, column, at.channel)]);
    const std::int64_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
    elements<T>(y)[i] = narrow<T>(sum / static_cast<WideOf<T>>(count));
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, avg_pool, POOL, (windows, by, x, y, n))

#define PLACES (Windows windows, WindowDividers by, const void* x, void* places, std::int64_t n)
TROUPE_GPU_KERNEL(largest_places, PLACES) {
  const Windows& w = windows;
  constexpr int run = Pack<T>::size;
  if (pools_packs<T>(w, x, places)) {
    for (std::int64_t i = first(); i < n / run; i += stride())
      elements<Places<T>>(places)[i] =
          largest_of_pack(w, elements<T>(x), place(i * run, by.out_h, by.out_w, by.channels))
              .places;
    return;
  }
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place window = place(i, by.out_h, by.out_w, by.channels);
    const std::int64_t at = largest_of(w, elements<T>(x), window);
    const Place largest = place(at < 0 ? 0 : at, by.in_h, by.in_w, by.channels);
    elements<std::int32_t>(places)[i] =
        at < 0 ? -1 : static_cast<std::int32_t>(place_in(w, window, largest.row, largest.column));
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, largest_places, PLACES, (windows, by, x, places, n))

/// `run` channels at a time.
template <class T, int run>
struct alignas(sizeof(T) * run) ChannelRun {
  T at[run];
};
template <class T, int run>
TROUPE_DEVICE void gather_gradients(const Windows& w, const WindowDividers& by,
                                    const std::int32_t* places, const T* dy, T* dx,
                                    std::int64_t n) {
  for (std::int64_t number = first(); number < n / run; number += stride()) {
    const Place p = place(number * run, by.in_h, by.in_w, by.channels);
    const Range rows = holding(p.row, by.stride_h, w.pad_top, w.window_h, w.out_h);
    const Range columns = holding(p.column, by.stride_w, w.pad_left, w.window_w, w.out_w);
    WideOf<T> sums[run] = {};
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = columns.begin; j < columns.end; ++j) {
        const std::int64_t window = output_at(w, p.image, i, j, p.channel);
        const auto here =
            static_cast<std::int32_t>(place_in(w, {p.image, i, j, p.channel}, p.row, p.column));
        const auto gradient = *reinterpret_cast<const ChannelRun<T, run>*>(dy + window);
        for (int k = 0; k < run; ++k)
          if (places[window + k] == here)
            sums[k] += widen(gradient.at[k]);
      }
    ChannelRun<T, run> out;
    for (int k = 0; k < run; ++k)
      out.at[k] = narrow<T>(sums[k]);
    reinterpret_cast<ChannelRun<T, run>*>(dx)[number] = out;
  }
}

#define MAX_POOL_GRAD                                                                              \
  (Windows windows, WindowDividers by, const void* places, const void* dy, void* dx, std::int64_t n)
TROUPE_GPU_KERNEL(max_pool_grad, MAX_POOL_GRAD) {
  constexpr int run = Pack<T>::size < 4 ? Pack<T>::size : 4;
  if (windows.channels % run == 0 && holds_packs(dy) && holds_packs(dx))
    gather_gradients<T, run>(windows, by, elements<std::int32_t>(places), elements<T>(dy),
                             elements<T>(dx), n);
  else
    gather_gradients<T, 1>(windows, by, elements<std::int32_t>(places), elements<T>(dy),
                           elements<T>(dx), n);
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, max_pool_grad, MAX_POOL_GRAD,
                  (windows, by, places, dy, dx, n))

#define AVG_POOL_GRAD (Windows windows, WindowDividers by, const void* dy, void* dx, std::int64_t n)
TROUPE_GPU_KERNEL(avg_pool_grad, AVG_POOL_GRAD) {
  const Windows& w = windows;
  for (std::int64_t at = first(); at < n; at += stride()) {
    const Place p = place(at, by.in_h, by.in_w, by.channels);
    const Range rows = holding(p.row, by.stride_h, w.pad_top, w.window_h, w.out_h);
    const Range columns = holding(p.column, by.stride_w, w.pad_left, w.window_w, w.out_w);
    WideOf<T> sum = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = columns.begin; j < columns.end; ++j) {
        const Range in_rows = inside(i, w.stride_h, w.pad_top, w.window_h, w.in_h);
        const Range in_columns = inside(j, w.stride_w, w.pad_left, w.window_w, w.in_w);
        const std::int64_t count =
            (in_rows.end - in_rows.begin) * (in_columns.end - in_columns.begin);
        sum += widen(elements<T>(dy)[output_at(w, p.image, i, j, p.channel)]) /
               static_cast<WideOf<T>>(count);
      }
    elements<T>(dx)[at] = narrow<T>(sum);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, avg_pool_grad, AVG_POOL_GRAD, (windows, by, dy, dx, n))

} // namespace
} // namespace troupe::gpu
