#include <doctest/doctest.h>

#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"

using namespace troupe;
using testing::i64;
using testing::Rig;

namespace {

Status compile_error(std::string_view text) {
  Rig rig;
  auto executable = Executable::compile(rig.parse(text), *rig.device, testing::library().kernels);
  REQUIRE_FALSE(executable.ok());
  return executable.status();
}

} // namespace

TEST_CASE("step errors: the first one is the step's, with its origin") {
  Rig rig;
  auto outcome = rig.run(R"(
    x = _Arg[T=DT_INT64, index=0]()
    bad = Fail(x)
    after = Neg(bad)
  )",
                         {i64(1)});
  CHECK(outcome.status.code() == Code::invalid_argument);
  CHECK(outcome.status.message() == "told to fail");
  CHECK(outcome.status.origin() == Origin{"bad", "Fail", rig.device->name(), 7});
  CHECK(rig.cancellation->is_cancelled());
  CHECK(rig.cancellation->status().derived());
}

TEST_CASE("step errors: kernels under way are cancelled and waited for; theirs are derived") {
  Rig rig;
  auto executable = rig.compile(R"(
    a = _Recv[tensor_type=DT_INT64, tensor_name="a"]()
    b = _Recv[tensor_type=DT_INT64, tensor_name="b"]()
    x = _Recv[tensor_type=DT_INT64, tensor_name="x"]()
    bad = Fail(x)
    r = _Retval[index=0](a)
  )");
  for (int i = 0; i < 3; ++i) {
    auto step = rig.start(executable);
    CHECK_FALSE(rig.advance(*step));
    REQUIRE(rig.rendezvous->send("x;0:0", {i64(1), false}).ok());
    Status status = rig.finish(*step);
    CHECK(status.message() == "told to fail");
    CHECK(step->counters().derived == 2);
    CHECK(step->num_running() == 0);
  }
}

TEST_CASE("step errors: a cancelled step ends when its kernels have") {
  Rig rig;
  auto step = rig.start(rig.compile(R"(
    a = _Recv[tensor_type=DT_INT64, tensor_name="a"]()
    n = Neg(a)
  )"));
  CHECK_FALSE(rig.advance(*step));
  step->cancel(cancelled("the client went away"));
  step->cancel(aborted("too late to matter"));
  CHECK_FALSE(step->finished());
  CHECK(rig.finish(*step).message() == "the client went away");
  CHECK(step->status().code() == Code::cancelled);
  CHECK(step->counters().derived == 2);
}

TEST_CASE("step errors: a step cancelled before it began runs nothing") {
  Rig rig;
  auto step = rig.start(rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    n = Fail(x)
  )"),
                        {i64(1)});
  step->cancel(cancelled("no"));
  CHECK(step->run() == StepRun::Progress::finished);
  CHECK(step->counters().nodes == 0);
  CHECK(step->status().message() == "no");
}

TEST_CASE("step errors: a step cancelled between two slices stops there") {
  std::string text = "n0 = _Arg[T=DT_INT64, index=0]()\n";
  for (int i = 1; i <= 1000; ++i)
    str_append(text, "n", i, " = Neg(n", i - 1, ")\n");
  Rig rig;
  auto step = rig.start(rig.compile(text), {i64(5)});
  REQUIRE(step->run(Duration(0)) == StepRun::Progress::yielded);
  step->cancel(cancelled("enough"));
  CHECK(rig.finish(*step).message() == "enough");
  CHECK(step->counters().nodes < 500);
}

TEST_CASE("step errors: an abort of the rendezvous reaches the receives") {
  Rig rig;
  auto step = rig.start(rig.compile("a = _Recv[tensor_type=DT_INT64, tensor_name=\"a\"]()"));
  CHECK_FALSE(rig.advance(*step));
  rig.rendezvous->abort(aborted("Cleanup 7"));
  Status status = rig.finish(*step);
  CHECK(status.code() == Code::aborted);
  CHECK(status.message() == "Cleanup 7");
  CHECK(status.origin().node == "a");
}

TEST_CASE("step errors: a run given up leaves its kernels to end on their own") {
  Rig rig;
  auto executable = rig.compile(R"(
    a = _Recv[tensor_type=DT_INT64, tensor_name="a"]()
    b = _Recv[tensor_type=DT_INT64, tensor_name="b"]()
    c = Const[dtype=DT_INT64, value=i64[] 8]()
    sum = AddV2(a, c)
    r = _Retval[index=0](sum)
  )");
  auto step = rig.start(executable);
  CHECK_FALSE(rig.advance(*step));
  step.reset();
  CHECK(rig.cancellation->is_cancelled());
  CHECK(rig.rendezvous->num_waiting() == 0);
  // The completions that come too late belong to nobody.
  auto next = rig.start(executable);
  CHECK_FALSE(rig.advance(*next));
  CHECK(next->num_running() == 2);
  REQUIRE(rig.rendezvous->send("a;0:0", {i64(1), false}).ok());
  REQUIRE(rig.rendezvous->send("b;0:0", {i64(2), false}).ok());
  CHECK(rig.finish(*next).ok());
  CHECK(next->retvals()[0].value<std::int64_t>() == 9);
}

TEST_CASE("step errors: outputs must be there and of their type, exceptions become errors") {
  Rig rig;
  auto run = [&](const char* op) {
    return rig.run(str_cat("x = _Arg[T=DT_INT64, index=0]()\ny = ", op, "(x)\n"), {i64(1)}).status;
  };
  CHECK(run("Unset").code() == Code::internal);
  CHECK(run("Unset").message() == "Missing 0-th output from node 'y'");
  CHECK(run("WrongType").message() ==
        "Output 0 of type string does not match declared output type int64 for node 'y'");
  const Status no_memory = run("Throw");
  CHECK(no_memory.code() == Code::resource_exhausted);
  CHECK(no_memory.message().find("no memory for what the kernel computes with") !=
        std::string::npos);
}

TEST_CASE("step errors: a Switch wants one boolean") {
  Rig rig;
  auto outcome = rig.run(R"(
    x = _Arg[T=DT_INT64, index=0]()
    p = _Arg[T=DT_BOOL, index=1]()
    s = Switch(x, p)
  )",
                         {i64(1), Tensor::vector<bool>({true, false})});
  CHECK(outcome.status.message() == "The second input must be a scalar, but it has shape [2]");
}

TEST_CASE("step errors: what cannot run is refused when it is compiled") {
  CHECK(
      compile_error("a = _Arg[T=DT_INT64, index=0]()\nb = _Arg[T=DT_INT64, index=0]()").message() ==
      "two _Arg nodes have index 0");
  CHECK(compile_error("a = _Arg[T=DT_INT64, index=-1]()").origin().node == "a");
  CHECK(compile_error("a = Const[dtype=DT_FLOAT, value=i64[] 1]()").code() ==
        Code::invalid_argument);
  Status status = compile_error("a = _Arg[T=DT_VARIANT, index=0]()\nb = Add[T=DT_STRING](c, c)\n"
                                "c = _Arg[T=DT_STRING, index=1]()\nd = AddN[N=1, T=DT_VARIANT](e)\n"
                                "e = _Arg[T=DT_VARIANT, index=2]()");
  CHECK(status.code() == Code::not_found);
}

TEST_CASE("step errors: without memory, a step that was asked tells what it holds") {
  Rig rig(1);
  constexpr std::string_view text = R"(
    x = _Arg[T=DT_INT64, index=0]()
    small = Const[dtype=DT_INT64, value=i64[] 3]()
    held = Neg(x)
    first = AddV2(small, x)
    bad = Exhaust(held)
    sum = AddV2(held, bad)
    more = AddV2(first, sum)
    r = _Retval[index=0](more)
  )";
  const Tensor x = Tensor::zeros(DType::int64, Shape{1024});
  auto plain = rig.run(text, {x});
  CHECK(plain.status.code() == Code::resource_exhausted);
  CHECK(plain.status.message().find("Current usage") == std::string::npos);
  rig.report_allocations = true;
  auto outcome = rig.run(text, {x});
  CHECK(outcome.status.code() == Code::resource_exhausted);
  CHECK(outcome.status.origin().node == "bad");
  const std::string& message = outcome.status.message();
  INFO(message);
  CHECK(message.find("Current usage from device: " + rig.device->name()) != std::string::npos);
  CHECK(message.find("8.0KiB from held\n") != std::string::npos);
}
