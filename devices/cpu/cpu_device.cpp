#include "devices/cpu/cpu_device.hpp"

#include <fstream>
#include <string>

#include "core/base/machine.hpp"
#include "core/base/strings.hpp"
#include "devices/factory.hpp"
#include "devices/file_host.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe {

namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (auto colon = line.find(':'); colon != std::string::npos && line.starts_with("model name"))
      return std::string(str_trim(std::string_view(line).substr(colon + 1)));
  return "CPU";
}

/// Work is done when `enqueue` returns, so there is nothing to wait for.
class ImmediateStream final : public Stream {
public:
  void enqueue(std::function<void()> work) override { work(); }
  void when_done(std::function<void(Status)> done) override { done({}); }
  Status synchronize() override { return {}; }
};

class CpuDevice final : public Device, public FileHost {
public:
  CpuDevice(DeviceAttributes attributes, ComputePool& compute, Allocator& allocator)
      : Device(std::move(attributes)), compute_(compute), allocator_(allocator),
        resources_(*parsed_name().job) {}

  Allocator& allocator() override { return allocator_; }
  Allocator& host_side_allocator() override { return allocator_; }
  ComputePool& compute() override { return compute_; }
  ResourceManager& resources() override { return resources_; }
  Stream& stream() override { return stream_; }
  void copy_to_device(const Tensor& host, Stream&, CopyDone done) override { done(host); }
  void copy_to_host(const Tensor& device, Stream&, CopyDone done) override { done(device); }

private:
  ComputePool& compute_;
  Allocator& allocator_;
  ResourceManager resources_;
  ImmediateStream stream_;
};

} // namespace

std::unique_ptr<Device> make_cpu_device(std::string name, ComputePool& compute,
                                        Allocator& allocator, std::int64_t memory_limit) {
  static const std::string processor = processor_name();
  DeviceAttributes attributes;
  attributes.name = std::move(name);
  attributes.type = "CPU";
  attributes.memory_limit = memory_limit > 0 ? memory_limit : machine_memory();
  attributes.description = processor;
  return std::make_unique<CpuDevice>(std::move(attributes), compute, allocator);
}

std::vector<std::unique_ptr<Device>> make_cpu_devices(DeviceHost& host, const std::string& task,
                                                      int count) {
  std::vector<std::unique_ptr<Device>> out;
  for (int i = 0; i < count; ++i)
    out.push_back(make_cpu_device(str_cat(task, "/device:CPU:", i), *host.compute, *host.allocator,
                                  host.memory_limit));
  return out;
}

namespace {

Result<std::vector<std::unique_ptr<Device>>> make_devices(const std::string& task, int count,
                                                          DeviceHost& host) {
  return make_cpu_devices(host, task, count < 0 ? 1 : count);
}

} // namespace

DeviceFactory device_factory_cpu();
DeviceFactory device_factory_cpu() {
  return {"CPU", make_devices};
}

} // namespace troupe
