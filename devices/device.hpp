// Device: memory, compute and resources that kernels run with. One interface for CPUs, accelerators
// and simulated devices.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/device_name.hpp"
#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe {

class ComputePool;
class ResourceManager;

/// What others may know of a device; fixed for the life of the process.
struct DeviceAttributes {
  std::string name;              ///< full: /job:…/replica:…/task:…/device:CPU:0
  std::string type;              ///< "CPU", "GPU"
  std::int64_t memory_limit = 0; ///< bytes
  std::uint64_t incarnation = 0; ///< random, non-zero, new at every process start
  std::string description;       ///< for people: the processor's or board's name
  friend bool operator==(const DeviceAttributes&, const DeviceAttributes&) = default;
};

/// A node's work on a stream, as the device timed it: microseconds since 1970.
struct StreamSpan {
  std::string node, op;
  std::int64_t start_us = 0, end_us = 0;
};

/// While it lives, a stream's work is timed. It ends before its stream.
class StreamTrace {
public:
  virtual ~StreamTrace() = default;
  /// What was enqueued since it began, of whichever step, in order. To be asked for once that is
  /// done: it waits for the stream otherwise.
  virtual std::vector<StreamSpan> take() = 0;
};

/// An ordered queue of work on a device. On a CPU, work is done when `enqueue` returns; on an
/// accelerator it runs later, in order.
class Stream {
public:
  virtual ~Stream() = default;
  /// Runs `work` after everything enqueued before.
  virtual void enqueue(std::function<void()> work) = 0;
  /// Calls `done` (from any thread) when everything enqueued so far has finished, with the first
  /// error of the stream.
  virtual void when_done(std::function<void(Status)> done) = 0;
  /// Blocks until then.
  virtual Status synchronize() = 0;
  /// Null where work is done when `enqueue` returns, or cannot be timed.
  virtual std::unique_ptr<StreamTrace> trace() { return nullptr; }
};

/// Called with the copied tensor, or with the error.
using CopyDone = std::function<void(Result<Tensor>)>;

/// Safe for any thread. Lives as long as its node (or a session's private copy of it).
class Device {
public:
  virtual ~Device() = default;
  const DeviceAttributes& attributes() const { return attributes_; }
  const std::string& name() const { return attributes_.name; }
  const std::string& type() const { return attributes_.type; }
  const DeviceName& parsed_name() const { return parsed_name_; }

  /// Where kernels' outputs live. On a CPU, host memory.
  virtual Allocator& allocator() = 0;
  /// Host memory for this device's host-side inputs and outputs; pinned where that helps copies.
  virtual Allocator& host_side_allocator() = 0;
  bool has_own_memory() { return allocator().kind() == MemoryKind::device; }

  /// Host threads for kernels and for the parallel loops in them.
  virtual ComputePool& compute() = 0;
  /// Variables, queues and other state that outlives a step.
  virtual ResourceManager& resources() = 0;
  /// The stream on which kernels of this device enqueue where their step has none of its own.
  virtual Stream& stream() = 0;

  /// Copies between host and device memory of equal dtype and shape, after what `stream` (one of
  /// this device) was given before; `done` may be called before return, or later from any thread.
  /// Object dtypes stay on the host: INVALID_ARGUMENT. On a device without own memory both share.
  virtual void copy_to_device(const Tensor& host, Stream& stream, CopyDone done) = 0;
  virtual void copy_to_host(const Tensor& device, Stream& stream, CopyDone done) = 0;

protected:
  explicit Device(DeviceAttributes attributes);

private:
  DeviceAttributes attributes_;
  DeviceName parsed_name_;
};

/// A device with its own resources over the same memory and threads: what an isolated session gets.
/// `base` must outlive it.
std::unique_ptr<Device> make_isolated_device(Device& base);

/// The devices of one node, in order of name.
class DeviceSet {
public:
  void add(std::unique_ptr<Device> device);
  Device* find(std::string_view full_name) const; ///< null if absent
  const std::vector<std::unique_ptr<Device>>& all() const { return devices_; }
  std::vector<DeviceAttributes> attributes() const;

private:
  std::vector<std::unique_ptr<Device>> devices_;
};

} // namespace troupe
