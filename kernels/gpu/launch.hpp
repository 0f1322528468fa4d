// Starting kernels of .cu files: on the stream of a step, named by their node.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/strings.hpp"
#include "devices/cuda/cuda_stream.hpp"
#include "kernels/arith/broadcast.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/gpu/kernel.hpp"

namespace troupe::gpu {

using cuda::Grid;

/// The GPU's stream that the kernel's work goes onto. INTERNAL on a device that is no GPU.
Result<cuda::CudaStream*> stream_of(KernelContext& c);

/// Threads for `elements`, one each up to a bound, beyond which each thread does several: kernels
/// go from their own number in strides of all of them.
inline Grid over(std::int64_t elements, unsigned threads = 256) {
  constexpr std::int64_t most_blocks = 16384;
  const std::int64_t blocks = (elements + threads - 1) / threads;
  return {.blocks = static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, most_blocks)),
          .threads = threads};
}

/// Threads for n elements of `size` bytes that are moved in packs.
inline Grid over_packs(std::int64_t n, std::size_t size) {
  const auto pack = static_cast<std::int64_t>(16 / size);
  return over((n + pack - 1) / pack);
}

/// A block for each row of so many columns, up to a bound.
inline Grid rows(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t most_blocks = 65535, warp = 32, most_threads = 256;
  const std::int64_t threads = std::min((columns + warp - 1) / warp * warp, most_threads);
  return {.blocks = static_cast<unsigned>(std::clamp<std::int64_t>(rows, 1, most_blocks)),
          .threads = static_cast<unsigned>(std::max(threads, warp))};
}

Status launch(KernelContext& c, const cuda::CodeImage& image, std::string_view name, DType dtype,
              const Grid& grid, void** arguments);

/// Enqueues the kernel's instance for elements of `dtype`.
template <class... Parameters>
Status launch(KernelContext& c, const Kernel<void(Parameters...)>& kernel, DType dtype,
              const Grid& grid, std::type_identity_t<Parameters>... arguments) {
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  return launch(c, kernel.image, kernel.name, dtype, grid, pointers);
}

/// Fills what follows from the dims and strides of the first `inputs`.
void complete(Broadcast& plan, int inputs);
/// A plan as kernels take it.
Broadcast broadcast_of(const arith::BroadcastPlan& plan);

/// Copies on the step's stream, within the device.
Status copy(KernelContext& c, void* to, const void* from, std::size_t bytes);
Status fill(KernelContext& c, void* to, unsigned char byte, std::size_t bytes);

} // namespace troupe::gpu
