// The kernels of kernels/train/optimizers.cu: f32, f64, f16 and bf16. Rates are one element each,
// in the GPU's memory, so that a step does not wait for them. Formulas as in
// kernels/arith/optimizer.hpp.
#pragma once

#include "kernels/gpu/kernel.hpp"

namespace troupe::gpu {
namespace images {
extern const cuda::CodeImage train_optimizers;
}
namespace kernels {

inline constexpr Kernel<void(void* var, const void* alpha, const void* delta, std::int64_t n)>
    gradient_descent{images::train_optimizers, "gradient_descent"};
/// is_keras: accum = accum * momentum - lr * grad, and what follows from it.
inline constexpr Kernel<void(void* var, void* accum, const void* lr, const void* grad,
                             const void* momentum, bool nesterov, bool is_keras, std::int64_t n)>
    momentum{images::train_optimizers, "momentum"};
inline constexpr Kernel<void(void* var, void* m, void* v, const void* beta1_power,
                             const void* beta2_power, const void* lr, const void* beta1,
                             const void* beta2, const void* epsilon, const void* grad,
                             bool nesterov, std::int64_t n)>
    adam{images::train_optimizers, "adam"};

/// accum += grad^2 if it is updated; var -= lr * grad / (sqrt(accum) + epsilon), which may be null:
/// 0.
inline constexpr Kernel<void(void* var, void* accum, const void* lr, const void* epsilon,
                             const void* grad, bool update_slots, std::int64_t n)>
    adagrad{images::train_optimizers, "adagrad"};
inline constexpr Kernel<void(void* var, void* ms, void* mom, const void* lr, const void* rho,
                             const void* momentum, const void* epsilon, const void* grad,
                             std::int64_t n)>
    rms_prop{images::train_optimizers, "rms_prop"};

} // namespace kernels
} // namespace troupe::gpu
