// Optimizers' updates, in place.
#include "kernels/gpu/device.hpp"
#include "kernels/train/internal/gpu_kernels.hpp"

namespace troupe::gpu {
namespace {

template <class T>
TROUPE_DEVICE WideOf<T> rate(const void* scalar) {
  return widen(elements<T>(scalar)[0]);
}

#define GRADIENT_DESCENT (void* var, const void* alpha, const void* delta, std::int64_t n)
TROUPE_GPU_KERNEL(gradient_descent, GRADIENT_DESCENT) {
  const auto a = rate<T>(alpha);
  for (std::int64_t i = first(); i < n; i += stride())
    elements<T>(var)[i] = narrow<T>(widen(elements<T>(var)[i]) - a * widen(elements<T>(delta)[i]));
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, gradient_descent, GRADIENT_DESCENT, (var, alpha, delta, n))

#define MOMENTUM                                                                                   \
  (void* var, void* accum, const void* lr, const void* grad, const void* momentum, bool nesterov,  \
   bool is_keras, std::int64_t n)
TROUPE_GPU_KERNEL(momentum, MOMENTUM) {
  // Keras' rule is the other one with a learning rate of -1 and -lr * grad for the gradient.
  const auto scale = is_keras ? -rate<T>(lr) : WideOf<T>(1);
  const auto step = is_keras ? WideOf<T>(-1) : rate<T>(lr);
  const auto m = rate<T>(momentum);
  for (std::int64_t i = first(); i < n; i += stride()) {
    const auto g = scale * widen(elements<T>(grad)[i]);
    const auto moved = widen(elements<T>(accum)[i]) * m + g;
    elements<T>(accum)[i] = narrow<T>(moved);
    const auto by = nesterov ? step * g + step * m * moved : step * moved;
    elements<T>(var)[i] = narrow<T>(widen(elements<T>(var)[i]) - by);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, momentum, MOMENTUM,
                  (var, accum, lr, grad, momentum, nesterov, is_keras, n))

#define ADAM                                                                                       \
  (void* var, void* m, void* v, const void* beta1_power, const void* beta2_power, const void* lr,  \
   const void* beta1, const void* beta2, const void* epsilon, const void* grad, bool nesterov,     \
   std::int64_t n)
TROUPE_GPU_KERNEL(adam, ADAM) {
  using W = WideOf<T>;
  const W b1 = rate<T>(beta1), b2 = rate<T>(beta2), small = rate<T>(epsilon);
  const W alpha =
      rate<T>(lr) * std::sqrt(W(1) - rate<T>(beta2_power)) / (W(1) - rate<T>(beta1_power));
  for (std::int64_t i = first(); i < n; i += stride()) {
    const W g = widen(elements<T>(grad)[i]);
    W mean = widen(elements<T>(m)[i]), square = widen(elements<T>(v)[i]);
    mean += (g - mean) * (W(1) - b1);
    square += (g * g - square) * (W(1) - b2);
    elements<T>(m)[i] = narrow<T>(mean);
    elements<T>(v)[i] = narrow<T>(square);
    const W ahead = nesterov ? mean * b1 + (W(1) - b1) * g : mean;
    elements<T>(var)[i] =
        narrow<T>(widen(elements<T>(var)[i]) - alpha * ahead / (std::sqrt(square) + small));
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, adam, ADAM,
                  (var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, nesterov,
                   n))

#define ADAGRAD                                                                                    \
  (void* var, void* accum, const void* lr, const void* epsilon, const void* grad,                  \
   bool update_slots, std::int64_t n)
TROUPE_GPU_KERNEL(adagrad, ADAGRAD) {
  using W = WideOf<T>;
  const W step = rate<T>(lr), small = epsilon ? rate<T>(epsilon) : W(0);
  for (std::int64_t i = first(); i < n; i += stride()) {
    const W g = widen(elements<T>(grad)[i]);
    W sum = widen(elements<T>(accum)[i]);
    if (update_slots) {
      sum += g * g;
      elements<T>(accum)[i] = narrow<T>(sum);
    }
    elements<T>(var)[i] =
        narrow<T>(widen(elements<T>(var)[i]) - g * step / (std::sqrt(sum) + small));
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, adagrad, ADAGRAD,
                  (var, accum, lr, epsilon, grad, update_slots, n))

#define RMS_PROP                                                                                   \
  (void* var, void* ms, void* mom, const void* lr, const void* rho, const void* momentum,          \
   const void* epsilon, const void* grad, std::int64_t n)
TROUPE_GPU_KERNEL(rms_prop, RMS_PROP) {
  using W = WideOf<T>;
  const W step = rate<T>(lr), decay = rate<T>(rho), m = rate<T>(momentum), small = rate<T>(epsilon);
  for (std::int64_t i = first(); i < n; i += stride()) {
    const W g = widen(elements<T>(grad)[i]);
    W square = widen(elements<T>(ms)[i]), moved = widen(elements<T>(mom)[i]);
    square += (g * g - square) * (W(1) - decay);
    moved = moved * m + g * step / std::sqrt(square + small);
    elements<T>(ms)[i] = narrow<T>(square);
    elements<T>(mom)[i] = narrow<T>(moved);
    elements<T>(var)[i] = narrow<T>(widen(elements<T>(var)[i]) - moved);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_INSTANCE, rms_prop, RMS_PROP,
                  (var, ms, mom, lr, rho, momentum, epsilon, grad, n))

} // namespace
} // namespace troupe::gpu
