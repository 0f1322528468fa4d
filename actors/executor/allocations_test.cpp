// Counts what a step asks the system for.
#include <doctest/doctest.h>

#include "actors/executor/testing/counted_new.hpp"
#include "actors/executor/testing/testing.hpp"
#include "devices/memory/caching_allocator.hpp"

namespace troupe {
namespace {

using testing::allocations_of;
using testing::Rig;

// After some steps, which fill caches, a step news nothing and takes no block from the system.
void check_steady_state(std::string_view text, const std::vector<Tensor>& args) {
  Rig rig(1);
  auto executable = rig.compile(text);
  rig.start(executable, args)->run(); // fills the environment
  auto& allocator = dynamic_cast<CachingAllocator&>(rig.device->allocator());
  auto step = [&] {
    std::vector<Tensor> given = args;
    StepRun::Progress progress{};
    Status status;
    std::size_t allocations = allocations_of([&] {
      StepRun run(executable, rig.environment(),
                  StepHooks{[](void*, Completion) {}, nullptr, false}, std::move(given));
      progress = run.run();
      status = run.status();
    });
    REQUIRE(progress == StepRun::Progress::finished);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    return allocations;
  };
  for (int i = 0; i < 40; ++i)
    step();
  std::uint64_t before = allocator.stats().system_allocations;
  for (int i = 0; i < 40; ++i)
    CHECK(step() == 0);
  CHECK(allocator.stats().system_allocations == before);
}

TEST_CASE("allocations: the count sees what is allocated") {
  std::unique_ptr<std::string> box;
  CHECK(allocations_of([&] { box = std::make_unique<std::string>(100, 'x'); }) == 2);
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
