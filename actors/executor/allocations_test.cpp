// Counts what a step asks the system for. Every `new` of this program comes through here.
#include <cstdlib>
#include <new>

#include <doctest/doctest.h>

#include "actors/executor/testing/testing.hpp"
#include "devices/memory/caching_allocator.hpp"

namespace {

constinit thread_local bool t_is_counting = false;
constinit thread_local std::size_t t_allocations = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
  t_allocations += t_is_counting;
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes ? bytes : 1)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}

// Not inlined: g++ would take it for a mismatch with `new`.
[[gnu::noinline]] void release(void* memory) {
  std::free(memory);
}

} // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, 1);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace troupe {
namespace {

using testing::Rig;

// After some steps, which fill caches, a step news nothing and takes no block from the system.
void check_steady_state(std::string_view text, const std::vector<Tensor>& args) {
  Rig rig(1);
  auto executable = rig.compile(text);
  rig.start(executable, args)->run(); // fills the environment
  auto& allocator = dynamic_cast<CachingAllocator&>(rig.device->allocator());
  auto step = [&](bool counts) {
    std::vector<Tensor> given = args;
    std::size_t before = t_allocations;
    t_is_counting = counts;
    {
      StepRun run(executable, rig.environment(), StepHooks{[](Completion) {}, nullptr, false},
                  std::move(given));
      StepRun::Progress progress = run.run();
      t_is_counting = false;
      REQUIRE(progress == StepRun::Progress::finished);
      REQUIRE_MESSAGE(run.status().ok(), run.status().to_string());
      t_is_counting = counts;
    }
    t_is_counting = false;
    return t_allocations - before;
  };
  for (int i = 0; i < 40; ++i)
    step(false);
  std::uint64_t before = allocator.stats().system_allocations;
  for (int i = 0; i < 40; ++i)
    CHECK(step(true) == 0);
  CHECK(allocator.stats().system_allocations == before);
}

TEST_CASE("allocations: the count sees what is allocated") {
  t_is_counting = true;
  std::size_t before = t_allocations;
  auto box = std::make_unique<std::string>(100, 'x');
  t_is_counting = false;
  CHECK(t_allocations - before == 2);
}

TEST_CASE("allocations: a step of a flat graph allocates nothing but its tensors") {
  check_steady_state(R"(
    x = _Arg[T=DT_FLOAT, index=0]()
    two = Const[dtype=DT_FLOAT, value=f32[2] 2]()
    wide = AddV2(x, two)
    a = Neg(wide)
    b = Mul(wide, a)
    big = Const[dtype=DT_FLOAT, value=f32[3,2] 1]()
    c = AddV2(b, big) ^a
    d = Identity(c)
    r = _Retval[index=0](d)
    s = _Retval[index=1](b)
    done = NoOp() ^c
  )",
                     {Tensor::of<float>({2}, {1, 2})});
}

TEST_CASE("allocations: a step with variables allocates nothing but its tensors") {
  check_steady_state(R"(
    v = Variable[dtype=DT_INT64]()
    x = _Arg[T=DT_INT64, index=0]()
    first = Assign(v, x)
    more = Accumulate(first, x)
    read = Identity(more)
    r = _Retval[index=0](read)
  )",
                     {Tensor::scalar(std::int64_t{3})});
}

TEST_CASE("allocations: a step with a loop allocates nothing but its tensors") {
  check_steady_state(R"(
    zero = Const[dtype=DT_INT32, value=i32[] 0]()
    n = Const[dtype=DT_INT32, value=i32[] 30]()
    i_in = Enter[frame_name="w", parallel_iterations=4](zero)
    n_in = Enter[is_constant=true, frame_name="w", parallel_iterations=4](n)
    i = Merge(i_in, i_next)
    less = Less(i, n_in)
    cond = LoopCond(less)
    s = Switch(i, cond)
    body = Identity(s:1)
    one = Const[dtype=DT_INT32, value=i32[] 1]() ^body
    add = AddV2(body, one)
    i_next = NextIteration(add)
    out = Exit(s:0)
    r = _Retval[index=0](out)
  )",
                     {});
}

} // namespace
} // namespace troupe
