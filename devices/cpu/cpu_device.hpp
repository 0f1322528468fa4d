// The CPU device: host memory through a caching allocator, the node's compute pool, work done at
// once.
#pragma once

#include <memory>

#include "devices/cpu/compute_pool.hpp"
#include "devices/device.hpp"

namespace troupe {

/// `name` is full. `compute` and `allocator` must outlive the device. memory_limit: bytes shown in
/// its attributes (0: the machine's).
std::unique_ptr<Device> make_cpu_device(std::string name, ComputePool& compute,
                                        Allocator& allocator, std::int64_t memory_limit = 0);

/// What a process needs to have CPU devices: a caching allocator and a pool that they share.
struct CpuHost {
  /// threads 0: one for each core. memory_limit: bytes that tensors may take together, 0: no limit.
  explicit CpuHost(int threads = 0, std::int64_t memory_limit = 0);
  /// Tensors may outlive it: then their allocator stays until the process ends.
  ~CpuHost();
  std::unique_ptr<Allocator> allocator;
  std::unique_ptr<ComputePool> compute;
  std::int64_t memory_limit; ///< as given
  /// Devices CPU:0 … CPU:count-1 of a task such as "/job:worker/replica:0/task:1".
  std::vector<std::unique_ptr<Device>> make_devices(const std::string& task, int count);
};

} // namespace troupe
