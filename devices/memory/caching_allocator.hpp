// CachingAllocator: keeps freed blocks by size class, so that a step in its steady state takes
// nothing from the system.
#pragma once

#include <cstdint>
#include <memory>

#include "core/tensor/buffer.hpp"

namespace troupe {

struct AllocatorStats {
  std::uint64_t allocations = 0;        ///< calls of allocate
  std::uint64_t system_allocations = 0; ///< those that went to the system
  std::int64_t bytes_in_use = 0;        ///< as asked for
  std::int64_t peak_bytes_in_use = 0;   ///< exact to 64 KiB for each thread
  std::int64_t bytes_cached = 0;        ///< free blocks, kept
};

/// Small blocks (to 32 KiB) come from lists of each thread without a lock, larger ones from shared
/// lists; at most `max_cached` bytes are kept. `limit` bounds bytes in use (0: none): allocate
/// returns null beyond it, and what is kept goes back to the system when both together would be
/// more. Of what other threads use in small blocks the limit sees all but 64 KiB each.
class CachingAllocator final : public Allocator {
public:
  explicit CachingAllocator(std::size_t max_cached = std::size_t{1} << 30, std::size_t limit = 0);
  ~CachingAllocator() override; ///< requires that nothing is in use, by any thread
  const char* name() const override { return "cpu"; }
  void* allocate(std::size_t bytes) override;
  void deallocate(void* memory, std::size_t bytes) override;
  bool charge(std::size_t bytes) override;
  void discharge(std::size_t bytes) override;
  /// Names the limit and what is in use.
  std::string refusal() const override;
  AllocatorStats stats() const;
  /// Gives cached blocks back to the system; those of other threads when they next run out of a
  /// size or have too many of one.
  void trim();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
