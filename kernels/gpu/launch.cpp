#include "kernels/gpu/launch.hpp"

#include "core/base/check.hpp"
#include "devices/cuda/gpu.hpp"

namespace troupe::gpu {

Result<cuda::CudaStream*> stream_of(KernelContext& c) {
  auto* stream = dynamic_cast<cuda::CudaStream*>(&c.stream());
  if (!stream) [[unlikely]]
    return internal(str_cat("the kernel of ", c.node().schema->name, " for GPUs was started on ",
                            c.device().name(), ", which is none of CUDA's"));
  return stream;
}

Status launch(KernelContext& c, const cuda::CodeImage& image, std::string_view name, DType dtype,
              const Grid& grid, void** arguments) {
  TROUPE_ASSIGN(cuda::CudaStream * stream, stream_of(c));
  TROUPE_ASSIGN(cuda::Function function,
                stream->gpu().function(image, str_cat(name, "_", literal_name(dtype))));
  return stream->launch(function, grid, arguments, c.node_name(), c.node().schema->name);
}

void complete(Broadcast& plan, int inputs) {
  for (int d = 0; d < plan.rank; ++d)
    plan.by[d] = Divider(plan.dims[d]);
  plan.run = 1;
  const int last = plan.rank - 1;
  const auto lies_in_runs_of = [&](std::int64_t run) {
    if (last < 0 || plan.dims[last] % run != 0)
      return false;
    for (int input = 0; input < inputs; ++input) {
      if (plan.strides[input][last] > 1 || plan.strides[input][last] < 0)
        return false;
      for (int d = 0; d < last && plan.strides[input][last] == 1; ++d)
        if (plan.strides[input][d] % run != 0)
          return false;
    }
    return true;
  };
  while (plan.run < 16 && lies_in_runs_of(2 * plan.run))
    plan.run *= 2;
}

Broadcast broadcast_of(const arith::BroadcastPlan& plan) {
  static_assert(Broadcast::max_rank == arith::BroadcastPlan::max_rank);
  Broadcast out;
  out.rank = plan.rank;
  std::copy(std::begin(plan.dims), std::end(plan.dims), std::begin(out.dims));
  for (int i = 0; i < plan.inputs; ++i)
    std::copy(std::begin(plan.strides[i]), std::end(plan.strides[i]), std::begin(out.strides[i]));
  complete(out, plan.inputs);
  return out;
}

Status copy(KernelContext& c, void* to, const void* from, std::size_t bytes) {
  TROUPE_ASSIGN(cuda::CudaStream * stream, stream_of(c));
  const cuda::CudaStream::Noted noted(*stream, c.node_name(), c.node().schema->name);
  return stream->copy(to, from, bytes);
}

Status fill(KernelContext& c, void* to, unsigned char byte, std::size_t bytes) {
  TROUPE_ASSIGN(cuda::CudaStream * stream, stream_of(c));
  const cuda::CudaStream::Noted noted(*stream, c.node_name(), c.node().schema->name);
  return stream->fill(to, byte, bytes);
}

} // namespace troupe::gpu
