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

#define POOL (Windows windows, WindowDividers by, const void* x, void* y, std::int64_t n)
TROUPE_GPU_KERNEL(max_pool, POOL) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place window = place(i, by.out_h, by.out_w, by.channels);
    const WideOf<T> largest = widen(elements<T>(x)[largest_of(windows, elements<T>(x), window)]);
    elements<T>(y)[i] = narrow<T>(largest > least_finite<T> ? largest : least_finite<T>);
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
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place window = place(i, by.out_h, by.out_w, by.channels);
    std::int64_t at = largest_of(w, elements<T>(x), window);
    std::int32_t found = -1;
    if (at >= 0) {
      const Place largest = place(at, by.in_h, by.in_w, by.channels);
      found = static_cast<std::int32_t>((largest.row - (window.row * w.stride_h - w.pad_top)) *
                                            w.window_w +
                                        largest.column - (window.column * w.stride_w - w.pad_left));
    }
    elements<std::int32_t>(places)[i] = found;
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, largest_places, PLACES, (windows, by, x, places, n))

#define MAX_POOL_GRAD                                                                              \
  (Windows windows, WindowDividers by, const void* places, const void* dy, void* dx, std::int64_t n)
TROUPE_GPU_KERNEL(max_pool_grad, MAX_POOL_GRAD) {
  const Windows& w = windows;
  for (std::int64_t at = first(); at < n; at += stride()) {
    const Place p = place(at, by.in_h, by.in_w, by.channels);
    const Range rows = holding(p.row, by.stride_h, w.pad_top, w.window_h, w.out_h);
    const Range columns = holding(p.column, by.stride_w, w.pad_left, w.window_w, w.out_w);
    WideOf<T> sum = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = columns.begin; j < columns.end; ++j) {
        const std::int64_t window = output_at(w, p.image, i, j, p.channel);
        const std::int64_t here = (p.row - (i * w.stride_h - w.pad_top)) * w.window_w + p.column -
                                  (j * w.stride_w - w.pad_left);
        if (elements<std::int32_t>(places)[window] == here)
          sum += widen(elements<T>(dy)[window]);
      }
    elements<T>(dx)[at] = narrow<T>(sum);
  }
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
