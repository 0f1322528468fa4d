// FakeDevice: an accelerator that a test simulates. Its memory holds every byte inverted, so that
// host code which reads it finds garbage. Its stream runs when the test says so, or on a thread of
// its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "devices/device.hpp"
#include "devices/host/compute_pool.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe::testing {

class FakeDevice final : public Device {
public:
  enum class Runs : std::uint8_t { when_told, on_a_thread };
  /// Type GPU; `name` is full.
  explicit FakeDevice(const std::string& name = "/job:test/replica:0/task:0/device:GPU:0",
                      Runs runs = Runs::when_told);

  Allocator& allocator() override { return memory_; }
  Allocator& host_side_allocator() override { return host_allocator(); }
  ComputePool& compute() override { return pool_; }
  ResourceManager& resources() override { return resources_; }
  Stream& stream() override { return stream_; }
  /// Enqueued on the stream.
  void copy_to_device(const Tensor& host, Stream& stream, CopyDone done) override;
  void copy_to_host(const Tensor& device, Stream& stream, CopyDone done) override;

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
  class Queue final : public Stream {
  public:
    explicit Queue(Runs runs);
    ~Queue() override; ///< of a thread: once all is done
    void enqueue(std::function<void()> work) override;
    void when_done(std::function<void(Status)> done) override {
      enqueue([done = std::move(done)] { done({}); });
    }
    Status synchronize() override;
    int run();

  private:
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> work_;
    bool ending_ = false;
    std::thread thread_;
  };

  Memory memory_; // first: outlives the tensors in resources
  ComputePool pool_{1};
  ResourceManager resources_;
  Queue stream_;
};

} // namespace troupe::testing
