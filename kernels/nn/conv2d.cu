// Convolutions as products of matrices: the patches that the filter sees, and back.
#include "kernels/gpu/device.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"

namespace troupe::gpu {
namespace {

#define TAKE_PATCHES                                                                               \
  (Windows windows, WindowDividers by, const void* images, void* patches, std::int64_t n)
TROUPE_GPU_KERNEL(take_patches, TAKE_PATCHES) {
  const Windows& w = windows;
  for (std::int64_t i = first(); i < n; i += stride()) {
    std::int64_t rest = i;
    const std::int64_t k = split(rest, by.channels), dj = split(rest, by.window_w),
                       di = split(rest, by.window_h);
    const std::int64_t column = split(rest, by.out_w) * w.stride_w - w.pad_left + dj * w.dilation_w;
    const std::int64_t row = split(rest, by.out_h) * w.stride_h - w.pad_top + di * w.dilation_h;
    const std::int64_t image = rest;
    const bool is_inside = row >= 0 && row < w.in_h && column >= 0 && column < w.in_w;
    elements<T>(patches)[i] =
        is_inside ? elements<T>(images)[((image * w.in_h + row) * w.in_w + column) * w.channels + k]
                  : narrow<T>(0);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, take_patches, TAKE_PATCHES,
                  (windows, by, images, patches, n))

/// Which window of `windows`, in steps of `stride`, holds the position as its offset `delta`; -1:
/// none.
TROUPE_DEVICE std::int64_t window_at(std::int64_t position, std::int64_t pad, std::int64_t delta,
                                     const Divider& stride, std::int64_t windows) {
  std::int64_t window = position + pad - delta;
  if (window < 0 || split(window, stride) != 0 || window >= windows)
    return -1;
  return window;
}

#define SUM_PATCHES                                                                                \
  (Windows windows, WindowDividers by, const void* patches, void* images, std::int64_t n)
TROUPE_GPU_KERNEL(sum_patches, SUM_PATCHES) {
  const Windows& w = windows;
  for (std::int64_t at = first(); at < n; at += stride()) {
    std::int64_t image = at;
    const std::int64_t k = split(image, by.channels), column = split(image, by.in_w),
                       row = split(image, by.in_h);
    WideOf<T> sum = 0;
    for (std::int64_t di = 0; di < w.window_h; ++di) {
      const std::int64_t i = window_at(row, w.pad_top, di * w.dilation_h, by.stride_h, w.out_h);
      for (std::int64_t dj = 0; i >= 0 && dj < w.window_w; ++dj) {
        const std::int64_t j =
            window_at(column, w.pad_left, dj * w.dilation_w, by.stride_w, w.out_w);
        if (j >= 0)
          sum += widen(elements<T>(
              patches)[((((image * w.out_h + i) * w.out_w + j) * w.window_h + di) * w.window_w +
                        dj) *
                           w.channels +
                       k]);
      }
    }
    elements<T>(images)[at] = narrow<T>(sum);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, sum_patches, SUM_PATCHES, (windows, by, patches, images, n))

} // namespace
} // namespace troupe::gpu
