// What a step of a local session costs that feeds a scalar, adds to it and fetches the sum: from
// one thread and from several, by names and by a callable, and with many in flight.
#include <benchmark/benchmark.h>

#include "api/ops.hpp"
#include "api/session.hpp"
#include "core/base/check.hpp"

namespace {

using namespace troupe;

Session open() {
  auto session = Session::open("local");
  TROUPE_CHECK(session.ok(), session.status().message());
  Scope root = Scope::root();
  ops::add_v2(root.named("y"), ops::placeholder(root.named("x"), DType::float32), 1.0f);
  Status status = session->extend(root);
  TROUPE_CHECK(status.ok(), status.message());
  return *std::move(session);
}

// One for all threads, kept until the process ends.
Session& the_session() {
  static Session session = open();
  return session;
}

void check(const Status& status) {
  TROUPE_CHECK(status.ok(), status.message());
}

void run(benchmark::State& state) {
  Feeds feeds = {{"x:0", Tensor::scalar(1.0f)}};
  const std::vector<std::string> fetches = {"y:0"};
  for (auto _ : state)
    check(the_session().run(feeds, fetches).status());
}

void run_callable(benchmark::State& state) {
  auto callable = the_session().make_callable({"x:0"}, {"y:0"});
  check(callable.status());
  Tensor x = Tensor::scalar(1.0f);
  for (auto _ : state)
    check((*callable)({x}).status());
}

// All are begun, then all are waited for; the time is of one.
void run_async(benchmark::State& state) {
  Feeds feeds = {{"x:0", Tensor::scalar(1.0f)}};
  std::vector<PendingRun> running(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (PendingRun& one : running)
      one = the_session().run_async(feeds, {"y:0"});
    for (PendingRun& one : running)
      check(one.get().status());
  }
  state.counters["step"] = benchmark::Counter(static_cast<double>(running.size()),
                                              benchmark::Counter::kIsIterationInvariantRate |
                                                  benchmark::Counter::kInvert);
}

BENCHMARK(run)->ThreadRange(1, 4)->UseRealTime();
BENCHMARK(run_callable)->ThreadRange(1, 4)->UseRealTime();
BENCHMARK(run_async)->Arg(1)->Arg(100)->Arg(1000)->Arg(16000)->UseRealTime();

} // namespace
