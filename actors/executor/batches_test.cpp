// Small kernels that run on several threads at once. What a kernel takes is set, not measured: so
// each step hands over what it should.
#include <doctest/doctest.h>

#include "actors/executor/internal/program.hpp"
#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"

using namespace troupe;
using testing::Rig;

namespace {

constexpr std::uint32_t small = 30'000; // ticks: ten microseconds, about

void set_costs(const Executable& executable, std::uint32_t ticks) {
  for (std::size_t n = 0; n < executable.num_nodes(); ++n)
    executable.layout().costs[n].store(ticks, std::memory_order_relaxed);
}

std::shared_ptr<const Executable> compile(Rig& rig, std::string_view text) {
  auto executable = rig.compile(text);
  set_costs(*executable, small);
  return executable;
}

/// `width` chains of `depth` nodes each, and their sum.
std::string chains(int width, int depth) {
  std::string text = "x = _Arg[T=DT_INT64, index=0]()\n", sum;
  for (int i = 0; i < width; ++i) {
    std::string last = "x";
    for (int k = 0; k < depth; ++k) {
      const std::string name = str_cat("n", i, "_", k);
      str_append(text, name, " = AddV2(", last, ", x)\n");
      last = name;
    }
    str_append(sum, i ? ", " : "", last);
  }
  return str_cat(text, "y = AddN[N=", width, "](", sum, ")\nr = _Retval[index=0](y)\n");
}

} // namespace

TEST_CASE("batches: what many threads compute is what one computes") {
  constexpr int width = 40, depth = 25;
  for (int threads : {1, 2, 4}) {
    Rig rig(threads);
    auto executable = compile(rig, chains(width, depth));
    std::uint64_t submitted = 0;
    for (std::int64_t x = 1; x <= 50; ++x) {
      set_costs(*executable, small); // some steps measure
      auto outcome = rig.run(executable, {Tensor::vector<std::int64_t>({x, -x})});
      REQUIRE_MESSAGE(outcome.status.ok(), outcome.status.to_string());
      CHECK(outcome.retvals[0].data<std::int64_t>()[0] == width * (depth + 1) * x);
      CHECK(outcome.retvals[0].data<std::int64_t>()[1] == -width * (depth + 1) * x);
      CHECK(outcome.counters.nodes == width * depth + 3);
      submitted += outcome.counters.submitted;
    }
    CHECK((submitted > 0) == (threads > 1));
  }
}

TEST_CASE("batches: small kernels run at the same time") {
  std::string text = "x = _Arg[T=DT_INT64, index=0]()\n", controls;
  for (int i = 0; i < 12; ++i) {
    str_append(text, "n", i, " = Meet(x)\n"); // waits for another of its kind
    str_append(controls, " ^n", i);
  }
  Rig rig(2);
  auto executable =
      compile(rig, str_cat(text, "y = Identity(x)", controls, "\nr = _Retval[index=0](y)\n"));
  auto outcome = rig.run(executable, {Tensor::scalar(std::int64_t{3})});
  REQUIRE_MESSAGE(outcome.status.ok(), outcome.status.to_string());
  CHECK(outcome.counters.submitted > 0);
}

TEST_CASE("batches: tiny kernels, and a few small ones, stay on their thread") {
  Rig rig(2);
  auto executable = rig.compile(chains(40, 5));
  set_costs(*executable, 100);
  CHECK(rig.run(executable, {Tensor::scalar(std::int64_t{3})}).counters.submitted == 0);
  auto few = compile(rig, chains(3, 5));
  CHECK(rig.run(few, {Tensor::scalar(std::int64_t{3})}).counters.submitted == 0);
}

TEST_CASE("batches: a kernel that fails or throws ends the step, which names it, and the next goes "
          "well") {
  for (const char* op : {"Fail", "Throw", "WrongType"}) {
    Rig rig(2);
    std::string text = "p = _Arg[T=DT_BOOL, index=1]()\nx = _Arg[T=DT_INT64, index=0]()\n"
                       "s = Switch(x, p)\n";
    for (int i = 0; i < 60; ++i)
      str_append(text, "n", i, " = Costly(x)\nbad", i, " = ", op, "(s:1)\nm", i, " = AddV2(n", i,
                 ", x)\n");
    auto executable = compile(rig, str_cat(text, "r = _Retval[index=0](x)\n"));
    for (bool fails : {true, false, true, false}) {
      set_costs(*executable, small);
      auto outcome = rig.run(executable, {Tensor::scalar(std::int64_t{3}), Tensor::scalar(fails)});
      CHECK(outcome.status.ok() == !fails);
      if (fails)
        CHECK(outcome.status.origin().op == op);
    }
  }
}

TEST_CASE("batches: a failure among kernels that other threads run is the step's") {
  Rig rig(2);
  std::string text = "x = _Arg[T=DT_INT64, index=0]()\ny = _Arg[T=DT_INT64, index=1]()\n";
  for (int i = 0; i < 60; ++i)
    str_append(text, "n", i, " = AddV2(x, y)\n"); // shapes that do not fit
  auto executable = compile(rig, str_cat(text, "r = _Retval[index=0](x)\n"));
  const Tensor two = Tensor::vector<std::int64_t>({1, 2}),
               three = Tensor::vector<std::int64_t>({1, 2, 3});
  for (int i = 0; i < 20; ++i) {
    set_costs(*executable, small);
    auto outcome = rig.run(executable, {two, three});
    CHECK(outcome.status.code() == Code::invalid_argument);
    CHECK(outcome.status.origin().op == "AddV2");
    set_costs(*executable, small);
    CHECK(rig.run(executable, {two, two}).status.ok());
  }
}

TEST_CASE("batches: a step may be cancelled or given up while they are out") {
  for (bool gives_up : {false, true}) {
    Rig rig(2);
    auto executable = compile(rig, chains(60, 30));
    for (int i = 0; i < 20; ++i) {
      set_costs(*executable, small);
      auto step = rig.start(executable, {Tensor::scalar(std::int64_t{3})});
      for (int k = 0; k < i % 4 + 1; ++k)
        step->run(Duration(0));
      if (gives_up)
        continue;
      step->cancel(cancelled("enough"));
      CHECK(rig.finish(*step).code() == Code::cancelled);
    }
    CHECK(rig.run(executable, {Tensor::scalar(std::int64_t{1})}).status.ok());
  }
}

TEST_CASE("batches: values reach sends, controls, Switch and fetches") {
  std::string text = R"(
    x = _Arg[T=DT_INT64, index=0]()
    p = _Arg[T=DT_BOOL, index=1]()
  )";
  std::string controls;
  for (int i = 0; i < 30; ++i) {
    str_append(text, "a", i, " = AddV2(x, x)\nb", i, " = Costly(a", i, ")\ns", i, " = Switch(b", i,
               ", p)\nno", i, " = Neg(s", i, ":0)\nm", i, " = Merge(no", i, ", s", i, ":1)\nt", i,
               " = _Send[tensor_name=\"k", i, "\"](m", i, ")\n");
    str_append(controls, " ^b", i);
  }
  Rig rig(3);
  auto executable = compile(rig, str_cat(text, "y = Identity(a7)", controls,
                                         "\nr = _Retval[index=0](y)\nq = _Retval[index=1](m9)\n"));
  for (bool p : {false, true, true, false}) {
    set_costs(*executable, small);
    auto outcome = rig.run(executable, {Tensor::scalar(std::int64_t{4}), Tensor::scalar(p)});
    REQUIRE_MESSAGE(outcome.status.ok(), outcome.status.to_string());
    CHECK(outcome.retvals[0].value<std::int64_t>() == 8);
    CHECK(outcome.retvals[1].value<std::int64_t>() == (p ? 8 : -8));
    CHECK(outcome.counters.submitted > 0);
  }
}

TEST_CASE("batches: a traced step has every kernel once, whoever ran it") {
  Rig rig(2);
  auto executable = compile(rig, chains(40, 5));
  auto step = rig.start(executable, {Tensor::scalar(std::int64_t{3})}, true);
  REQUIRE(rig.finish(*step).ok());
  const DeviceStats stats = step->take_stats();
  CHECK(stats.nodes.size() == 40 * 5 + 1);
  for (const auto& node : stats.nodes) {
    CHECK(node.bytes == 8);
    CHECK(node.end_us >= node.start_us);
  }
}
