// A second device type, for tests: FakeDevice under the name of GPU, its stream on a thread of its
// own. None where nobody asks for one.
#include "tests/support/ops/fake_device.hpp"

#include "core/base/strings.hpp"
#include "devices/factory.hpp"

namespace troupe {
namespace {

Result<std::vector<std::unique_ptr<Device>>> make_devices(const std::string& task, int count,
                                                          DeviceHost&) {
  constexpr int most = 8;
  if (count > most)
    return failed_precondition(
        str_cat(task, " is to have ", count, " GPU devices, and there are ", most));
  std::vector<std::unique_ptr<Device>> out;
  for (int i = 0; i < count; ++i)
    out.push_back(std::make_unique<testing::FakeDevice>(str_cat(task, "/device:GPU:", i),
                                                        testing::FakeDevice::Runs::on_a_thread));
  return out;
}

} // namespace

DeviceFactory device_factory_fake();
DeviceFactory device_factory_fake() {
  return {"GPU", make_devices};
}

} // namespace troupe
