#include "devices/cuda/cuda_device.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "devices/factory.hpp"
#include "devices/host/device_host.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe {
namespace cuda {
namespace {

class CudaDevice final : public Device {
public:
  CudaDevice(DeviceAttributes attributes, std::shared_ptr<Gpu> gpu, ComputePool& compute)
      : Device(std::move(attributes)), gpu_(std::move(gpu)), compute_(compute),
        resources_(*parsed_name().job) {}

  Allocator& allocator() override { return gpu_->memory(); }
  Allocator& host_side_allocator() override { return gpu_->pinned(); }
  ComputePool& compute() override { return compute_; }
  ResourceManager& resources() override { return resources_; }
  Stream& stream() override { return gpu_->compute(); }
  void copy_to_device(const Tensor& host, Stream& stream, CopyDone done) override {
    done(copy_in(host, stream));
  }
  void copy_to_host(const Tensor& device, Stream& stream, CopyDone done) override;

private:
  Result<Tensor> copy_in(const Tensor& host, Stream& stream);
  Status copy_in_pieces(const Tensor& host, Tensor& pinned, Tensor& out);

  std::shared_ptr<Gpu> gpu_; // first: outlives the tensors in resources
  ComputePool& compute_;
  ResourceManager resources_;
};

Result<CudaStream*> of_gpu(Stream& stream) {
  auto* found = dynamic_cast<CudaStream*>(&stream);
  if (!found)
    return internal("a GPU's copy was asked for on a stream of another device");
  return found;
}

Status stays_on_the_host(const Tensor& tensor) {
  if (!is_object(tensor.dtype()))
    return {};
  return invalid_argument(str_cat("a tensor of ", to_string(tensor.dtype()),
                                  " stays in the host's memory, a GPU has none for it"));
}

// The first pieces cross while the host copies the next ones, with all threads that are idle.
Status CudaDevice::copy_in_pieces(const Tensor& host, Tensor& pinned, Tensor& out) {
  constexpr std::int64_t piece = 8 << 20, share = 64 << 10; // bytes
  constexpr double nanos_of_share = share * 0.1;
  const auto bytes = static_cast<std::int64_t>(host.byte_size());
  const auto* from = static_cast<const std::byte*>(host.raw());
  auto* through = static_cast<std::byte*>(pinned.mutable_raw());
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  for (std::int64_t at = 0; at < bytes; at += piece) {
    const std::int64_t end = std::min(at + piece, bytes);
    compute_.parallel_for(
        (end - at + share - 1) / share, nanos_of_share, [&](std::int64_t first, std::int64_t last) {
          const std::int64_t begin = at + first * share;
          const std::int64_t count = std::min(at + last * share, end) - begin;
          std::memcpy(through + begin, from + begin, static_cast<std::size_t>(count));
        });
    TROUPE_TRY(
        gpu_->copies_in().copy_in(to + at, through + at, static_cast<std::size_t>(end - at)));
  }
  return {};
}

// What comes later on `stream` waits for the copy on the GPU, so nobody waits for it here.
Result<Tensor> CudaDevice::copy_in(const Tensor& host, Stream& stream) {
  TROUPE_TRY(stays_on_the_host(host));
  TROUPE_ASSIGN(CudaStream * user, of_gpu(stream));
  const std::size_t bytes = host.byte_size();
  const auto allocate = [&] {
    return Tensor::allocate(gpu_->memory(), host.dtype(), host.shape());
  };
  if (bytes == 0)
    return allocate();
  CudaStream& copies = gpu_->copies_in();
  const auto allocate_for_copies = [&] {
    GpuMemory::FirstUser first(copies);
    return allocate();
  };
  auto allocated = allocate_for_copies();
  TROUPE_TRY(gpu_->lost()); // says more than that there is no memory
  TROUPE_ASSIGN(Tensor out, std::move(allocated));
  Tensor source = host;
  const auto start = [&]() -> Status {
    if (host.kind() == MemoryKind::pinned)
      return copies.copy_in(out.mutable_raw(), source.raw(), bytes);
    // Other memory the board cannot read while the host goes on.
    TROUPE_ASSIGN(source, Tensor::allocate(gpu_->pinned(), host.dtype(), host.shape()));
    return copy_in_pieces(host, source, out);
  };
  const Status started = start();
  // Even after an error: the memory is given back in the order of that stream.
  const Status waits = user->wait_for(copies);
  if (!waits.ok())
    (void)user->wait_for(copies);
  copies.when_done(
      [source](const Status&) {}); // the other end is given back in the order of `user`
  TROUPE_TRY(started);
  TROUPE_TRY(waits);
  return out;
}

void CudaDevice::copy_to_host(const Tensor& device, Stream& stream, CopyDone done) {
  auto start = [&]() -> Result<Tensor> {
    TROUPE_TRY(stays_on_the_host(device));
    TROUPE_ASSIGN(CudaStream * maker, of_gpu(stream));
    auto allocated = Tensor::allocate(gpu_->pinned(), device.dtype(), device.shape());
    TROUPE_TRY(gpu_->lost()); // says more than that there is no memory
    TROUPE_ASSIGN(Tensor out, std::move(allocated));
    if (device.byte_size() > 0) {
      CudaStream& copies = gpu_->copies_out();
      TROUPE_TRY(copies.wait_for(*maker));
      TROUPE_TRY(copies.copy_out(out.mutable_raw(), device.raw(), device.byte_size()));
    }
    return out;
  };
  Result<Tensor> started = start();
  if (!started.ok() || device.byte_size() == 0) {
    done(std::move(started));
    return;
  }
  gpu_->copies_out().when_done([held = Tensor(device), out = *std::move(started),
                                done = std::move(done)](const Status& status) mutable {
    held = Tensor(); // before anybody goes on, who may count memory
    if (status.ok())
      done(std::move(out));
    else
      done(status);
  });
}

FoundGpus find_gpus(const GpuSettings& settings) {
  FoundGpus out;
#ifndef TROUPE_HAS_GPU_CODE
  (void)settings;
  out.refused.emplace_back("this build of troupe has no code for GPUs: it was made without nvcc");
  return out;
#endif
  auto libraries = Libraries::open();
  if (!libraries.ok()) {
    out.refused.push_back(libraries.status().message());
    return out;
  }
  const Driver& driver = *libraries->driver;
  int count = 0;
  if (Outcome outcome = driver.cuDeviceGetCount(&count); outcome != success)
    out.refused.push_back(failure(driver, "counting GPUs", outcome).message());
  for (Ordinal ordinal = 0; ordinal < count; ++ordinal) {
    auto gpu = Gpu::open(*libraries, ordinal, settings);
    if (gpu.ok())
      out.gpus.push_back(*std::move(gpu));
    else
      out.refused.push_back(gpu.status().message());
  }
  for (const std::string& why : out.refused) // a machine without a driver is no news
    log_warning(why);
  return out;
}

} // namespace

std::unique_ptr<Device> make_device(std::string name, std::shared_ptr<Gpu> gpu,
                                    ComputePool& compute) {
  const GpuDescription& board = gpu->description();
  DeviceAttributes attributes;
  attributes.name = std::move(name);
  attributes.type = "GPU";
  attributes.memory_limit = gpu->memory().limit();
  // As in TensorFlow, whose tools read it.
  attributes.description = str_cat("device: ", gpu->ordinal(), ", name: ", board.name,
                                   ", compute capability: ", board.major, ".", board.minor);
  return std::make_unique<CudaDevice>(std::move(attributes), std::move(gpu), compute);
}

const FoundGpus& gpus_of_process(const GpuSettings& settings) {
  static const FoundGpus& found = *new FoundGpus(find_gpus(settings));
  return found;
}

namespace {

Result<std::vector<std::unique_ptr<Device>>> make_devices(const std::string& task, int count,
                                                          DeviceHost& host) {
  std::vector<std::unique_ptr<Device>> out;
  if (count == 0)
    return out;
  const FoundGpus& found = gpus_of_process({.memory_fraction = host.accelerator_share});
  const int there = static_cast<int>(found.gpus.size());
  if (count > there) {
    std::string why;
    for (const std::string& refused : found.refused)
      str_append(why, "; ", refused);
    return failed_precondition(str_cat(task, " is to have ", count, " GPU", count == 1 ? "" : "s",
                                       ", and there ", there == 1 ? "is " : "are ", there,
                                       " of use", why));
  }
  for (int i = 0; i < (count < 0 ? there : count); ++i)
    out.push_back(make_device(str_cat(task, "/device:GPU:", i),
                              found.gpus[static_cast<std::size_t>(i)], *host.compute));
  return out;
}

} // namespace
} // namespace cuda

DeviceFactory device_factory_cuda();
DeviceFactory device_factory_cuda() {
  return {"GPU", cuda::make_devices};
}

} // namespace troupe
