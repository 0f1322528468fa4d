#include "devices/memory/caching_allocator.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "core/tensor/tensor.hpp"
#include "devices/memory/internal/size_class.hpp"

using namespace troupe;

namespace {

struct Block {
  unsigned char* memory;
  std::size_t bytes;
  unsigned char mark;
};

Block take(CachingAllocator& allocator, std::size_t bytes, unsigned char mark) {
  auto* memory = static_cast<unsigned char*>(allocator.allocate(bytes));
  std::memset(memory, mark, bytes);
  return {memory, bytes, mark};
}

/// Gives it back; false if somebody wrote into it.
bool drop(CachingAllocator& allocator, const Block& block) {
  bool intact = true;
  for (std::size_t i = 0; i < block.bytes; i += 1 + block.bytes / 64)
    intact = intact && block.memory[i] == block.mark;
  allocator.deallocate(block.memory, block.bytes);
  return intact;
}

} // namespace

TEST_CASE("size classes: every request fits its class and wastes a quarter at most") {
  for (int i = 0; i < memory::classes; ++i) {
    CAPTURE(i);
    std::size_t bytes = memory::class_bytes(i);
    CHECK(bytes % 64 == 0);
    CHECK(memory::class_of(bytes) == i);
    if (i + 1 < memory::classes)
      CHECK(memory::class_of(bytes + 1) == i + 1);
  }
  for (std::size_t bytes = 1; bytes < 300000; bytes += 1 + bytes / 97) {
    std::size_t block = memory::class_bytes(memory::class_of(bytes));
    REQUIRE(block >= bytes);
    REQUIRE(block <= bytes + 63 + bytes / 4);
  }
  for (std::size_t payload = 64; payload <= std::size_t{1} << 40; payload *= 2)
    CHECK(memory::class_bytes(memory::class_of(payload + 64)) == payload + 64);
}

TEST_CASE("caching allocator: blocks are aligned, apart, and come back") {
  CachingAllocator allocator;
  std::vector<Block> blocks;
  for (std::size_t bytes :
       {1ul, 8ul, 64ul, 65ul, 100ul, 4096ul, 32768ul, 32832ul, 32833ul, 1ul << 20, 9ul << 20})
    for (int i = 0; i < 3; ++i)
      blocks.push_back(take(allocator, bytes, static_cast<unsigned char>(blocks.size())));
  for (const Block& b : blocks) {
    CHECK(reinterpret_cast<std::uintptr_t>(b.memory) % Allocator::alignment == 0);
    CHECK(drop(allocator, b));
  }
  auto before = allocator.stats();
  CHECK(before.bytes_in_use == 0);
  CHECK(before.allocations == blocks.size());
  for (Block& b : blocks)
    b = take(allocator, b.bytes, b.mark);
  CHECK(allocator.stats().system_allocations == before.system_allocations);
  for (const Block& b : blocks)
    CHECK(drop(allocator, b));
}

TEST_CASE("caching allocator: a steady state asks nothing of the system") {
  CachingAllocator allocator;
  auto step = [&] {
    std::vector<Tensor> live;
    for (std::int64_t n : {1, 10, 100, 1000, 10000, 100000}) {
      auto t = Tensor::allocate(allocator, DType::float32, Shape{n});
      REQUIRE(t.ok());
      live.push_back(*std::move(t));
    }
  };
  step();
  std::uint64_t first = allocator.stats().system_allocations;
  for (int i = 0; i < 100; ++i)
    step();
  CHECK(allocator.stats().system_allocations == first);
  CHECK(allocator.stats().allocations == 606);
}

TEST_CASE("caching allocator: statistics count bytes as asked for") {
  CachingAllocator allocator;
  void* a = allocator.allocate(1000);
  void* b = allocator.allocate(1 << 20);
  CHECK(allocator.stats().bytes_in_use == 1000 + (1 << 20));
  allocator.deallocate(b, 1 << 20);
  CHECK(allocator.stats().bytes_in_use == 1000);
  CHECK(allocator.stats().peak_bytes_in_use == 1000 + (1 << 20));
  CHECK(allocator.stats().bytes_cached >= 1 << 20);
  allocator.deallocate(a, 1000);
  CHECK(allocator.stats().bytes_in_use == 0);
  CHECK(std::string(allocator.name()) == "cpu");
  CHECK(allocator.kind() == MemoryKind::host);
}

TEST_CASE("caching allocator: trimming gives everything back") {
  CachingAllocator allocator;
  for (std::size_t bytes : {100ul, 10000ul, 1ul << 20})
    allocator.deallocate(allocator.allocate(bytes), bytes);
  CHECK(allocator.stats().bytes_cached > 0);
  allocator.trim();
  CHECK(allocator.stats().bytes_cached == 0);
  std::uint64_t before = allocator.stats().system_allocations;
  allocator.deallocate(allocator.allocate(100), 100);
  CHECK(allocator.stats().system_allocations == before + 1);
}

TEST_CASE("caching allocator: keeps no more than it may") {
  SUBCASE("nothing") {
    CachingAllocator allocator(0);
    for (std::size_t bytes : {1ul, 1000ul, 1ul << 20})
      allocator.deallocate(allocator.allocate(bytes), bytes);
    CHECK(allocator.stats().bytes_cached == 0);
    CHECK(allocator.stats().system_allocations == 3);
  }
  SUBCASE("little") {
    constexpr std::size_t most = 1 << 20;
    CachingAllocator allocator(most);
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i)
      blocks.push_back(allocator.allocate(10000));
    for (void* b : blocks)
      allocator.deallocate(b, 10000);
    CHECK(allocator.stats().bytes_cached > std::int64_t(most) / 2);
    CHECK(allocator.stats().bytes_cached <= std::int64_t(most));
  }
  SUBCASE("much, many small ones on many threads") {
    constexpr std::size_t most = 16 << 20;
    CachingAllocator allocator(most);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        std::vector<void*> blocks;
        for (int i = 0; i < 5000; ++i)
          blocks.push_back(allocator.allocate(2000));
        for (void* b : blocks)
          allocator.deallocate(b, 2000);
      });
    for (auto& t : threads)
      t.join();
    CHECK(allocator.stats().bytes_in_use == 0);
    CHECK(allocator.stats().bytes_cached > 0);
    CHECK(allocator.stats().bytes_cached <= std::int64_t(most));
  }
}

TEST_CASE("caching allocator: the limit bounds bytes in use") {
  CachingAllocator allocator(1 << 30, 10000);
  void* a = allocator.allocate(6000);
  REQUIRE(a);
  CHECK(allocator.allocate(4001) == nullptr);
  CHECK(allocator.allocate(1 << 20) == nullptr);
  void* b = allocator.allocate(4000);
  CHECK(b);
  CHECK(allocator.stats().bytes_in_use == 10000);
  allocator.deallocate(a, 6000);
  a = allocator.allocate(6000);
  CHECK(a);
  allocator.deallocate(a, 6000);
  allocator.deallocate(b, 4000);
  CHECK(Tensor::allocate(allocator, DType::float32, Shape{10000}).status().code() ==
        Code::resource_exhausted);
}

TEST_CASE("caching allocator: what lies elsewhere counts against the limit") {
  CachingAllocator allocator(1 << 30, 1 << 20);
  CHECK(allocator.charge(600'000));
  CHECK_FALSE(allocator.charge(600'000));
  CHECK(allocator.allocate(600'000) == nullptr);
  CHECK(allocator.stats().bytes_in_use == 600'000);
  void* small = allocator.allocate(10'000); // counted by its thread at first
  REQUIRE(small);
  CHECK_FALSE(allocator.charge((1 << 20) - 605'000));
  allocator.deallocate(small, 10'000);
  allocator.discharge(600'000);
  CHECK(allocator.charge(1 << 20));
  CHECK_FALSE(allocator.charge(SIZE_MAX));
  allocator.discharge(1 << 20);
  CHECK(allocator.stats().bytes_in_use == 0);

  auto text = Tensor::allocate(allocator, DType::string, Shape{2});
  REQUIRE(text.ok());
  text->mutable_data<std::string>()[0] = std::string(2 << 20, 'x');
  Status refused = text->settle(allocator);
  CHECK(refused.code() == Code::resource_exhausted);
  CHECK(refused.message().find("Raise memory-limit") != std::string::npos);
  CHECK(refused.message().find("string tensor of shape [2]") != std::string::npos);
}

TEST_CASE("caching allocator: blocks that are kept go back when the limit is near") {
  CachingAllocator allocator(1 << 30, 10 << 20);
  void* a = allocator.allocate(6 << 20);
  allocator.deallocate(a, 6 << 20);
  CHECK(allocator.stats().bytes_cached >= 6 << 20);
  void* b = allocator.allocate(9 << 20); // of another size
  REQUIRE(b);
  CHECK(allocator.stats().bytes_cached < 1 << 20);
  allocator.deallocate(b, 9 << 20);
}

TEST_CASE("caching allocator: small blocks of many threads keep near the limit") {
  constexpr std::int64_t limit = 4 << 20;
  CachingAllocator allocator(1 << 30, limit);
  std::vector<std::thread> threads;
  std::vector<std::vector<void*>> blocks(4);
  for (auto& mine : blocks)
    threads.emplace_back([&] {
      while (void* block = allocator.allocate(1024))
        mine.push_back(block);
      CHECK(mine.size() < 2 * limit / 1024);
    });
  for (auto& t : threads)
    t.join();
  CHECK(allocator.stats().bytes_in_use <= limit + 4 * (64 << 10));
  CHECK(allocator.stats().bytes_in_use > limit / 2);
  for (auto& mine : blocks)
    for (void* block : mine)
      allocator.deallocate(block, 1024);
  CHECK(allocator.stats().bytes_in_use == 0);
}

TEST_CASE("caching allocator: absurd sizes are refused") {
  CachingAllocator allocator;
  CHECK(allocator.allocate(SIZE_MAX) == nullptr);
  CHECK(allocator.allocate(memory::max_request + 1) == nullptr);
  CHECK(allocator.stats().bytes_in_use == 0);
  allocator.deallocate(nullptr, 8);
}

TEST_CASE("caching allocator: blocks freed on another thread are used again") {
  CachingAllocator allocator;
  std::vector<void*> blocks;
  auto round = [&] {
    for (int i = 0; i < 2000; ++i)
      blocks.push_back(allocator.allocate(256));
    std::thread([&] {
      for (void* b : blocks)
        allocator.deallocate(b, 256);
    }).join();
    blocks.clear();
  };
  round();
  std::uint64_t first = allocator.stats().system_allocations;
  for (int i = 0; i < 5; ++i)
    round();
  CHECK(allocator.stats().system_allocations == first);
  CHECK(allocator.stats().bytes_in_use == 0);
  CHECK(allocator.stats().peak_bytes_in_use >= 2000 * 256 - (64 << 10));
}

TEST_CASE("caching allocator: a thread's end hands its blocks on") {
  CachingAllocator allocator;
  for (int i = 0; i < 10; ++i)
    std::thread([&] { allocator.deallocate(allocator.allocate(500), 500); }).join();
  CHECK(allocator.stats().system_allocations == 1);
  CHECK(allocator.stats().allocations == 10);
}

TEST_CASE("caching allocator: a thread may use it while it ends") {
  CachingAllocator allocator;
  struct Late {
    CachingAllocator* allocator = nullptr;
    void* memory = nullptr;
    ~Late() {
      if (allocator)
        allocator->deallocate(memory, 300);
    }
  };
  std::thread([&] {
    thread_local Late late; // made first, so destroyed after the thread's cache
    late.allocator = &allocator;
    late.memory = allocator.allocate(300);
  }).join();
  CHECK(allocator.stats().bytes_in_use == 0);
}

TEST_CASE("caching allocator: allocators live and die beside each other") {
  std::mutex lock;
  std::vector<std::unique_ptr<CachingAllocator>> all;
  for (int i = 0; i < 40; ++i) // more than a thread's table of shortcuts
    all.push_back(std::make_unique<CachingAllocator>());
  std::thread worker([&] {
    for (int round = 0; round < 3; ++round)
      for (auto& one : all)
        one->deallocate(one->allocate(128), 128);
    std::scoped_lock guard(lock);
  });
  for (auto& one : all) {
    void* p = one->allocate(128);
    one->deallocate(p, 128);
  }
  worker.join();
  for (auto& one : all)
    CHECK(one->stats().allocations == 4);
  all.clear();
  // Their successors find no trace of them, wherever in memory they lie.
  for (int i = 0; i < 200; ++i) {
    CachingAllocator next;
    void* p = next.allocate(128);
    next.deallocate(p, 128);
    REQUIRE(next.stats().system_allocations == 1);
  }
}

TEST_CASE("caching allocator: an allocator may end before the threads that used it") {
  std::optional<CachingAllocator> allocator(std::in_place);
  std::mutex lock;
  std::unique_lock held(lock);
  std::mutex used_lock;
  std::unique_lock used(used_lock);
  bool done = false;
  std::thread worker([&] {
    {
      std::scoped_lock guard(used_lock); // waits until the main thread asks for it
      allocator->deallocate(allocator->allocate(128), 128);
      done = true;
    }
    std::scoped_lock guard(lock); // ends only after the allocator
  });
  used.unlock();
  while (true) {
    std::scoped_lock guard(used_lock);
    if (done)
      break;
    std::this_thread::yield();
  }
  allocator.reset();
  held.unlock();
  worker.join();
  CHECK(done);
}

TEST_CASE("caching allocator: random traffic between threads keeps every block whole") {
  CachingAllocator allocator;
  std::mutex lock;
  std::vector<Block> pool; // handed from thread to thread
  std::atomic<int> broken{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t + 1);
      for (int i = 0; i < 3000; ++i) {
        std::size_t bytes = std::size_t{1} << (random() % 17);
        Block mine =
            take(allocator, bytes + random() % bytes, static_cast<unsigned char>(random()));
        std::optional<Block> old;
        {
          std::scoped_lock guard(lock);
          if (pool.size() > 100) {
            std::size_t at = random() % pool.size();
            old = pool[at];
            pool[at] = mine;
          } else {
            pool.push_back(mine);
          }
        }
        if (old && !drop(allocator, *old))
          ++broken;
        if (i % 500 == 499)
          allocator.trim();
      }
    });
  for (auto& t : threads)
    t.join();
  for (const Block& b : pool)
    if (!drop(allocator, b))
      ++broken;
  CHECK(broken == 0);
  CHECK(allocator.stats().bytes_in_use == 0);
  CHECK(allocator.stats().allocations == 12000);
}
