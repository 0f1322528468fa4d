// DeviceHost: the host's side of a node's devices, whatever their type: memory and threads that
// they share.
#pragma once

#include <cstdint>
#include <memory>

#include "core/tensor/buffer.hpp"
#include "devices/host/compute_pool.hpp"

namespace troupe {

/// Made before a node's devices, and outlives them.
struct DeviceHost {
  /// threads 0: one for each core. memory_limit: bytes that tensors in host memory may take
  /// together, 0: no limit.
  explicit DeviceHost(int threads = 0, std::int64_t memory_limit = 0);
  /// Tensors may outlive it: then their allocator stays until the process ends.
  ~DeviceHost();
  DeviceHost(const DeviceHost&) = delete;
  DeviceHost& operator=(const DeviceHost&) = delete;

  std::unique_ptr<Allocator> allocator; ///< of host memory, caching
  std::unique_ptr<ComputePool> compute;
  std::int64_t memory_limit; ///< as given
  /// The share of an accelerator's memory that tensors may take, up to 1; 0: its type decides. The
  /// first node of a process decides for all.
  double accelerator_share = 0;
};

} // namespace troupe
