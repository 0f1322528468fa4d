// The kernels of kernels/random/distributions.cu.
#pragma once

#include "kernels/gpu/kernel.hpp"

namespace troupe::gpu {
namespace images {
extern const cuda::CodeImage random_distributions;
}

enum class Distribution : int { uniform, normal, truncated_normal };

/// A generator at the first element; see arith::Philox.
struct PhiloxStart {
  std::uint32_t counter[4] = {};
  std::uint32_t key[2] = {};
};

namespace kernels {

/// n elements, the same numbers as kernels/arith/philox.hpp gives: f32, f64, f16, bf16.
inline constexpr Kernel<void(int distribution, PhiloxStart start, void* out, std::int64_t n)>
    random{images::random_distributions, "random"};

} // namespace kernels
} // namespace troupe::gpu
