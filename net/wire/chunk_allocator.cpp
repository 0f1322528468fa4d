#include "net/wire/chunk_allocator.hpp"

#include <mutex>
#include <vector>

#include "net/wire/wire_tensor.hpp"

namespace troupe {

namespace {

class ChunkAllocator final : public Allocator {
public:
  const char* name() const override { return "chunks"; }

  void* allocate(std::size_t bytes) override {
    if (bytes > block)
      return host_allocator().allocate(bytes);
    {
      std::scoped_lock guard(lock_);
      if (!free_.empty()) {
        void* memory = free_.back();
        free_.pop_back();
        return memory;
      }
    }
    return host_allocator().allocate(block);
  }

  void deallocate(void* memory, std::size_t bytes) override {
    if (bytes <= block) {
      std::scoped_lock guard(lock_);
      if (free_.size() < max_kept) {
        free_.push_back(memory);
        return;
      }
    }
    host_allocator().deallocate(memory, bytes);
  }

private:
  static constexpr std::size_t block =
      chunk_bytes + Allocator::alignment;     // a buffer's header besides
  static constexpr std::size_t max_kept = 16; // four pulls at full window
  std::mutex lock_;
  std::vector<void*> free_;
};

} // namespace

Allocator& chunk_allocator() {
  static ChunkAllocator* allocator =
      new ChunkAllocator; // never destroyed: buffers may outlive main
  return *allocator;
}

} // namespace troupe
