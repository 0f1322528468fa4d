// FakeDevice: an accelerator that a test simulates. Its memory holds every byte inverted, so that
// host code which reads it finds garbage; its stream runs when the test says so.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>

#include "devices/cpu/compute_pool.hpp"
#include "devices/device.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe::testing {

class FakeDevice final : public Device {
public:
  /// Type GPU; `name` is full.
  explicit FakeDevice(const std::string& name = "/job:test/replica:0/task:0/device:GPU:0");

  Allocator& allocator() override { return memory_; }
  Allocator& host_side_allocator() override { return host_allocator(); }
  ComputePool& compute() override { return pool_; }
  ResourceManager& resources() override { return resources_; }
  Stream& stream() override { return stream_; }
  /// Enqueued on the stream.
  void copy_to_device(const Tensor& host, std::function<void(Result<Tensor>)> done) override;
  void copy_to_host(const Tensor& device, std::function<void(Result<Tensor>)> done) override;

  /// Runs what was enqueued, in order; returns how much.
  int run_stream() { return stream_.run(); }
  std::int64_t bytes_in_use() const { return memory_.in_use; }
  /// Both copies at once, for setting up and looking.
  Tensor upload(const Tensor& host);
  Tensor download(const Tensor& device);

private:
  struct Memory final : Allocator {
    const char* name() const override { return "fake"; }
    MemoryKind kind() const override { return MemoryKind::device; }
    void* allocate(std::size_t bytes) override;
    void deallocate(void* memory, std::size_t bytes) override;
    std::atomic<std::int64_t> in_use = 0;
  };
  struct Queue final : Stream {
    void enqueue(std::function<void()> work) override { work_.push_back(std::move(work)); }
    void when_done(std::function<void(Status)> done) override {
      enqueue([done = std::move(done)] { done({}); });
    }
    Status synchronize() override {
      run();
      return {};
    }
    int run();
    std::deque<std::function<void()>> work_;
  };

  Memory memory_; // first: outlives the tensors in resources
  ComputePool pool_{1};
  ResourceManager resources_{"test"};
  Queue stream_;
};

} // namespace troupe::testing
