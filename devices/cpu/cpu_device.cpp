#include "devices/cpu/cpu_device.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "core/base/strings.hpp"
#include "devices/memory/caching_allocator.hpp"
#include "devices/memory/machine_memory.hpp"
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

class CpuDevice final : public Device {
public:
  CpuDevice(DeviceAttributes attributes, ComputePool& compute, Allocator& allocator)
      : Device(std::move(attributes)), compute_(compute), allocator_(allocator),
        resources_(*parsed_name().job) {}

  Allocator& allocator() override { return allocator_; }
  Allocator& host_side_allocator() override { return allocator_; }
  ComputePool& compute() override { return compute_; }
  ResourceManager& resources() override { return resources_; }
  Stream& stream() override { return stream_; }
  void copy_to_device(const Tensor& host, std::function<void(Result<Tensor>)> done) override {
    done(host);
  }
  void copy_to_host(const Tensor& device, std::function<void(Result<Tensor>)> done) override {
    done(device);
  }

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

namespace {

/// What freed tensors may keep for the next ones: a step that holds more gets its pages anew from
/// the system each time, which costs as much as computing on them.
std::size_t max_cached() {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(std::int64_t{1} << 30, machine_memory() / 4));
}

} // namespace

CpuHost::CpuHost(int threads, std::int64_t memory_limit)
    : allocator(
          std::make_unique<CachingAllocator>(max_cached(), static_cast<std::size_t>(memory_limit))),
      compute(std::make_unique<ComputePool>(
          threads > 0 ? threads
                      : std::max(1, static_cast<int>(std::thread::hardware_concurrency())))),
      memory_limit(memory_limit) {}

CpuHost::~CpuHost() {
  // A fetched value belongs to its user, who may keep it longer than the session it came from.
  auto& caching = static_cast<CachingAllocator&>(*allocator);
  if (caching.stats().bytes_in_use > 0) {
    caching.trim();
    (void)allocator.release();
  }
}

std::vector<std::unique_ptr<Device>> CpuHost::make_devices(const std::string& task, int count) {
  std::vector<std::unique_ptr<Device>> out;
  for (int i = 0; i < count; ++i)
    out.push_back(
        make_cpu_device(str_cat(task, "/device:CPU:", i), *compute, *allocator, memory_limit));
  return out;
}

} // namespace troupe
