// The device for CUDA: a GPU's memory and streams behind the interface of all devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/cuda/gpu.hpp"
#include "devices/device.hpp"
#include "devices/host/compute_pool.hpp"

namespace troupe::cuda {

/// `name` is full. `compute` outlives the device: kernels start on its threads, and what computes
/// on the host for nodes on GPUs does so there.
std::unique_ptr<Device> make_device(std::string name, std::shared_ptr<Gpu> gpu,
                                    ComputePool& compute);

/// GPUs that can be used, and of those that cannot, why.
struct FoundGpus {
  std::vector<std::shared_ptr<Gpu>> gpus;
  std::vector<std::string> refused; ///< a sentence each
};
/// Those of this process: made at the first call, with its settings, and there until the process
/// ends, since tensors of their memory may outlive every node. CUDA_VISIBLE_DEVICES says which ones
/// the driver knows.
const FoundGpus& gpus_of_process(const GpuSettings& settings = {});

} // namespace troupe::cuda
