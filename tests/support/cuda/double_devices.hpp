// Device types of a node whose GPUs are those of the driver's double.
#pragma once

#include <vector>

#include "devices/factory.hpp"

namespace troupe::testing {

/// CPU, and the GPUs of the only CudaDouble that lives when a node is started; its tensors and
/// nodes end before it.
const std::vector<DeviceFactory>& double_device_factories();

} // namespace troupe::testing
