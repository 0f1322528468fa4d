// DeviceFactory: how a node gets its devices of one type. A folder devices/NAME/ with a file
// NAME_device.cpp is a device type: that file defines `DeviceFactory device_factory_NAME()`, and
// CMake makes the list.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"

namespace troupe {

struct DeviceHost;

struct DeviceFactory {
  std::string_view type; ///< "CPU", "GPU": as in the names of its devices
  /// The devices TYPE:0 … TYPE:count-1 of a task such as "/job:worker/replica:0/task:1", which
  /// `host` outlives. count -1: as many as there should be where nobody said a number; that may be
  /// none. FAILED_PRECONDITION, naming what is missing, if there are fewer.
  Result<std::vector<std::unique_ptr<Device>>> (*make)(const std::string& task, int count,
                                                       DeviceHost& host) = nullptr;
};

/// Of every device type that this process links.
const std::vector<DeviceFactory>& device_factories();

} // namespace troupe
