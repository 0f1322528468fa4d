#include <doctest/doctest.h>

#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"

using namespace troupe;
using testing::i64;
using testing::Rig;

namespace {

// Counts i from 0 to args[0] and doubles x, which begins at args[1]; `body` makes `y` of `b`.
std::string loop(int parallel, std::string_view body = "y = AddV2(b, b)") {
  std::string frame = str_cat("frame_name=\"w\", parallel_iterations=", parallel);
  return str_cat(R"(
    n = _Arg[T=DT_INT64, index=0]()
    x = _Arg[T=DT_INT64, index=1]()
    zero = Const[dtype=DT_INT64, value=i64[] 0]()
    one = Const[dtype=DT_INT64, value=i64[] 1]()
    i_in = Enter[)",
                 frame, R"(](zero)
    x_in = Enter[)",
                 frame, R"(](x)
    n_in = Enter[is_constant=true, )",
                 frame, R"(](n)
    one_in = Enter[is_constant=true, )",
                 frame, R"(](one)
    i = Merge(i_in, i_next)
    a = Merge(x_in, a_next)
    less = Less(i, n_in)
    cond = LoopCond(less)
    i_switch = Switch(i, cond)
    a_switch = Switch(a, cond)
    i_body = Identity(i_switch:1)
    b = Identity(a_switch:1)
    i_plus = AddV2(i_body, one_in)
    )",
                 body, R"(
    i_next = NextIteration(i_plus)
    a_next = NextIteration(y)
    i_out = Exit(i_switch:0)
    a_out = Exit(a_switch:0)
    r = _Retval[index=0](a_out)
  )");
}

} // namespace

TEST_CASE("loops: a while loop runs its rounds, whatever number may run at the same time") {
  for (int parallel : {1, 2, 10}) {
    Rig rig;
    auto executable = rig.compile(loop(parallel));
    CHECK(executable->has_frames());
    for (std::int64_t rounds : {0, 1, 5, 40})
      CHECK(only(rig.run(executable, {i64(rounds), i64(3)})) == 3 * (std::int64_t{1} << rounds));
  }
}

TEST_CASE("loops: no more iterations are under way than allowed") {
  for (int parallel : {1, 3}) {
    Rig rig;
    // The rounds of `a` wait for values from outside; those of `i` run ahead.
    auto step = rig.start(rig.compile(loop(parallel, R"(
      v = _Recv[tensor_type=DT_INT64, tensor_name="v"]() ^b
      y = AddV2(b, v)
    )")),
                          {i64(10), i64(0)});
    CHECK_FALSE(rig.advance(*step));
    CHECK(step->counters().iterations == static_cast<std::uint64_t>(parallel));
    CHECK(step->num_running() == 1);
    const auto waiting = step->record().nodes;
    REQUIRE(!waiting.empty());
    CHECK(waiting[0].node == "v");
    CHECK(waiting[0].frame != 0);
    CHECK(waiting[0].iteration == 0);
    for (int i = 0; i < 10; ++i)
      REQUIRE(rig.rendezvous->send(str_cat("v;", waiting[0].frame, ":", i), {i64(i), false}).ok());
    // A receive runs in the last, dead round too, and is told that nothing comes.
    REQUIRE(rig.rendezvous->send(str_cat("v;", waiting[0].frame, ":10"), {Tensor{}, true}).ok());
    CHECK(rig.finish(*step).ok());
    CHECK(step->retvals()[0].value<std::int64_t>() == 45);
  }
}

TEST_CASE("loops: asynchronous and expensive kernels work within iterations") {
  for (int parallel : {1, 10})
    for (const char* body : {"e = Elsewhere(b)\ny = AddV2(e, e)", "e = AtOnce(b)\ny = AddV2(e, e)",
                             "e = Costly(b)\nf = Costly(b)\ny = AddV2(e, f)"}) {
      Rig rig;
      CHECK(only(rig.run(loop(parallel, body), {i64(20), i64(1)})) == 1 << 20);
    }
}

TEST_CASE("loops: an inner loop runs in every round of the outer one") {
  constexpr auto body = R"(
    j_in = Enter[frame_name="inner", parallel_iterations=4](i_body)
    c_in = Enter[frame_name="inner", parallel_iterations=4](b)
    m_in = Enter[frame_name="inner", is_constant=true, parallel_iterations=4](n_in)
    u_in = Enter[frame_name="inner", is_constant=true, parallel_iterations=4](one_in)
    j = Merge(j_in, j_next)
    c = Merge(c_in, c_next)
    j_less = Less(j, m_in)
    j_cond = LoopCond(j_less)
    j_switch = Switch(j, j_cond)
    c_switch = Switch(c, j_cond)
    j_plus = AddV2(j_switch:1, u_in)
    c_plus = AddV2(c_switch:1, u_in)
    j_next = NextIteration(j_plus)
    c_next = NextIteration(c_plus)
    y = Exit(c_switch:0)
  )";
  for (int parallel : {1, 10}) {
    Rig rig;
    auto executable = rig.compile(loop(parallel, body));
    // The inner loop runs n - i rounds in round i, each of which adds one.
    for (std::int64_t n : {0, 1, 7})
      CHECK(only(rig.run(executable, {i64(n), i64(100)})) == 100 + n * (n + 1) / 2);
  }
}

TEST_CASE("loops: a loop in the branch not taken ends dead, without a round") {
  Rig rig;
  std::string text = loop(10);
  // The loop is entered through a Switch; the other side skips it.
  auto replace = [&text](std::string_view from, std::string_view to) {
    std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  };
  replace("](zero)", "](i_side)");
  replace("](x)", "](x_side:1)");
  replace("](n)", "](n_side:1)");
  replace("](one)", "](one_side)");
  replace("r = _Retval[index=0](a_out)", R"(
    p = _Arg[T=DT_BOOL, index=2]()
    x_side = Switch(x, p)
    n_side = Switch(n, p)
    there = Identity(x_side:1)
    i_side = Const[dtype=DT_INT64, value=i64[] 0]() ^there
    one_side = Const[dtype=DT_INT64, value=i64[] 1]() ^there
    other = Neg(x_side:0)
    m = Merge(a_out, other)
    f = Fail(dead_sum)
    dead_sum = AddV2(i_out, gone)
    gone = Neg(x_side:0)
    r = _Retval[index=0](m)
  )");
  auto executable = rig.compile(text);
  for (int i = 0; i < 2; ++i) {
    CHECK(only(rig.run(executable, {i64(4), i64(3), Tensor::scalar(true)})) == 48);
    CHECK(only(rig.run(executable, {i64(4), i64(3), Tensor::scalar(false)})) == -3);
  }
}

TEST_CASE("loops: a constant that waits for the pivot has its value in every round") {
  Rig rig;
  CHECK(only(rig.run(loop(10, "two = Const[dtype=DT_INT64, value=i64[] 2]() ^b\n y = Mul(b, two)"),
                     {i64(6), i64(1)})) == 64);
}

TEST_CASE("loops: a conditional in a loop takes its side anew in each round") {
  Rig rig;
  // Adds one below 5, then doubles.
  CHECK(only(rig.run(loop(3, R"(
    five = Const[dtype=DT_INT64, value=i64[] 5]() ^b
    small = Less(b, five)
    side = Switch(b, small)
    grown = AddV2(side:1, one_in)
    doubled = AddV2(side:0, side:0)
    y = Merge(doubled, grown)
  )"),
                     {i64(8), i64(0)})) == 40);
}

TEST_CASE("loops: an error in a round ends the step, and the memory serves the next") {
  Rig rig;
  auto executable = rig.compile(loop(4, R"(
    three = Const[dtype=DT_INT64, value=i64[] 3]() ^b
    early = Less(i_body, three)
    side = Switch(b, early)
    bad = Fail(side:0)
    e = Elsewhere(side:1)
    y = Merge(bad, e)
  )"));
  for (int i = 0; i < 5; ++i) {
    auto outcome = rig.run(executable, {i64(10), i64(1)});
    CHECK(outcome.status.message() == "told to fail");
    CHECK(outcome.status.origin().node == "bad");
    CHECK(only(rig.run(executable, {i64(2), i64(1)})) == 1);
  }
}

TEST_CASE("loops: a step cancelled within a loop ends") {
  Rig rig;
  auto executable = rig.compile(loop(10));
  auto step = rig.start(executable, {i64(std::int64_t{1} << 60), i64(1)});
  REQUIRE(step->run(Duration(0)) == StepRun::Progress::yielded);
  REQUIRE(step->run(Duration(0)) == StepRun::Progress::yielded);
  CHECK(!step->record().nodes.empty());
  step->cancel(cancelled("enough"));
  CHECK(rig.finish(*step).message() == "enough");
  step.reset();
  CHECK(only(rig.run(executable, {i64(3), i64(1)})) == 8);
}

TEST_CASE("loops: without Enter, Exit and NextIteration there are no frames") {
  Rig rig;
  CHECK_FALSE(rig.compile("a = NoOp()")->has_frames());
}

TEST_CASE("loops: a constant that waits for a node of the round is an input of its readers") {
  Rig rig;
  // `three` and `seven` wait for what their readers do not read; `seven` for one that reads itself.
  auto executable = rig.compile(loop(4, R"(
    three = Const[dtype=DT_INT64, value=i64[] 3]() ^i_body
    seven = Const[dtype=DT_INT64, value=i64[] 7]() ^three
    t = AddV2(b, three)
    u = AddV2(t, seven)
    y = Identity(u) ^seven
  )"));
  auto outcome = rig.run(executable, {i64(5), i64(1)});
  CHECK(only(outcome) == 1 + 5 * 10);
  auto without = rig.run(rig.compile(loop(4, R"(
    t = AddV2(b, b)
    u = AddV2(t, b)
    y = Identity(u)
  )")),
                         {i64(5), i64(1)});
  CHECK(outcome.counters.nodes == without.counters.nodes);
}

TEST_CASE("loops: what reads a constant of a branch that is not taken is dead") {
  Rig rig;
  CHECK(only(rig.run(loop(4, R"(
    five = Const[dtype=DT_INT64, value=i64[] 5]() ^b
    early = Less(i_body, five)
    side = Switch(b, early)
    taken = Identity(side:1)
    other = Identity(side:0)
    ten = Const[dtype=DT_INT64, value=i64[] 10]() ^taken
    twenty = Const[dtype=DT_INT64, value=i64[] 20]() ^other
    in_taken = AddV2(ten, ten)
    in_other = AddV2(twenty, twenty)
    y = Merge(in_taken, in_other)
  )"),
                     {i64(5), i64(0)})) == 20);
  CHECK(only(rig.run(loop(4, R"(
    two = Const[dtype=DT_INT64, value=i64[] 2]() ^b
    early = Less(i_body, two)
    side = Switch(b, early)
    taken = Identity(side:1)
    other = Identity(side:0)
    ten = Const[dtype=DT_INT64, value=i64[] 10]() ^taken
    twenty = Const[dtype=DT_INT64, value=i64[] 20]() ^other
    in_taken = AddV2(ten, ten)
    in_other = AddV2(twenty, twenty)
    y = Merge(in_taken, in_other)
  )"),
                     {i64(5), i64(0)})) == 40);
}
