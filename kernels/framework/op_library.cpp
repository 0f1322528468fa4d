// The builder by which an op's file registers it.
#include "kernels/framework/op_library.hpp"

namespace troupe {

OpLibrary::Builder::~Builder() {
  library_.ops.add(schema_.build());
}

OpLibrary::Builder& OpLibrary::Builder::cpu_kernel(KernelFn fn, KernelOptions options) {
  library_.kernels.add(
      {.op = name_, .device_type = "CPU", .compute = fn, .options = std::move(options)});
  return *this;
}

OpLibrary::Builder& OpLibrary::Builder::cpu_kernel_async(AsyncKernelFn fn, KernelOptions options) {
  library_.kernels.add(
      {.op = name_, .device_type = "CPU", .compute_async = fn, .options = std::move(options)});
  return *this;
}

OpLibrary::Builder& OpLibrary::Builder::gpu_kernel(KernelFn fn, KernelOptions options) {
  library_.kernels.add(
      {.op = name_, .device_type = "GPU", .compute = fn, .options = std::move(options)});
  return *this;
}

OpLibrary::Builder& OpLibrary::Builder::host_kernel_on_gpu(KernelFn fn, KernelOptions options) {
  options.host_inputs = options.host_outputs = {all_args};
  return gpu_kernel(fn, std::move(options));
}

OpLibrary::Builder& OpLibrary::Builder::kernel_on_all_devices(KernelFn fn, KernelOptions options) {
  for (std::string_view type : device_types)
    library_.kernels.add(
        {.op = name_, .device_type = std::string(type), .compute = fn, .options = options});
  return *this;
}

OpLibrary::Builder& OpLibrary::Builder::async_kernel_on_all_devices(AsyncKernelFn fn,
                                                                    KernelOptions options) {
  for (std::string_view type : device_types)
    library_.kernels.add(
        {.op = name_, .device_type = std::string(type), .compute_async = fn, .options = options});
  return *this;
}

} // namespace troupe
