#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "core/tensor/literal.hpp"
#include "devices/resource/resource_manager.hpp"

using namespace troupe;

namespace {

Tensor lit(std::string_view text) {
  auto t = parse_literal(text);
  REQUIRE_MESSAGE(t.ok(), t.status().to_string());
  return *std::move(t);
}

constexpr auto add_one = [](Tensor& value) -> Status {
  for (float& x : value.mutable_data<float>())
    x += 1;
  return {};
};

/// Host memory that is full from some time on.
class ClosingAllocator final : public Allocator {
public:
  const char* name() const override { return "closing"; }
  void* allocate(std::size_t bytes) override {
    return closed ? nullptr : host_allocator().allocate(bytes);
  }
  void deallocate(void* memory, std::size_t bytes) override {
    host_allocator().deallocate(memory, bytes);
  }
  bool closed = false;
};

/// Two places for values of up to 16 bytes; whoever was shown one is done with it when we say so.
class TwoPlaces final : public VariableMemory {
public:
  BufferRef allocate_shown(std::size_t bytes) override {
    for (int i = 0; i < 2; ++i)
      if (bytes <= sizeof places[i] && !std::exchange(taken[i], true))
        return Buffer::wrap(places[i], bytes, [this, i](void*) { taken[i] = false; });
    return {};
  }
  bool holds(const void* data) const override { return data == places[0] || data == places[1]; }
  void collect() override {
    ++collections;
    if (is_done)
      shown = Tensor{};
  }
  float places[2][4] = {};
  bool taken[2] = {};
  Tensor shown;
  bool is_done = true;
  int collections = 0;
};

} // namespace

TEST_CASE("variable: without value until assigned") {
  Variable v(DType::float32);
  CHECK_FALSE(v.is_initialized());
  CHECK_FALSE(v.snapshot().has_value());
  CHECK(v.bytes() == 0);
  CHECK(v.description() == "variable f32 (not initialized)");
  bool ran = false;
  Status s = v.update([&](Tensor&) {
    ran = true;
    return Status{};
  });
  CHECK(s.code() == Code::failed_precondition);
  CHECK_FALSE(ran);
  v.assign(lit("f32[2] 1 2"));
  CHECK(v.is_initialized());
  CHECK(v.bytes() == 8);
  CHECK(v.description() == "variable f32[2]");
}

TEST_CASE("variable: updated in place when nobody else holds the buffer") {
  Variable v(DType::float32);
  v.assign(lit("f32[2] 1 2"));
  const void* before = v.snapshot().raw();
  CHECK(v.update(add_one).ok());
  CHECK(v.snapshot().raw() == before);
  CHECK(to_literal(v.snapshot()) == "f32[2] 2 3");
}

TEST_CASE("variable: a snapshot never changes under its reader") {
  Variable v(DType::float32);
  v.assign(lit("f32[2] 1 2"));
  Tensor held = v.snapshot();
  CHECK(v.update(add_one).ok());
  CHECK(to_literal(held) == "f32[2] 1 2");
  CHECK(to_literal(v.snapshot()) == "f32[2] 2 3");
  CHECK(held.is_unique());
  // What was assigned belongs to its maker until he lets go.
  Tensor mine = lit("f32[1] 5");
  v.assign(mine);
  CHECK(v.update(add_one).ok());
  CHECK(to_literal(mine) == "f32[1] 5");
}

TEST_CASE("variable: a replacing update copies nothing") {
  Variable v(DType::float32);
  Tensor first = lit("f32[2] 1 2");
  v.assign(first);
  Status s = v.update(
      [&](Tensor& value) {
        CHECK(value.raw() == first.raw());
        value = lit("f32[1] 9");
        return Status{};
      },
      false);
  CHECK(s.ok());
  CHECK(to_literal(v.snapshot()) == "f32[1] 9");
  CHECK(to_literal(first) == "f32[2] 1 2");
}

TEST_CASE("variable: foreign memory and strings are copied before they are written") {
  float memory[2] = {1, 2};
  Variable v(DType::float32);
  v.assign(Tensor(DType::float32, Shape{2}, Buffer::wrap(memory, sizeof memory, [](void*) {})));
  CHECK(v.update(add_one).ok());
  CHECK(memory[0] == 1);
  CHECK(to_literal(v.snapshot()) == "f32[2] 2 3");

  Variable text(DType::string);
  text.assign(lit("str[1] \"a\""));
  Tensor held = text.snapshot();
  CHECK(text.update([](Tensor& value) {
              value.mutable_data<std::string>()[0] += "b";
              return Status{};
            })
            .ok());
  CHECK(to_literal(held) == "str[1] \"a\"");
  CHECK(to_literal(text.snapshot()) == "str[1] \"ab\"");
}

TEST_CASE("variable: moved to memory that others see, it stays there and is updated there") {
  auto memory = std::make_shared<TwoPlaces>();
  Variable v(DType::float32);
  CHECK_FALSE(v.snapshot_in(memory).has_value());
  v.assign(lit("f32[2] 1 2"));
  CHECK(memory->holds(v.snapshot_in(memory).raw()));
  CHECK(memory->holds(v.snapshot().raw()));
  const void* place = v.snapshot().raw();
  CHECK(v.snapshot_in(memory).raw() == place);
  CHECK(v.update(add_one).ok());
  CHECK(v.snapshot().raw() == place);
  CHECK(memory->collections == 0);
  memory->shown = v.snapshot(); // to somebody who is done with it by the time of the update
  CHECK(v.update(add_one).ok());
  CHECK(v.snapshot().raw() == place);
  CHECK(to_literal(v.snapshot()) == "f32[2] 3 4");
  v.assign(lit("f32[2] 7 8")); // which lies elsewhere
  CHECK_FALSE(memory->holds(v.snapshot().raw()));
  CHECK(memory->holds(v.snapshot_in(memory).raw()));
}

TEST_CASE("variable: what is still read in memory that others see does not change") {
  auto memory = std::make_shared<TwoPlaces>();
  memory->is_done = false;
  Variable v(DType::float32);
  v.assign(lit("f32[2] 1 2"));
  memory->shown = v.snapshot_in(memory);
  CHECK(v.update(add_one).ok());
  CHECK(to_literal(memory->shown) == "f32[2] 1 2");
  CHECK(to_literal(v.snapshot()) == "f32[2] 2 3");
  CHECK(memory->holds(v.snapshot().raw())); // in the other place
  // There is no third one, and no other memory that is counted.
  Tensor too = std::exchange(memory->shown, v.snapshot());
  CHECK(v.update(add_one).code() == Code::resource_exhausted);
  CHECK(to_literal(too) == "f32[2] 1 2");
  CHECK(to_literal(memory->shown) == "f32[2] 2 3");
  CHECK(to_literal(v.snapshot()) == "f32[2] 2 3");
  too = Tensor{};
  CHECK(v.update(add_one).ok());
  CHECK(to_literal(v.snapshot()) == "f32[2] 3 4");
}

TEST_CASE("variable: what does not fit into memory that others see stays where it is") {
  auto memory = std::make_shared<TwoPlaces>();
  Variable v(DType::float32);
  v.assign(lit("f32[5] 1 2 3 4 5"));
  Tensor before = v.snapshot();
  CHECK(v.snapshot_in(memory).shares_buffer_with(before));
}

TEST_CASE("variable: errors of the update and of its copy reach the caller") {
  ClosingAllocator allocator; // outlives the variable, which holds memory of it
  Variable v(DType::float32);
  v.assign(lit("f32[1] 1"));
  CHECK(v.update([](Tensor&) { return out_of_range("too far"); }) == out_of_range("too far"));

  auto value = Tensor::allocate(allocator, DType::float32, Shape{4});
  REQUIRE(value.ok());
  v.assign(*value);
  allocator.closed = true;
  CHECK(v.update(add_one).code() == Code::resource_exhausted);
  CHECK(v.snapshot().shares_buffer_with(*value));
}

TEST_CASE("variable: the copy comes from the allocator of the value") {
  ClosingAllocator allocator;
  auto value = Tensor::allocate(allocator, DType::float32, Shape{1});
  REQUIRE(value.ok());
  value->mutable_data<float>()[0] = 1;
  Variable v(DType::float32);
  v.assign(*value);
  CHECK(v.update(add_one).ok());
  CHECK_FALSE(v.snapshot().shares_buffer_with(*value));
  CHECK(v.snapshot().buffer()->allocator() == &allocator);
  CHECK(v.snapshot().data<float>()[0] == 2);
}

TEST_CASE("variable: concurrent updates are all counted, and readers see whole values") {
  constexpr int writers = 3, rounds = 500, size = 64;
  Variable v(DType::float32);
  v.assign(Tensor::zeros(DType::float32, Shape{size}));
  std::atomic<int> torn{0};
  std::atomic<int> running{writers};
  std::vector<std::thread> threads;
  for (int w = 0; w < writers; ++w)
    threads.emplace_back([&] {
      for (int i = 0; i < rounds; ++i)
        if (!v.update(add_one).ok())
          ++torn;
      --running;
    });
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&] {
      do {
        Tensor seen = v.snapshot();
        for (float x : seen.data<float>())
          if (x != seen.data<float>()[0])
            ++torn;
      } while (running > 0);
    });
  for (auto& t : threads)
    t.join();
  CHECK(torn == 0);
  CHECK(v.snapshot().data<float>()[size - 1] == float(writers * rounds));
}
