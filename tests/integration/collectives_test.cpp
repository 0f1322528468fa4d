// Devices of several tasks compute together: in one step, in steps of several sessions, and with
// members that die, disagree, come late or never.
#include <doctest/doctest.h>

#include <random>

#include "api/scope.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/sim/sim_cluster.hpp"

using namespace troupe;
using namespace troupe::testing;
using namespace std::chrono_literals;

namespace {

constexpr const char* tasks[] = {
    "/job:worker/replica:0/task:0",
    "/job:worker/replica:0/task:1",
    "/job:worker/replica:0/task:2",
    "/job:worker/replica:0/task:3",
};

/// What a test's collectives are.
struct Keys {
  int size = 2, group = 1, instance = 1;
  float timeout = 0;
};

struct Fixture {
  SimCluster cluster{{tasks[0], tasks[1], tasks[2], tasks[3]}};
  std::int64_t buffers = 0;

  static Output number(const Scope& scope, int value) {
    return scope.constant(Tensor::scalar(static_cast<std::int32_t>(value)));
  }
  static Output placeholder(const Scope& scope, const std::string& name,
                            DType dtype = DType::float32) {
    return scope.named(name)
        .add("Placeholder", std::vector<Output>{}, {{"dtype", dtype}})
        .output(0);
  }
  static void all_reduce(const Scope& scope, const std::string& name, Output x, Keys keys,
                         DType dtype = DType::float32, const char* merge = "Add",
                         const char* final_op = "Id") {
    scope.named(name).add("CollectiveReduceV2",
                          std::vector<Output>{x, number(scope, keys.size),
                                              number(scope, keys.group),
                                              number(scope, keys.instance)},
                          {{"T", dtype},
                           {"merge_op", std::string(merge)},
                           {"final_op", std::string(final_op)},
                           {"timeout_seconds", keys.timeout}});
  }
  /// x0, x1, … on as many tasks, and their sums y0, y1, …
  static Scope all_in_one(Keys keys, DType dtype = DType::float32, const char* merge = "Add",
                          const char* final_op = "Id") {
    Scope root = Scope::root();
    for (int i = 0; i < keys.size; ++i) {
      Scope on = root.on(tasks[i]);
      all_reduce(on, "y" + std::to_string(i), placeholder(on, "x" + std::to_string(i), dtype), keys,
                 dtype, merge, final_op);
    }
    return root;
  }
  /// A graph of one task's member: x and y.
  static Scope one_of_many(int task, Keys keys) {
    Scope root = Scope::root(), on = root.on(tasks[task]);
    all_reduce(on, "y", placeholder(on, "x"), keys);
    return root;
  }
  SessionActor open(const char* master, const Scope& root, SessionSettings settings = {}) {
    REQUIRE_MESSAGE(root.status().ok(), root.status().to_string());
    return cluster.open_session(master, root.graph_def(), std::move(settings));
  }
  static RunStep step(std::vector<std::pair<std::string, Tensor>> feeds,
                      std::vector<std::string> fetches) {
    RunStep out;
    for (auto& [name, tensor] : feeds)
      out.feeds.emplace_back(name, WireTensor(tensor));
    out.fetches = std::move(fetches);
    return out;
  }
  Result<RunStepResult> run(const SessionActor& session, RunStep step,
                            std::chrono::milliseconds patience = {}) {
    return cluster.ask<RunStepResult>(cluster.client(), session, std::move(step), patience);
  }
  /// Starts a step; `outcome` is its end.
  void start(const SessionActor& session, RunStep step,
             std::optional<Result<RunStepResult>>& outcome) {
    pending.push_back(std::make_unique<Pending>(*this, session, std::move(step), outcome));
    cluster.run();
    collect();
  }
  void advance(std::chrono::milliseconds time) {
    cluster.advance(time);
    collect();
  }
  void collect() {
    for (auto& p : pending)
      p->collect();
  }

  struct Pending {
    Pending(Fixture& fixture, const SessionActor& session, RunStep step,
            std::optional<Result<RunStepResult>>& outcome)
        : self(fixture.cluster.client().system, true), outcome(outcome),
          request(self->request(session, caf::infinite, std::move(step))) {}
    void collect() {
      if (outcome || !self->has_next_message())
        return;
      request.receive([&](RunStepResult& x) { outcome = std::move(x); },
                      [&](caf::error& e) { outcome = to_status(e, "a step"); });
    }
    caf::scoped_actor self;
    std::optional<Result<RunStepResult>>& outcome;
    decltype(self->request(SessionActor{}, caf::infinite, RunStep{})) request;
  };
  std::vector<std::unique_ptr<Pending>> pending;
};

Tensor floats(std::int64_t count, unsigned seed) {
  Tensor out = Tensor::make(DType::float32, {count});
  std::mt19937 random(seed);
  for (float& x : out.mutable_data<float>())
    x = static_cast<float>(static_cast<int>(random() % 2001) - 1000); // sums are exact
  return out;
}

Tensor sum(const std::vector<Tensor>& values) {
  Tensor out = values[0].deep_copy();
  for (std::size_t i = 1; i < values.size(); ++i)
    for (std::int64_t j = 0; j < out.num_elements(); ++j)
      out.mutable_data<float>()[static_cast<std::size_t>(j)] +=
          values[i].data<float>()[static_cast<std::size_t>(j)];
  return out;
}

const Tensor& value(const Result<RunStepResult>& result, std::size_t i = 0) {
  REQUIRE_MESSAGE(result.ok(), result.status().to_string());
  return result->tensors.at(i).tensor;
}

} // namespace

TEST_CASE_FIXTURE(Fixture, "collectives: two tasks of one step get the sum, small and large") {
  auto session = open(tasks[0], all_in_one({.size = 2}));
  for (std::int64_t count : {1, 7, 1000, 8192, 8193, 300'000, 600'001}) {
    CAPTURE(count);
    Tensor a = floats(count, 1), b = floats(count, 2);
    auto result = run(session, step({{"x0", a}, {"x1", b}}, {"y0", "y1"}), 10s);
    CHECK(equal(value(result, 0), sum({a, b})));
    CHECK(equal(value(result, 1), sum({a, b})));
  }
}
