// Batch normalisation: what is done to each element. The sums are those of gpu::reduce.
#include "kernels/gpu/device.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"

namespace troupe::gpu {
namespace {

#define TROUPE_GPU_SMALL_FLOATS(name, parameters, arguments)                                       \
  TROUPE_GPU_INSTANCE(name, f32, float, parameters, arguments)                                     \
  TROUPE_GPU_INSTANCE(name, f16, Half, parameters, arguments)                                      \
  TROUPE_GPU_INSTANCE(name, bf16, BFloat16, parameters, arguments)

#define SQUARES                                                                                    \
  (const void* x, const void* mean, void* out, std::int64_t inner, std::int64_t channels,          \
   std::int64_t n)
TROUPE_GPU_KERNEL(squares, SQUARES) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const float value = widen(elements<T>(x)[i]);
    const float centred = mean ? value - elements<float>(mean)[i / inner % channels] : 0;
    elements<float>(out)[i] = mean ? centred * centred : value;
  }
}
TROUPE_GPU_SMALL_FLOATS(squares, SQUARES, (x, mean, out, inner, channels, n))

#define PRODUCTS                                                                                   \
  (const void* dy, const void* x, const void* mean, void* out, std::int64_t inner,                 \
   std::int64_t channels, std::int64_t n)
TROUPE_GPU_KERNEL(centred_products, PRODUCTS) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    float value = widen(elements<T>(dy)[i]);
    if (x)
      value *= widen(elements<T>(x)[i]) - elements<float>(mean)[i / inner % channels];
    elements<float>(out)[i] = value;
  }
}
TROUPE_GPU_SMALL_FLOATS(centred_products, PRODUCTS, (dy, x, mean, out, inner, channels, n))

#define NORMALISE                                                                                  \
  (const void* x, const void* mean, const void* variance, const void* scale, const void* offset,   \
   float epsilon, void* y, std::int64_t inner, std::int64_t channels, std::int64_t n)
TROUPE_GPU_KERNEL(normalise_images, NORMALISE) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t c = i / inner % channels;
    const float factor =
        elements<float>(scale)[c] / std::sqrt(elements<float>(variance)[c] + epsilon);
    elements<T>(y)[i] = narrow<T>((widen(elements<T>(x)[i]) - elements<float>(mean)[c]) * factor +
                                  elements<float>(offset)[c]);
  }
}
TROUPE_GPU_SMALL_FLOATS(normalise_images, NORMALISE,
                        (x, mean, variance, scale, offset, epsilon, y, inner, channels, n))

#define RUNNING                                                                                    \
  (const void* mean, const void* variance, const void* old_mean, const void* old_variance,         \
   float factor, float unbias, void* new_mean, void* new_variance, std::int64_t channels)
TROUPE_GPU_KERNEL(running_moments, RUNNING) {
  for (std::int64_t c = first(); c < channels; c += stride()) {
    T fresh_mean = elements<T>(mean)[c], fresh_variance = elements<T>(variance)[c] * unbias;
    if (factor != 1) {
      fresh_mean = (1 - factor) * elements<T>(old_mean)[c] + factor * fresh_mean;
      fresh_variance = (1 - factor) * elements<T>(old_variance)[c] + factor * fresh_variance;
    }
    elements<T>(new_mean)[c] = fresh_mean;
    elements<T>(new_variance)[c] = fresh_variance;
  }
}
TROUPE_GPU_INSTANCE(running_moments, f32, float, RUNNING,
                    (mean, variance, old_mean, old_variance, factor, unbias, new_mean, new_variance,
                     channels))

#define NORMALISE_GRAD                                                                             \
  (const void* dy, const void* x, const void* mean, const void* variance, const void* scale,       \
   const void* sum_dy, const void* sum_product, float epsilon, std::int64_t count, void* dx,       \
   std::int64_t inner, std::int64_t channels, std::int64_t n)
TROUPE_GPU_KERNEL(normalise_grad, NORMALISE_GRAD) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t c = i / inner % channels;
    const float inverse = 1 / std::sqrt(elements<float>(variance)[c] + epsilon);
    const float factor = elements<float>(scale)[c] * inverse;
    float value = widen(elements<T>(dy)[i]) * factor;
    if (count > 0) {
      const auto all = static_cast<float>(count);
      const float centred = widen(elements<T>(x)[i]) - elements<float>(mean)[c];
      value += centred * (-factor * inverse * inverse * elements<float>(sum_product)[c] / all) -
               factor * elements<float>(sum_dy)[c] / all;
    }
    elements<T>(dx)[i] = narrow<T>(value);
  }
}
TROUPE_GPU_SMALL_FLOATS(normalise_grad, NORMALISE_GRAD,
                        (dy, x, mean, variance, scale, sum_dy, sum_product, epsilon, count, dx,
                         inner, channels, n))

#define SCALE_GRAD (const void* variance, float epsilon, void* dscale, std::int64_t channels)
TROUPE_GPU_KERNEL(scale_grad, SCALE_GRAD) {
  for (std::int64_t c = first(); c < channels; c += stride())
    elements<T>(dscale)[c] *= 1 / std::sqrt(elements<T>(variance)[c] + epsilon);
}
TROUPE_GPU_INSTANCE(scale_grad, f32, float, SCALE_GRAD, (variance, epsilon, dscale, channels))

} // namespace
} // namespace troupe::gpu
