// Memory of a GPU, and memory of the host that it copies from and to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/tensor/buffer.hpp"
#include "devices/cuda/driver.hpp"

namespace troupe::cuda {

class CudaStream;
class Gpu;

/// Memory in the order of the GPU's compute stream: a block that was given back is there for what
/// is enqueued afterwards, while earlier kernels may still use it. The driver's pool keeps freed
/// blocks.
class GpuMemory final : public Allocator {
public:
  /// limit: bytes.
  GpuMemory(Gpu& gpu, std::int64_t limit) : gpu_(gpu), limit_(limit) {}
  const char* name() const override { return "gpu"; }
  MemoryKind kind() const override { return MemoryKind::device; }
  void* allocate(std::size_t bytes) override;
  void deallocate(void* memory, std::size_t bytes) override;
  Status copy(void* to, const void* from, std::size_t bytes) override;
  std::string refusal() const override;
  /// While it lives, what this thread takes is there for `stream` at once, instead of for the
  /// compute stream: for what is copied in, which then does not wait for what computes.
  class FirstUser {
  public:
    explicit FirstUser(CudaStream& stream);
    ~FirstUser();
    FirstUser(const FirstUser&) = delete;
    FirstUser& operator=(const FirstUser&) = delete;
  };
  std::int64_t limit() const { return limit_; }
  std::int64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  std::int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

private:
  Gpu& gpu_;
  std::int64_t limit_;
  std::atomic<std::int64_t> in_use_ = 0, peak_ = 0;
};

/// Page-locked memory of the host, which no other program gets meanwhile: `limit` bounds it.
/// Locking pages takes the driver tens of microseconds, so freed blocks are kept, by powers of two,
/// up to a bound.
class PinnedMemory final : public Allocator {
public:
  /// limit: bytes, as the blocks are rounded.
  PinnedMemory(Gpu& gpu, std::int64_t limit) : gpu_(gpu), limit_(limit) {}
  ~PinnedMemory() override;
  const char* name() const override { return "pinned"; }
  MemoryKind kind() const override { return MemoryKind::pinned; }
  void* allocate(std::size_t bytes) override;
  void deallocate(void* memory, std::size_t bytes) override;
  std::string refusal() const override;
  std::int64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }

private:
  static constexpr int smallest = 9, classes = 64 - smallest; // 512 bytes and more
  static constexpr std::size_t most_kept = std::size_t{1} << 30;

  void* take_kept(std::size_t index, std::size_t rounded);
  /// Kept blocks of other sizes go back to the system.
  void drop_kept();

  Gpu& gpu_;
  std::int64_t limit_;
  std::mutex lock_;
  std::array<std::vector<void*>, classes> free_; // by size
  std::size_t kept_ = 0;                         // bytes in free_
  std::atomic<std::int64_t> in_use_ = 0;         // rounded
};

} // namespace troupe::cuda
