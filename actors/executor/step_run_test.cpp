#include "actors/executor/step_run.hpp"

#include <latch>
#include <map>

#include <doctest/doctest.h>

#include "actors/executor/internal/program.hpp"
#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"
#include "devices/host/compute_pool.hpp"

using namespace troupe;
using testing::i64;
using testing::Rig;

namespace {

constexpr auto add_graph = R"(
  a = _Arg[T=DT_INT64, index=0]()
  b = _Arg[T=DT_INT64, index=1]()
  sum = AddV2(a, b)
  r = _Retval[index=0](sum)
)";

} // namespace

TEST_CASE("step: two args are added") {
  Rig rig;
  CHECK(only(rig.run(add_graph, {i64(2), i64(3)})) == 5);
}

TEST_CASE("step: a value may be both inputs of a node") {
  Rig rig;
  CHECK(only(rig.run(R"(
    a = _Arg[T=DT_INT64, index=0]()
    sum = AddV2(a, a)
    r = _Retval[index=0](sum)
  )",
                     {i64(21)})) == 42);
}

TEST_CASE("step: an executable runs again and again on the same memory, also after a failure") {
  Rig rig;
  auto executable = rig.compile(R"(
    a = _Arg[T=DT_INT64, index=0]()
    c = Const[dtype=DT_INT64, value=i64[] 10]()
    sum = AddV2(a, c)
    both = Mul(sum, c)
    r = _Retval[index=0](both)
  )");
  for (int i = 0; i < 5; ++i) {
    CHECK(only(rig.run(executable, {i64(i)})) == (i + 10) * 10);
    CHECK(rig.run(executable, {Tensor::scalar(1.0f)}).status.code() == Code::invalid_argument);
    CHECK(rig.run(executable, {}).status.code() == Code::invalid_argument);
  }
}

TEST_CASE("step: a graph too large for a core's cache gives every node its own values") {
  constexpr std::size_t nodes = 30'000;
  std::string text = "n0 = _Arg[T=DT_INT64, index=0]()\nn1 = Identity(n0)\n";
  std::vector<std::uint64_t> factor = {1, 1}; // of the arg, in each node
  for (std::size_t i = 2; i < nodes; ++i) {
    std::size_t other = i - 1 - (i * i) % std::min<std::size_t>(i, 300);
    text += str_cat("n", i, " = AddV2(n", i - 1, ", n", other, ")\n");
    factor.push_back(factor[i - 1] + factor[other]);
  }
  Rig rig;
  auto executable = rig.compile(text + str_cat("r = _Retval[index=0](n", nodes - 1, ")"));
  REQUIRE(executable->layout().is_large);
  for (std::uint64_t x : {1, 2, 3})
    CHECK(static_cast<std::uint64_t>(
              only(rig.run(executable, {i64(static_cast<std::int64_t>(x))}))) == x * factor.back());
}

TEST_CASE("step: a result takes the place of the operand that nobody else reads, first or second") {
  Rig rig;
  for (const char* operands : {"a, b", "b, a"}) {
    auto outcome = rig.run(str_cat(R"(
      a = _Arg[T=DT_INT64, index=0]()
      b = Neg(a)
      d = Sub()",
                                   operands, R"()
      r = _Retval[index=0](a)
      s = _Retval[index=1](d)
    )"),
                           {i64(3)});
    REQUIRE_MESSAGE(outcome.status.ok(), outcome.status.to_string());
    CHECK(outcome.retvals[0].value<std::int64_t>() == 3);
    CHECK(outcome.retvals[1].value<std::int64_t>() == (operands[0] == 'a' ? 6 : -6));
  }
}

TEST_CASE("step: two steps of one executable may be under way at the same time") {
  Rig rig;
  auto executable = rig.compile(R"(
    a = _Arg[T=DT_INT64, index=0]()
    e = Elsewhere(a)
    r = _Retval[index=0](e)
  )");
  Rig other;
  auto first = rig.start(executable, {i64(1)});
  auto second = other.start(executable, {i64(2)});
  first->run();
  second->run();
  REQUIRE(other.finish(*second).ok());
  REQUIRE(rig.finish(*first).ok());
  CHECK(first->retvals()[0].value<std::int64_t>() == 1);
  CHECK(second->retvals()[0].value<std::int64_t>() == 2);
}

TEST_CASE("step: the values of constants survive kernels that work in place") {
  Rig rig;
  auto executable = rig.compile(R"(
    c = Const[dtype=DT_INT64, value=i64[2] 1 2]()
    n = Neg(c)
    m = Neg(n)
    d = AddV2(c, m)
    r = _Retval[index=0](d)
    q = _Retval[index=1](c)
  )");
  for (int i = 0; i < 3; ++i) {
    auto outcome = rig.run(executable);
    REQUIRE(outcome.status.ok());
    CHECK(outcome.retvals[0].to_string() == "i64[2] 2 4");
    CHECK(outcome.retvals[1].to_string() == "i64[2] 1 2");
  }
}

TEST_CASE("step: retvals come in order of index, gaps allowed") {
  Rig rig;
  auto executable = rig.compile(R"(
    a = _Arg[T=DT_INT64, index=4]()
    n = Neg(a)
    r = _Retval[index=9](n)
    q = _Retval[index=3](a)
  )");
  CHECK(executable->arg_indices() == std::vector{4});
  CHECK(executable->retval_indices() == std::vector{3, 9});
  auto outcome = rig.run(executable, {{}, {}, {}, {}, i64(5)});
  REQUIRE(outcome.status.ok());
  CHECK(outcome.retvals[0].value<std::int64_t>() == 5);
  CHECK(outcome.retvals[1].value<std::int64_t>() == -5);
}

TEST_CASE("step: Switch lets one side live, the other side's nodes do not run") {
  Rig rig;
  auto executable = rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    p = _Arg[T=DT_BOOL, index=1]()
    s = Switch(x, p)
    no = Neg(s:0)
    yes = Mul(s:1, s:1)
    gone = Fail(s:1)
    m = Merge(no, yes)
    r = _Retval[index=0](m)
    i = _Retval[index=1](m:1)
  )");
  auto outcome = rig.run(executable, {i64(3), Tensor::scalar(false)});
  REQUIRE_MESSAGE(outcome.status.ok(), outcome.status.to_string());
  CHECK(outcome.retvals[0].value<std::int64_t>() == -3);
  CHECK(outcome.retvals[1].value<std::int32_t>() == 0);
  CHECK(outcome.counters.dead == 2);
  CHECK(rig.run(executable, {i64(3), Tensor::scalar(true)}).status.message() == "told to fail");
}

TEST_CASE("step: a dead fetch is an error that names it") {
  Rig rig;
  auto outcome = rig.run(R"(
    x = _Arg[T=DT_INT64, index=0]()
    p = _Arg[T=DT_BOOL, index=1]()
    s = Switch(x, p)
    r = _Retval[index=6](s:1)
  )",
                         {i64(1), Tensor::scalar(false)});
  CHECK(outcome.status.code() == Code::invalid_argument);
  CHECK(outcome.status.message() == "Retval[6] does not have value");
  CHECK(outcome.status.origin().node == "r");
  CHECK(outcome.status.origin().op == "_Retval");
}

TEST_CASE("step: deadness follows control edges, ControlTrigger stops it, a dead Merge is dead") {
  Rig rig;
  auto executable = rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    p = _Arg[T=DT_BOOL, index=1]()
    s = Switch(x, p)
    dead = Neg(s:1)
    n = NoOp() ^dead
    t = ControlTrigger() ^n
    c = Const[dtype=DT_INT64, value=i64[] 8]() ^t
    gone = Const[dtype=DT_INT64, value=i64[] 9]() ^n
    f = Fail(gone)
    both = Merge(dead, gone)
    g = Fail(both)
    some = Merge(dead, c)
    r = _Retval[index=0](some)
  )");
  CHECK(only(rig.run(executable, {i64(1), Tensor::scalar(false)})) == 8);
}

TEST_CASE("step: a Merge waits for its control inputs") {
  Rig rig;
  CHECK(only(rig.run(R"(
    x = _Arg[T=DT_INT64, index=0]()
    late = Elsewhere(x)
    m = Merge(x) ^late
    r = _Retval[index=0](m)
  )",
                     {i64(4)})) == 4);
}

TEST_CASE("step: send and receive meet, and deadness crosses with them") {
  Rig rig;
  auto executable = rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    p = _Arg[T=DT_BOOL, index=1]()
    s = Switch(x, p)
    a = _Send[tensor_name="live"](s:0)
    b = _Send[tensor_name="dead"](s:1)
    y = _Recv[tensor_type=DT_INT64, tensor_name="live"]()
    z = _Recv[tensor_type=DT_INT64, tensor_name="dead"]()
    f = Fail(z)
    r = _Retval[index=0](y)
  )");
  CHECK(only(rig.run(executable, {i64(6), Tensor::scalar(false)})) == 6);
}

TEST_CASE("step: a receive holds the step without a thread until the value comes") {
  Rig rig;
  auto step = rig.start(rig.compile(R"(
    y = _Recv[tensor_type=DT_INT64, tensor_name="k"]()
    n = Neg(y)
    done = NoOp() ^n
    r = _Retval[index=0](n)
  )"));
  CHECK_FALSE(rig.advance(*step));
  CHECK(step->num_running() == 1);
  const DeviceRecord record = step->record();
  REQUIRE(record.nodes.size() == 4);
  CHECK(record.nodes[0].node == "y");
  CHECK(record.nodes[0].state == NodeRecord::State::running);
  for (const NodeRecord& node : record.nodes)
    if (node.node == "n")
      CHECK(node.missing == std::vector<std::string>{"y:0"});
    else if (node.node == "done")
      CHECK(node.missing == std::vector<std::string>{"^n"});
  REQUIRE(rig.rendezvous->send("k;0:0", {i64(9), false}).ok());
  CHECK(rig.finish(*step).ok());
  CHECK(step->retvals()[0].value<std::int64_t>() == -9);
  CHECK(step->record().nodes.empty());
}

TEST_CASE("step: a value of the wrong dtype from a receive is an internal error") {
  Rig rig;
  auto step = rig.start(rig.compile(R"(
    y = _Recv[tensor_type=DT_INT64, tensor_name="k"]()
    r = _Retval[index=0](y)
  )"));
  REQUIRE(rig.rendezvous->send("k;0:0", {Tensor::scalar(1.0f), false}).ok());
  Status status = rig.finish(*step);
  CHECK(status.code() == Code::internal);
  CHECK(status.message() ==
        "Output 0 of type float does not match declared output type int64 for node 'y'");
}

TEST_CASE(
    "step: a hundred thousand kernels that finish at once use neither the stack nor the hook") {
  std::string text = "n0 = _Arg[T=DT_INT64, index=0]()\n";
  constexpr int count = 100'000;
  for (int i = 1; i <= count; ++i)
    str_append(text, "n", i, " = AtOnce(n", i - 1, ")\n");
  str_append(text, "r = _Retval[index=0](n", count, ")\n");
  Rig rig;
  auto outcome = rig.run(text, {i64(1)});
  CHECK(only(outcome) == 1);
  CHECK(outcome.counters.async == count);
  CHECK(outcome.counters.async_done == count);
  CHECK(rig.completions_seen == 0);
}

TEST_CASE("step: two expensive kernels run at the same time") {
  Rig rig(2);
  auto outcome = rig.run(R"(
    x = _Arg[T=DT_INT64, index=0]()
    a = Meet(x)
    b = Meet(x)
    sum = AddV2(a, b)
    r = _Retval[index=0](sum)
  )",
                         {i64(4)});
  CHECK(only(outcome) == 8);
  CHECK(outcome.counters.submitted == 1);
}

TEST_CASE("step: a lone expensive kernel stays on its thread") {
  Rig rig(2);
  auto outcome = rig.run(R"(
    x = _Arg[T=DT_INT64, index=0]()
    a = Costly(x)
    b = Costly(a)
    n = NoOp() ^a
    r = _Retval[index=0](b)
  )",
                         {i64(4)});
  CHECK(only(outcome) == 4);
  CHECK(outcome.counters.submitted == 0);
}

TEST_CASE("step: an expensive kernel that no helper has begun is run by the owner") {
  Rig rig(2);
  ComputePool& pool = rig.device->compute();
  std::latch taken(1), go_on(1);
  pool.submit([&] { // the one helper is not to be had
    taken.count_down();
    go_on.wait();
  });
  taken.wait();
  auto step = rig.start(rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    a = Costly(x)
    b = Costly(x)
    sum = AddV2(a, b)
    r = _Retval[index=0](sum)
  )"),
                        {i64(4)});
  CHECK(step->run(Duration::max(), false) == StepRun::Progress::yielded);
  CHECK(step->run() == StepRun::Progress::finished);
  CHECK(step->status().to_string() == "OK");
  CHECK(step->retvals()[0].value<std::int64_t>() == 8);
  CHECK(step->counters().submitted == 1);
  CHECK(rig.completions_seen == 0);
  go_on.count_down();
}

TEST_CASE("step: an owner that wants its turn has it before the next expensive kernel") {
  Rig rig;
  rig.wants_turn = true;
  auto step = rig.start(rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    cheap = Neg(x)
    costly = Costly(cheap)
    r = _Retval[index=0](costly)
  )"),
                        {i64(4)});
  for (int i = 0; i < 3; ++i) {
    REQUIRE(step->run() == StepRun::Progress::yielded);
    CHECK(step->num_queued() == 1);
  }
  rig.wants_turn = false;
  REQUIRE(step->run() == StepRun::Progress::finished);
  CHECK(step->retvals()[0].value<std::int64_t>() == -4);
}

TEST_CASE("step: a time slice ends, and the next goes on from there") {
  std::string text = "n0 = _Arg[T=DT_INT64, index=0]()\n";
  for (int i = 1; i <= 1000; ++i)
    str_append(text, "n", i, " = Neg(n", i - 1, ")\n");
  text += "r = _Retval[index=0](n1000)\n";
  Rig rig;
  auto step = rig.start(rig.compile(text), {i64(5)});
  int slices = 1;
  for (; step->run(Duration(0)) == StepRun::Progress::yielded; ++slices)
    CHECK(step->num_queued() == 1);
  CHECK(step->finished());
  CHECK(slices > 5);
  CHECK(step->retvals()[0].value<std::int64_t>() == 5);
}

TEST_CASE("step: reference edges pass the variable on, or a snapshot to who wants a value") {
  Rig rig;
  auto executable = rig.compile(R"(
    v = Variable[dtype=DT_INT64]()
    x = _Arg[T=DT_INT64, index=0]()
    set = Assign(v, x)
    more = Accumulate(set, x)
    copy = Identity(more)
    r = _Retval[index=0](copy)
    q = _Retval[index=1](more)
  )");
  for (std::int64_t x : {3, 4}) {
    auto outcome = rig.run(executable, {i64(x)});
    REQUIRE_MESSAGE(outcome.status.ok(), outcome.status.to_string());
    CHECK(outcome.retvals[0].value<std::int64_t>() == 2 * x);
    CHECK(outcome.retvals[1].value<std::int64_t>() == 2 * x);
  }
}

TEST_CASE("step: a fetched reference has the value that the step leaves it with") {
  Rig rig;
  auto executable = rig.compile(R"(
    v = Variable[dtype=DT_INT64]()
    x = _Arg[T=DT_INT64, index=0]()
    set = Assign(v, x)
    later = Elsewhere(x) ^set
    more = Accumulate(v, later)
    r = _Retval[index=0](v)
    q = _Retval[index=1](set)
    copy = Identity(set)
    p = _Retval[index=2](copy)
  )");
  for (std::int64_t x : {3, 4}) {
    auto outcome = rig.run(executable, {i64(x)});
    REQUIRE_MESSAGE(outcome.status.ok(), outcome.status.to_string());
    CHECK(outcome.retvals[0].value<std::int64_t>() == 2 * x);
    CHECK(outcome.retvals[1].value<std::int64_t>() == 2 * x);
    CHECK(outcome.retvals[2].value<std::int64_t>() == x);
  }
  Rig other;
  auto nothing = other.run("v = Variable[dtype=DT_INT64]()\nr = _Retval[index=0](v)\n", {});
  CHECK(nothing.status.message() == "Attempting to use uninitialized value v");
  CHECK(nothing.status.origin().node == "r");
}

TEST_CASE("step: a variable without value cannot be read or added to") {
  for (const char* user : {"u = Neg(v)", "u = Accumulate(v, x)", "u = Identity(v)"}) {
    Rig rig;
    auto outcome = rig.run(str_cat("x = _Arg[T=DT_INT64, index=0]()\n"
                                   "v = Variable[dtype=DT_INT64]()\n",
                                   user),
                           {i64(1)});
    CHECK(outcome.status.code() == Code::failed_precondition);
    CHECK(outcome.status.message() == "Attempting to use uninitialized value v");
    CHECK(outcome.status.origin().node == "u");
  }
}

TEST_CASE("step: many additions to one variable at once are all counted") {
  std::string text = "x = _Arg[T=DT_INT64, index=0]()\nv = Variable[dtype=DT_INT64]()\n"
                     "set = Assign(v, x)\n";
  std::string controls;
  for (int i = 0; i < 500; ++i) {
    str_append(text, "e", i, " = Elsewhere(x) ^set\nacc", i, " = Accumulate(v, e", i, ") ^set\n");
    str_append(controls, " ^acc", i);
  }
  str_append(text, "y = Identity(v)", controls, "\nr = _Retval[index=0](y)\n");
  Rig rig;
  // `y` dereferences when all have added: its reference arrives early and is read late.
  CHECK(only(rig.run(text, {i64(1)})) == 501);
}

TEST_CASE("step: a traced run says when each kernel ran") {
  Rig rig;
  auto step = rig.start(rig.compile(add_graph), {i64(2), i64(3)}, true);
  REQUIRE(rig.finish(*step).ok());
  DeviceStats stats = step->take_stats();
  CHECK(stats.device == rig.device->name());
  REQUIRE(stats.nodes.size() == 1);
  CHECK(stats.nodes[0].node == "sum");
  CHECK(stats.nodes[0].op == "AddV2");
  CHECK(stats.nodes[0].bytes == 8);
  CHECK(stats.nodes[0].end_us >= stats.nodes[0].start_us);
  REQUIRE(stats.nodes[0].outputs.size() == 1);
  CHECK(stats.nodes[0].outputs[0].dtype == DType::int64);
  CHECK(stats.nodes[0].outputs[0].dims.empty());
  CHECK(stats.nodes[0].outputs[0].bytes == 8);
}

TEST_CASE("step: a traced run tells of its constants, too") {
  Rig rig;
  auto step = rig.start(rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    two = Const[dtype=DT_INT64, value=i64[1] 2]()
    sum = AddV2(x, two)
    r = _Retval[index=0](sum)
  )"),
                        {i64(1)}, true);
  REQUIRE(rig.finish(*step).ok());
  DeviceStats stats = step->take_stats();
  REQUIRE(stats.nodes.size() == 2);
  CHECK(stats.nodes[0].node == "two");
  CHECK(stats.nodes[0].op == "Const");
  CHECK(stats.nodes[0].outputs.at(0).dims == std::vector<std::int64_t>{1});
  CHECK(stats.nodes[1].node == "sum");
  CHECK(stats.nodes[1].inputs == std::vector<std::string>{"x", "two"});
}

TEST_CASE("step: a traced run tells of the variable that a reference is to") {
  Rig rig;
  auto step = rig.start(rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    v = Variable[dtype=DT_INT64]()
    a = Assign(v, x)
    r = _Retval[index=0](a)
  )"),
                        {i64(1)}, true);
  REQUIRE(rig.finish(*step).ok());
  std::map<std::string, std::int64_t> bytes;
  for (const NodeStats& node : step->take_stats().nodes)
    bytes[node.node] = node.bytes;
  CHECK(bytes["a"] == 8);
  CHECK(bytes["v"] == 0); // had no value yet
}

TEST_CASE("step: a traced run tells what is read of a variable, and who else holds it") {
  Rig rig;
  auto step = rig.start(rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    v = Variable[dtype=DT_INT64]()
    a = Assign(v, x)
    read = Identity(v) ^a
    sum = AddV2(read, read)
    r = _Retval[index=0](sum)
  )"),
                        {i64(1)}, true);
  REQUIRE(rig.finish(*step).ok());
  std::map<std::string, NodeStats> nodes;
  for (NodeStats& node : step->take_stats().nodes)
    nodes[node.node] = std::move(node);
  const NodeStats &read = nodes["read"], &sum = nodes["sum"];
  CHECK(read.op == "Identity");
  CHECK(read.inputs == std::vector<std::string>{"v", "^a"});
  CHECK(read.bytes == 0); // of its own
  REQUIRE(read.outputs.size() == 1);
  CHECK(read.outputs[0].bytes == 8);
  CHECK(read.outputs[0].address != 0);
  CHECK_FALSE(read.outputs[0].is_alone);
  REQUIRE(sum.outputs.size() == 1);
  CHECK(sum.bytes == 8);
  CHECK(sum.outputs[0].allocated >= 8);
  CHECK(sum.outputs[0].address != read.outputs[0].address);
  CHECK(sum.outputs[0].is_alone);
}

TEST_CASE("step: a traced run names outputs and control edges among a node's inputs") {
  Rig rig;
  auto step = rig.start(rig.compile(R"(
    x = _Arg[T=DT_INT64, index=0]()
    yes = Const[dtype=DT_BOOL, value=bool[] true]()
    s = Switch(x, yes)
    plus = AddV2(s:1, s:1)
    late = Neg(plus) ^s
    r = _Retval[index=0](late)
  )"),
                        {i64(1)}, true);
  REQUIRE(rig.finish(*step).ok());
  std::map<std::string, std::vector<std::string>> inputs;
  for (NodeStats& node : step->take_stats().nodes)
    inputs[node.node] = std::move(node.inputs);
  CHECK(inputs["plus"] == std::vector<std::string>{"s:1", "s:1"});
  CHECK(inputs["late"] == std::vector<std::string>{"plus", "^s"});
}
