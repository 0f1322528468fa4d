// What a node costs: chains, fans, NoOps, loops, and a step that does next to nothing. Times are of
// whole steps; "node" is nanoseconds for one node or round.
#include <benchmark/benchmark.h>

#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"

namespace {

using namespace troupe;

void run_steps(benchmark::State& state, const std::string& text, std::vector<Tensor> args,
               double nodes) {
  testing::Rig rig(1); // nothing is handed to other threads
  auto executable = rig.compile(text);
  rig.start(executable, args)->run(); // fills the environment
  for (auto _ : state) {
    StepRun run(executable, rig.environment(), StepHooks{[](void*, Completion) {}, nullptr, false},
                args);
    if (run.run() != StepRun::Progress::finished || !run.status().ok())
      state.SkipWithError("the step failed");
    benchmark::DoNotOptimize(run.retvals().data());
  }
  state.counters["node"] = benchmark::Counter(
      nodes * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

constexpr int count = 10'000;

void chain(benchmark::State& state) {
  std::string text =
      "n0 = _Arg[T=DT_FLOAT, index=0]()\nc = Const[dtype=DT_FLOAT, value=f32[] 1]()\n";
  for (int i = 1; i <= count; ++i)
    str_append(text, "n", i, " = AddV2(n", i - 1, ", c)\n");
  str_append(text, "y = _Retval[index=0](n", count, ")\n");
  run_steps(state, text, {Tensor::scalar(1.0f)}, count);
}

void chain_of_identities(benchmark::State& state) {
  std::string text = "n0 = _Arg[T=DT_FLOAT, index=0]()\n";
  for (int i = 1; i <= count; ++i)
    str_append(text, "n", i, " = Identity(n", i - 1, ")\n");
  str_append(text, "y = _Retval[index=0](n", count, ")\n");
  run_steps(state, text, {Tensor::scalar(1.0f)}, count);
}

void fan(benchmark::State& state) {
  std::string text = "x = _Arg[T=DT_FLOAT, index=0]()\n", controls;
  for (int i = 0; i < count; ++i) {
    str_append(text, "n", i, " = Neg(x)\n");
    str_append(controls, " ^n", i);
  }
  run_steps(state, text + "done = NoOp()" + controls, {Tensor::scalar(1.0f)}, count);
}

void no_ops(benchmark::State& state) {
  std::string text = "root = NoOp()\n", controls;
  for (int i = 0; i < count; ++i) {
    str_append(text, "n", i, " = NoOp() ^root\n");
    str_append(controls, " ^n", i);
  }
  run_steps(state, text + "done = NoOp()" + controls, {}, count);
}

void while_loop(benchmark::State& state) {
  std::string frame = str_cat("frame_name=\"w\", parallel_iterations=", state.range(0));
  run_steps(state,
            str_cat(R"(
    zero = Const[dtype=DT_INT32, value=i32[] 0]()
    n = Const[dtype=DT_INT32, value=i32[] 10000]()
    i_in = Enter[)",
                    frame, R"(](zero)
    n_in = Enter[is_constant=true, )",
                    frame, R"(](n)
    i = Merge(i_in, i_next)
    less = Less(i, n_in)
    cond = LoopCond(less)
    s = Switch(i, cond)
    body = Identity(s:1)
    one = Const[dtype=DT_INT32, value=i32[] 1]() ^body
    add = AddV2(body, one)
    i_next = NextIteration(add)
    out = Exit(s:0)
    y = Identity(out)
    r = _Retval[index=0](y)
  )"),
            {}, count);
}

void one_op(benchmark::State& state) {
  run_steps(state, R"(
    x = _Arg[T=DT_FLOAT, index=0]()
    c = Const[dtype=DT_FLOAT, value=f32[] 1]()
    y = AddV2(x, c)
    r = _Retval[index=0](y)
  )",
            {Tensor::scalar(1.0f)}, 1);
}

BENCHMARK(chain);
BENCHMARK(chain_of_identities);
BENCHMARK(fan);
BENCHMARK(no_ops);
BENCHMARK(while_loop)->Arg(1)->Arg(10);
BENCHMARK(one_op);

} // namespace
