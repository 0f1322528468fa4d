// The CPU device: host memory through a caching allocator, the node's compute pool, work done at
// once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "devices/host/device_host.hpp"

namespace troupe {

/// `name` is full. `compute` and `allocator` must outlive the device. memory_limit: bytes shown in
/// its attributes (0: the machine's).
std::unique_ptr<Device> make_cpu_device(std::string name, ComputePool& compute,
                                        Allocator& allocator, std::int64_t memory_limit = 0);

/// Devices CPU:0 … CPU:count-1 of a task such as "/job:worker/replica:0/task:1".
std::vector<std::unique_ptr<Device>> make_cpu_devices(DeviceHost& host, const std::string& task,
                                                      int count);

} // namespace troupe
