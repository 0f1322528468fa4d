#include "kernels/arith/internal/scratch.hpp"
#include <array>
#include <memory>
#include <new>

namespace troupe::arith {
namespace {

struct Release {
  void operator()(void* p) const { ::operator delete (p, std::align_val_t{64}); }
};

struct Block {
  std::unique_ptr<void, Release> memory;
  size_t capacity = 0;
};

} // namespace

void* thread_scratch(Scratch kind, size_t bytes) {
  static thread_local std::array<Block, 4> blocks;
  Block& block = blocks[static_cast<size_t>(kind)];
  if (block.capacity < bytes) {
    block.memory.reset();
    block.capacity = 0; // also if there is no more
    block.memory.reset(::operator new (bytes, std::align_val_t{64}));
    block.capacity = bytes;
  }
  return block.memory.get();
}

} // namespace troupe::arith
