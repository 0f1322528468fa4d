// Convolutions as products of matrices: the patches that the filter sees, and back.
#include "kernels/gpu/device.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"

namespace troupe::gpu {
namespace {

#define TAKE_PATCHES (Windows windows, const void* images, void* patches, std::int64_t n)
TROUPE_GPU_KERNEL(take_patches, TAKE_PATCHES) {
  const Windows& w = windows;
  for (std::int64_t i = first(); i < n; i += stride()) {
    std::int64_t rest = i;
    const std::int64_t k = rest % w.channels;
    rest /= w.channels;
    const std::int64_t dj = rest % w.window_w;
    rest /= w.window_w;
    const std::int64_t di = rest % w.window_h;
    rest /= w.window_h;
    const std::int64_t column = rest % w.out_w * w.stride_w - w.pad_left + dj * w.dilation_w;
    rest /= w.out_w;
    const std::int64_t row = rest % w.out_h * w.stride_h - w.pad_top + di * w.dilation_h;
    const std::int64_t image = rest / w.out_h;
    const bool is_inside = row >= 0 && row < w.in_h && column >= 0 && column < w.in_w;
    elements<T>(patches)[i] =
        is_inside ? elements<T>(images)[((image * w.in_h + row) * w.in_w + column) * w.channels + k]
                  : narrow<T>(0);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, take_patches, TAKE_PATCHES, (windows, images, patches, n))

/// Which window of `windows`, in steps of `stride`, holds the position as its offset `delta`; -1:
/// none.
TROUPE_DEVICE std::int64_t window_at(std::int64_t position, std::int64_t pad, std::int64_t delta,
                                     std::int64_t stride, std::int64_t windows) {
  const std::int64_t begin = position + pad - delta;
  if (begin < 0 || begin % stride != 0 || begin / stride >= windows)
    return -1;
  return begin / stride;
}

#define SUM_PATCHES (Windows windows, const void* patches, void* images, std::int64_t n)
TROUPE_GPU_KERNEL(sum_patches, SUM_PATCHES) {
  const Windows& w = windows;
  for (std::int64_t at = first(); at < n; at += stride()) {
    const std::int64_t k = at % w.channels, column = at / w.channels % w.in_w;
    const std::int64_t row = at / w.channels / w.in_w % w.in_h;
    const std::int64_t image = at / w.channels / w.in_w / w.in_h;
    WideOf<T> sum = 0;
    for (std::int64_t di = 0; di < w.window_h; ++di) {
      const std::int64_t i = window_at(row, w.pad_top, di * w.dilation_h, w.stride_h, w.out_h);
      for (std::int64_t dj = 0; i >= 0 && dj < w.window_w; ++dj) {
        const std::int64_t j =
            window_at(column, w.pad_left, dj * w.dilation_w, w.stride_w, w.out_w);
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
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, sum_patches, SUM_PATCHES, (windows, patches, images, n))

} // namespace
} // namespace troupe::gpu
