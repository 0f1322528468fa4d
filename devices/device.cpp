#include "devices/device.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "devices/file_host.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe {

Device::Device(DeviceAttributes attributes) : attributes_(std::move(attributes)) {
  auto name = DeviceName::parse(attributes_.name);
  TROUPE_CHECK(name.ok() && name->is_full(),
               str_cat("'", attributes_.name, "' is not a full device name"));
  parsed_name_ = *std::move(name);
  if (attributes_.type.empty())
    attributes_.type = *parsed_name_.type;
  if (attributes_.incarnation == 0)
    attributes_.incarnation = random_id();
}

namespace {

class IsolatedDevice final : public Device, public FileHost {
public:
  explicit IsolatedDevice(Device& base)
      : Device(base.attributes()), base_(base), resources_(base.resources().default_container()) {
    allow_files(files_of(base));
  }

  Allocator& allocator() override { return base_.allocator(); }
  Allocator& host_side_allocator() override { return base_.host_side_allocator(); }
  ComputePool& compute() override { return base_.compute(); }
  ResourceManager& resources() override { return resources_; }
  Stream& stream() override { return base_.stream(); }
  void copy_to_device(const Tensor& host, Stream& stream, CopyDone done) override {
    base_.copy_to_device(host, stream, std::move(done));
  }
  void copy_to_host(const Tensor& device, Stream& stream, CopyDone done) override {
    base_.copy_to_host(device, stream, std::move(done));
  }

private:
  Device& base_;
  ResourceManager resources_;
};

auto position(const std::vector<std::unique_ptr<Device>>& devices, std::string_view name) {
  return std::lower_bound(
      devices.begin(), devices.end(), name,
      [](const std::unique_ptr<Device>& d, std::string_view n) { return d->name() < n; });
}

} // namespace

void allow_files(Device& device, std::shared_ptr<AllowedFiles> files) {
  if (auto* host = dynamic_cast<FileHost*>(&device))
    host->allow_files(std::move(files));
}

std::shared_ptr<AllowedFiles> files_of(const Device& device) {
  const auto* host = dynamic_cast<const FileHost*>(&device);
  return host ? host->files() : nullptr;
}

std::unique_ptr<Device> make_isolated_device(Device& base) {
  return std::make_unique<IsolatedDevice>(base);
}

void DeviceSet::add(std::unique_ptr<Device> device) {
  auto at = position(devices_, device->name());
  TROUPE_CHECK(at == devices_.end() || (*at)->name() != device->name(),
               str_cat("there are two devices '", device->name(), "'"));
  devices_.insert(at, std::move(device));
}

Device* DeviceSet::find(std::string_view full_name) const {
  auto at = position(devices_, full_name);
  return at != devices_.end() && (*at)->name() == full_name ? at->get() : nullptr;
}

std::vector<DeviceAttributes> DeviceSet::attributes() const {
  std::vector<DeviceAttributes> out;
  out.reserve(devices_.size());
  for (const auto& device : devices_)
    out.push_back(device->attributes());
  return out;
}

} // namespace troupe
