// The executor runs control flow by roles: the ops here have names that it has never heard of.
#include <doctest/doctest.h>

#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"

using namespace troupe;
using testing::Rig;

TEST_CASE("roles: of an invented conditional only the branch that is taken runs") {
  Rig rig;
  auto executable = rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    p = _Arg[T=DT_BOOL, index=1]()
    s = Fork(x, p)
    no = AddV2(s:0, s:0)
    yes = Mul(s:1, s:1)
    j = Join(no, yes)
    h = Hand(j)
    r = _Retval[index=0](h)
  )");
  for (bool taken : {false, true}) {
    auto outcome = rig.run(executable, {Tensor::scalar(std::int64_t{5}), Tensor::scalar(taken)});
    CHECK(only(outcome) == (taken ? 25 : 10));
    CHECK(outcome.counters.dead == 1);
  }
}

TEST_CASE("roles: a branch of many outputs is a kernel whose outputs may be dead") {
  Rig rig;
  auto executable = rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    which = _Arg[T=DT_INT64, index=1]()
    s = Choose[N=3](x, which)
    a = AddV2(s:0, s:0)
    b = Mul(s:1, s:1)
    c = Identity(s:2)
    j = Join(a, b, c)
    r = _Retval[index=0](j)
  )");
  constexpr std::int64_t expected[] = {14, 49, 7};
  for (std::int64_t which : {0, 1, 2})
    CHECK(only(rig.run(executable, {Tensor::scalar(std::int64_t{7}), Tensor::scalar(which)})) ==
          expected[which]);
}

TEST_CASE("roles: a loop of invented ops runs its rounds") {
  Rig rig;
  auto executable = rig.compile(R"(
    n = _Arg[T=DT_INT64, index=0]()
    zero = Const[dtype=DT_INT64, value=i64[] 0]()
    one = Const[dtype=DT_INT64, value=i64[] 1]()
    i_in = Begin[frame_name="w"](zero)
    n_in = Begin[is_constant=true, frame_name="w"](n)
    one_in = Begin[is_constant=true, frame_name="w"](one)
    i = Join(i_in, i_next)
    less = Less(i, n_in)
    cond = GoOn(less)
    s = Fork(i, cond)
    plus = AddV2(s:1, one_in)
    i_next = Again(plus)
    out = Leave(s:0)
    r = _Retval[index=0](out)
  )");
  CHECK(executable->has_frames());
  for (std::int64_t rounds : {0, 1, 12})
    CHECK(only(rig.run(executable, {Tensor::scalar(rounds)})) == rounds);
}
