#include "kernels/arith/internal/scratch.hpp"
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace troupe::arith {
namespace {

constexpr size_t alignment = 64;

struct Release {
  void operator()(void* p) const { ::operator delete (p, std::align_val_t{alignment}); }
};

std::atomic<bool> guards{false};
std::atomic<int> spoilt{0};

/// A block that ends at a forbidden page, but for what aligns it.
class GuardedBlock {
public:
  explicit GuardedBlock(size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t taken = (bytes + alignment - 1) / alignment * alignment;
    mapped_ = (taken + page - 1) / page * page + page;
    void* memory =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    base_ = static_cast<char*>(memory);
    mprotect(base_ + mapped_ - page, page, PROT_NONE);
    data_ = base_ + mapped_ - page - taken;
    std::memset(data_ + bytes, pattern, taken - bytes);
    slack_ = taken - bytes;
  }
  ~GuardedBlock() {
    const char* slack = data_ + bytes_;
    if (std::any_of(slack, slack + slack_, [](char c) { return c != pattern; }))
      ++spoilt;
    munmap(base_, mapped_);
  }
  GuardedBlock(const GuardedBlock&) = delete;
  GuardedBlock& operator=(const GuardedBlock&) = delete;
  void* data() const { return data_; }

private:
  static constexpr char pattern = 0x5a;
  size_t bytes_, mapped_ = 0, slack_ = 0;
  char *base_ = nullptr, *data_ = nullptr;
};

struct Block {
  std::unique_ptr<void, Release> memory;
  size_t capacity = 0;
  std::unique_ptr<GuardedBlock> guarded;
};

} // namespace

void* thread_scratch(Scratch kind, size_t bytes) {
  static thread_local std::array<Block, num_scratch_kinds> blocks;
  Block& block = blocks[static_cast<size_t>(kind)];
  if (guards.load(std::memory_order_relaxed)) {
    block.guarded.reset();
    block.guarded = std::make_unique<GuardedBlock>(bytes);
    return block.guarded->data();
  }
  if (block.capacity < bytes) {
    block.memory.reset();
    block.capacity = 0; // also if there is no more
    block.memory.reset(::operator new (bytes, std::align_val_t{alignment}));
    block.capacity = bytes;
  }
  return block.memory.get();
}

bool runs_within(Scratch kind, size_t bytes, const std::function<void(void*)>& run) {
  if (guards.load(std::memory_order_relaxed)) {
    run(thread_scratch(kind, bytes));
    return true;
  }
  constexpr size_t least = size_t{64} << 10;
  constexpr unsigned char pattern = 0x5a;
  const size_t margin = std::max(bytes, least);
  auto* memory = static_cast<unsigned char*>(thread_scratch(kind, bytes + margin));
  std::memset(memory + bytes, pattern, margin);
  run(memory);
  return std::all_of(memory + bytes, memory + bytes + margin,
                     [](unsigned char c) { return c == pattern; });
}

GuardedScratch::GuardedScratch() {
  guards = true;
}

GuardedScratch::~GuardedScratch() {
  guards = false;
}

int GuardedScratch::num_spoilt() {
  return spoilt;
}

} // namespace troupe::arith
