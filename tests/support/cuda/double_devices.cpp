#include "tests/support/cuda/double_devices.hpp"

#include "core/base/strings.hpp"
#include "devices/cpu/cpu_device.hpp"
#include "devices/cuda/cuda_device.hpp"
#include "devices/host/device_host.hpp"
#include "tests/support/cuda/cuda_double.hpp"

namespace troupe::testing {
namespace {

using Devices = std::vector<std::unique_ptr<Device>>;

Result<Devices> make_cpus(const std::string& task, int count, DeviceHost& host) {
  return make_cpu_devices(host, task, count < 0 ? 1 : count);
}

Result<Devices> make_gpus(const std::string& task, int count, DeviceHost& host) {
  Devices out;
  CudaDouble* driver = CudaDouble::current();
  for (int i = 0; driver && i < count; ++i)
    out.push_back(
        cuda::make_device(str_cat(task, "/device:GPU:", i), driver->gpu(i), *host.compute));
  return out;
}

} // namespace

const std::vector<DeviceFactory>& double_device_factories() {
  static const std::vector<DeviceFactory> types = {{"CPU", make_cpus}, {"GPU", make_gpus}};
  return types;
}

} // namespace troupe::testing
