#include "core/tensor/buffer.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/tensor/types.hpp"

using namespace troupe;

namespace {

/// Counts what is out, and may refuse.
class CountingAllocator final : public Allocator {
public:
  explicit CountingAllocator(MemoryKind kind = MemoryKind::host) : kind_(kind) {}
  const char* name() const override { return "counting"; }
  MemoryKind kind() const override { return kind_; }
  void* allocate(std::size_t bytes) override {
    if (refuses)
      return nullptr;
    ++blocks;
    in_use += bytes;
    return host_allocator().allocate(bytes);
  }
  void deallocate(void* memory, std::size_t bytes) override {
    --blocks;
    in_use -= bytes;
    host_allocator().deallocate(memory, bytes);
  }
  bool refuses = false;
  int blocks = 0;
  std::size_t in_use = 0;

private:
  MemoryKind kind_;
};

} // namespace

TEST_CASE("buffer: one block holds header and bytes, aligned, and goes back in full") {
  CountingAllocator allocator;
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{4096}}) {
    BufferRef buffer = Buffer::allocate(allocator, bytes);
    REQUIRE(buffer);
    CHECK(buffer->bytes() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer->data()) % Allocator::alignment == 0);
    CHECK(buffer->allocator() == &allocator);
    CHECK(allocator.blocks == 1);
    buffer = {};
    CHECK(allocator.blocks == 0);
    CHECK(allocator.in_use == 0);
  }
}

TEST_CASE("buffer: the header of device memory lies on the host") {
  CountingAllocator allocator(MemoryKind::device);
  {
    BufferRef buffer = Buffer::allocate(allocator, 128);
    CHECK(buffer->kind() == MemoryKind::device);
    CHECK(allocator.in_use == 128);
    BufferRef empty = Buffer::allocate(allocator, 0);
    REQUIRE(empty);
    CHECK(allocator.in_use == 129);
  }
  CHECK(allocator.in_use == 0);
}

TEST_CASE("buffer: no room gives none") {
  CountingAllocator allocator;
  CHECK_FALSE(Buffer::allocate(allocator, SIZE_MAX));
  CHECK_FALSE(Buffer::allocate(allocator, SIZE_MAX - 32));
  allocator.refuses = true;
  CHECK_FALSE(Buffer::allocate(allocator, 8));
  CHECK_FALSE(Buffer::objects(DType::string, SIZE_MAX));
  CHECK_FALSE(Buffer::objects(DType::string, SIZE_MAX / 40));
  CHECK(host_allocator().allocate(SIZE_MAX) == nullptr);
}

TEST_CASE("buffer: uniqueness follows the references") {
  CountingAllocator allocator;
  BufferRef a = Buffer::allocate(allocator, 8);
  CHECK(a->is_unique());
  BufferRef b = a;
  CHECK_FALSE(a->is_unique());
  CHECK(a == b);
  BufferRef c = std::move(b);
  CHECK_FALSE(b);
  CHECK_FALSE(a->is_unique());
  const BufferRef& self = c;
  c = self;
  c = {};
  CHECK(a->is_unique());
  CHECK(allocator.blocks == 1);
}

TEST_CASE("buffer: objects are made and destroyed") {
  BufferRef strings = Buffer::objects(DType::string, 3);
  auto* text = static_cast<std::string*>(strings->data());
  text[2] = std::string(1000, 'x'); // a leak here is the sanitizer's to find
  CHECK(text[0].empty());
  CHECK(strings->bytes() == 3 * sizeof(std::string));
  CHECK(strings->allocator() == nullptr);
  BufferRef handles = Buffer::objects(DType::resource, 1);
  static_cast<ResourceHandle*>(handles->data())->name = std::string(100, 'y');
  BufferRef variants = Buffer::objects(DType::variant, 2);
  static_cast<Variant*>(variants->data())[1].metadata = std::string(100, 'z');
  CHECK(Buffer::objects(DType::string, 0)->data() == nullptr);
}

namespace {

/// Keeps account of what lies elsewhere, up to a limit.
class Account final : public Allocator {
public:
  explicit Account(std::size_t limit) : limit_(limit) {}
  const char* name() const override { return "account"; }
  void* allocate(std::size_t) override { return nullptr; }
  void deallocate(void*, std::size_t) override {}
  bool charge(std::size_t bytes) override {
    if (charged + bytes > limit_)
      return false;
    charged += bytes;
    return true;
  }
  void discharge(std::size_t bytes) override { charged -= bytes; }
  std::size_t charged = 0;

private:
  std::size_t limit_;
};

} // namespace

TEST_CASE("buffer: objects and their text are charged while they live") {
  Account account(10'000);
  constexpr std::size_t alone = 4 * sizeof(std::string);
  {
    BufferRef strings = Buffer::objects(DType::string, 4, &account);
    CHECK(account.charged == alone);
    auto* text = static_cast<std::string*>(strings->data());
    REQUIRE(strings->charge(3000)); // announced
    CHECK(account.charged == alone + 3000);
    text[1] = std::string(1000, 'x');
    REQUIRE(strings->settle(account)); // and less was written
    CHECK(account.charged == alone + 1001);
    CHECK_FALSE(strings->charge(10'000));
    text[3] = std::string(20'000, 'y');
    CHECK_FALSE(strings->settle(account));
    CHECK(account.charged == alone + 1001);
    BufferRef other = strings; // whoever shares it finds it settled
    CHECK(strings->settle(account));
  }
  CHECK(account.charged == 0);
  CHECK_FALSE(Buffer::objects(DType::string, 1000, &account));
  CHECK(account.charged == 0);
}

TEST_CASE("buffer: objects without an account are taken on by the first who settles them") {
  Account first(10'000), second(10'000);
  BufferRef strings = Buffer::objects(DType::string, 1);
  *static_cast<std::string*>(strings->data()) = std::string(100, 'x');
  BufferRef shared = strings;
  CHECK(shared->settle(first));
  CHECK(shared->settle(second));
  CHECK(first.charged == sizeof(std::string) + 101);
  CHECK(second.charged == 0);
  CHECK(strings->account() == &first);
  strings = shared = {};
  CHECK(first.charged == 0);
}

TEST_CASE(
    "buffer: objects that one account has no room for are refused again, and left to others") {
  Account small(100), large(10'000);
  BufferRef strings = Buffer::objects(DType::string, 1);
  *static_cast<std::string*>(strings->data()) = std::string(1000, 'x');
  BufferRef shared = strings;
  CHECK_FALSE(shared->settle(small));
  CHECK_FALSE(shared->settle(small));
  CHECK(small.charged == 0);
  CHECK(shared->settle(host_allocator())); // has no limit to count against
  CHECK(shared->account() == nullptr);
  CHECK(shared->settle(large));
  CHECK(large.charged == sizeof(std::string) + 1001);
}

TEST_CASE("buffer: foreign memory is released once, by the last reference") {
  int memory[4] = {1, 2, 3, 4};
  int released = 0;
  {
    BufferRef buffer = Buffer::wrap(memory, sizeof memory, [&](void* p) {
      CHECK(p == memory);
      ++released;
    });
    BufferRef other = buffer;
    CHECK(buffer->data() == memory);
    CHECK(buffer->kind() == MemoryKind::host);
    CHECK(buffer->allocator() == nullptr);
    buffer = {};
    CHECK(released == 0);
  }
  CHECK(released == 1);
}

TEST_CASE("buffer: many threads share and drop one") {
  CountingAllocator allocator; // touched by the last dropper alone
  {
    BufferRef buffer = Buffer::allocate(allocator, 64);
    *static_cast<int*>(buffer->data()) = 42;
    std::vector<std::thread> threads;
    std::vector<int> seen(8);
    for (std::size_t t = 0; t < seen.size(); ++t)
      threads.emplace_back([&seen, t, mine = buffer]() mutable {
        for (int i = 0; i < 1000; ++i) {
          BufferRef copy = mine;
          seen[t] = *static_cast<int*>(copy->data());
        }
        mine = {};
      });
    buffer = {};
    for (auto& t : threads)
      t.join();
    CHECK(seen == std::vector<int>(8, 42));
  }
  CHECK(allocator.blocks == 0);
}
