// CudaStream: a Stream on a GPU. Kernels and copies go onto it without waiting; whoever wants to
// know when they are done is called by a thread that waits for events.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devices/cuda/driver.hpp"
#include "devices/device.hpp"

namespace troupe::cuda {

class CudaTrace;
class EventWaiter;
class Gpu;

/// Blocks of threads of one launch.
struct Grid {
  unsigned blocks = 1;
  unsigned threads = 1;        ///< of a block
  unsigned rows_of_blocks = 1; ///< the grid's second dimension
};

/// Any thread.
class CudaStream final : public Stream {
public:
  /// Requires that the GPU's context is current on this thread; the GPU outlives the stream. `name`
  /// is for errors.
  static Result<std::unique_ptr<CudaStream>> make(Gpu& gpu, std::string name);
  ~CudaStream() override;

  /// Runs `work` on a thread of the driver's, so it must not use the GPU.
  void enqueue(std::function<void()> work) override;
  /// `done` is called on a thread of this stream's.
  void when_done(std::function<void(Status)> done) override;
  Status synchronize() override;
  std::unique_ptr<StreamTrace> trace() override;

  /// Waits for all work and callbacks; nothing may be enqueued afterwards. Callbacks may free
  /// memory, so a GPU ends all its streams before it destroys one.
  void end_waiting();

  Gpu& gpu() { return gpu_; }
  StreamHandle handle() const { return handle_; }

  /// Enqueues a kernel; `arguments` point to what cuLaunchKernel reads before it returns. `node`
  /// and `op` are named by the error of a kernel that fails later.
  Status launch(Function function, const Grid& grid, void** arguments, std::string_view node,
                std::string_view op);
  /// What is enqueued here from now on waits for what is enqueued on `other` by now.
  Status wait_for(CudaStream& other);
  /// Fills and copies device memory.
  Status fill(void* to, unsigned char byte, std::size_t bytes);
  Status copy(void* to, const void* from, std::size_t bytes);
  Status copy_in(void* to, const void* from,
                 std::size_t bytes); ///< from pinned memory, which must stay
  Status copy_out(void* to, const void* from,
                  std::size_t bytes); ///< to pinned memory, which must stay
  /// The kernels that may have failed, as the end of a sentence; empty: none.
  std::string suspects() const;

  /// What is enqueued while it lives is a node's: an error names it, a trace times it.
  class Noted {
  public:
    Noted(CudaStream& stream, std::string_view node, std::string_view op);
    ~Noted();
    Noted(const Noted&) = delete;
    Noted& operator=(const Noted&) = delete;

  private:
    CudaStream& stream_;
    std::vector<std::pair<CudaTrace*, std::size_t>> traces_; ///< with the span's place in each
  };

private:
  friend class CudaTrace;

  struct Suspect {
    std::string node, op;
  };

  CudaStream(Gpu& gpu, std::string name, StreamHandle handle);
  Status check(std::string_view what, Outcome outcome);
  Result<EventHandle> record();
  void finished(std::uint64_t number);
  void end_trace(CudaTrace* trace);

  Gpu& gpu_;
  std::string name_;
  StreamHandle handle_;
  mutable std::mutex noted_lock_;
  std::array<Suspect, 32> noted_; ///< the last ones
  std::uint64_t last_noted_ = 0;
  std::uint64_t last_finished_ = 0;
  std::unique_ptr<EventWaiter> waiter_;
  std::mutex traces_lock_;
  std::vector<CudaTrace*> traces_; ///< that live
  std::atomic<bool> is_traced_ = false;
};

} // namespace troupe::cuda
