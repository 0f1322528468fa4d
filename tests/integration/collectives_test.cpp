// Devices of several tasks compute together: in one step, in steps of several sessions, and with
// members that die, disagree, come late or never.
#include <doctest/doctest.h>

#include <random>

#include "api/scope.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/sim/sim_cluster.hpp"

namespace troupe::collectives_test {

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
    std::erase_if(pending, [](const auto& p) { return p->outcome.has_value(); });
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

TEST_CASE_FIXTURE(Fixture, "collectives: four tasks, every merge and final op, random sizes") {
  std::mt19937 random(5);
  for (const char* merge : {"Add", "Mul", "Min", "Max"})
    for (const char* final_op : {"Id", "Div"}) {
      CAPTURE(merge);
      auto session = open(tasks[2], all_in_one({.size = 4}, DType::int64, merge, final_op));
      for (int i = 0; i < 4; ++i) {
        const auto count = static_cast<std::int64_t>(random() % (i % 2 ? 200'000 : 3'000));
        CAPTURE(count);
        std::vector<Tensor> x;
        for (int rank = 0; rank < 4; ++rank) {
          x.push_back(Tensor::make(DType::int64, {count}));
          for (auto& value : x.back().mutable_data<std::int64_t>())
            value = static_cast<std::int64_t>(random() % 2001) - 1000;
        }
        auto result = run(session,
                          step({{"x0", x[0]}, {"x1", x[1]}, {"x2", x[2]}, {"x3", x[3]}},
                               {"y0", "y1", "y2", "y3"}),
                          10s);
        for (std::size_t rank = 0; rank < 4; ++rank) {
          const auto y = value(result, rank).data<std::int64_t>();
          REQUIRE(y.size() == static_cast<std::size_t>(count));
          bool right = true;
          for (std::size_t j = 0; j < y.size(); ++j) {
            std::int64_t wanted = x[0].data<std::int64_t>()[j];
            for (std::size_t r = 1; r < 4; ++r) {
              const std::int64_t v = x[r].data<std::int64_t>()[j];
              wanted = *merge == 'A'     ? wanted + v
                       : merge[1] == 'u' ? wanted * v
                       : merge[1] == 'i' ? std::min(wanted, v)
                                         : std::max(wanted, v);
            }
            right = right && y[j] == (*final_op == 'D' ? wanted / 4 : wanted);
          }
          CHECK(right);
        }
      }
    }
}

TEST_CASE_FIXTURE(Fixture, "collectives: sessions of their own meet step by step") {
  auto first = open(tasks[0], one_of_many(0, {.group = 9})),
       second = open(tasks[1], one_of_many(1, {.group = 9}));
  for (int i = 0; i < 5; ++i) {
    std::optional<Result<RunStepResult>> a, b;
    const std::int64_t count = i % 2 ? 50'000 : 5;
    Tensor x = floats(count, static_cast<unsigned>(i)), y = floats(count, 77);
    start(first, step({{"x", x}}, {"y"}), a);
    CHECK_FALSE(a);
    start(second, step({{"x", y}}, {"y"}), b);
    advance(1s);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(equal(value(*a), sum({x, y})));
    CHECK(equal(value(*b), sum({x, y})));
  }
}

TEST_CASE_FIXTURE(Fixture, "collectives: steps of one session that run at once do not mix") {
  auto session = open(tasks[0], all_in_one({.size = 3}));
  constexpr int num_steps = 6;
  std::vector<std::optional<Result<RunStepResult>>> out(num_steps);
  std::vector<std::vector<Tensor>> x(num_steps);
  for (int i = 0; i < num_steps; ++i) {
    for (unsigned rank = 0; rank < 3; ++rank)
      x[static_cast<std::size_t>(i)].push_back(
          floats(i % 2 ? 40'000 : 10, 10 * static_cast<unsigned>(i) + rank));
    const auto& in = x[static_cast<std::size_t>(i)];
    pending.push_back(std::make_unique<Pending>(
        *this, session, step({{"x0", in[0]}, {"x1", in[1]}, {"x2", in[2]}}, {"y0", "y1", "y2"}),
        out[static_cast<std::size_t>(i)]));
  }
  cluster.run();
  advance(2s);
  for (std::size_t i = 0; i < num_steps; ++i) {
    REQUIRE(out[i]);
    for (std::size_t rank = 0; rank < 3; ++rank)
      CHECK(equal(value(*out[i], rank), sum(x[i])));
  }
}

TEST_CASE_FIXTURE(Fixture, "collectives: every kind, small and large") {
  for (std::int64_t rows : {1, 40'000}) {
    CAPTURE(rows);
    Scope root = Scope::root();
    for (int i = 0; i < 2; ++i) {
      const std::string n = std::to_string(i);
      Scope on = root.on(tasks[i]);
      Output x = placeholder(on, "x" + n);
      std::vector<Output> in{x, number(on, 2), number(on, 1), number(on, 1)};
      on.named("gather" + n).add("CollectiveGatherV2", in, {{"T", DType::float32}});
      in[3] = number(on, 2);
      on.named("scatter" + n)
          .add("CollectiveReduceScatterV2", in,
               {{"T", DType::float32},
                {"merge_op", std::string("Add")},
                {"final_op", std::string("Div")}});
      in[3] = number(on, 3);
      on.named("all" + n).add("CollectiveAllToAllV2", in, {{"T", DType::float32}});
      if (i == 0) {
        in[3] = number(on, 4);
        on.named("cast" + n).add("CollectiveBcastSendV2", in, {{"T", DType::float32}});
      } else {
        Output shape = on.constant(Tensor::vector<std::int64_t>({2, rows}));
        on.named("cast" + n)
            .add("CollectiveBcastRecvV2",
                 std::vector<Output>{number(on, 2), number(on, 1), number(on, 4), shape},
                 {{"T", DType::float32}, {"Tshape", DType::int64}});
      }
    }
    auto session = open(tasks[1], root);
    const Tensor a = floats(2 * rows, 1).reshaped({2, rows}),
                 b = floats(2 * rows, 2).reshaped({2, rows});
    auto result = run(session,
                      step({{"x0", a}, {"x1", b}}, {"gather0", "gather1", "scatter0", "scatter1",
                                                    "all0", "all1", "cast0", "cast1"}),
                      10s);
    auto at = [&](const Tensor& t, std::int64_t row, std::int64_t i) {
      return t.data<float>()[static_cast<std::size_t>(row * rows + i)];
    };
    REQUIRE_MESSAGE(result.ok(), result.status().to_string());
    bool right = true;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::size_t rank = 0; rank < 2; ++rank) {
        const auto r = static_cast<std::int64_t>(rank);
        const Tensor& gathered = value(result, rank);
        right = right && at(gathered, 0, i) == at(a, 0, i) && at(gathered, 1, i) == at(a, 1, i) &&
                at(gathered, 2, i) == at(b, 0, i) && at(gathered, 3, i) == at(b, 1, i);
        right = right && at(value(result, 2 + rank), 0, i) == (at(a, r, i) + at(b, r, i)) / 2;
        right = right && at(value(result, 4 + rank), 0, i) == at(a, r, i) &&
                at(value(result, 4 + rank), 1, i) == at(b, r, i);
        right = right && at(value(result, 6 + rank), 1, i) == at(a, 1, i);
      }
    }
    CHECK(right);
    CHECK(value(result, 0).shape() == Shape{4, rows});
    CHECK(value(result, 2).shape() == Shape{1, rows});
  }
}

TEST_CASE_FIXTURE(Fixture, "collectives: communicators, and parts of them") {
  Scope root = Scope::root();
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    Scope on = root.on(tasks[i]);
    // Ranks the other way round.
    Output communicator =
        on.named("group" + n)
            .add("CollectiveInitializeCommunicator",
                 std::vector<Output>{number(on, 5), number(on, 3 - i), number(on, 4)}, {})
            .output(0);
    Output x = placeholder(on, "x" + n);
    Output everybody = on.constant(Tensor::make(DType::int32, {0, 0}));
    Output pairs = on.constant(Tensor::of<std::int32_t>({2, 2}, {0, 3, 1, 2}));
    Operation sum = on.named("sum" + n).add(
        "CollectiveReduceV3", std::vector<Output>{x, communicator, everybody},
        {{"T", DType::float32}, {"reduction", std::string("Add")}});
    on.named("pair" + n)
        .add("CollectiveAllToAllV3", std::vector<Output>{sum.output(0), communicator, pairs},
             {{"T", DType::float32}});
  }
  auto session = open(tasks[0], root);
  for (int again = 0; again < 2; ++again) {
    std::vector<std::pair<std::string, Tensor>> feeds;
    std::vector<std::string> fetches;
    for (int i = 0; i < 4; ++i) {
      feeds.emplace_back("x" + std::to_string(i), Tensor::vector<float>({float(i), 10}));
      fetches.push_back("pair" + std::to_string(i));
    }
    auto result = run(session, step(feeds, fetches), 10s);
    // The sum is [6, 40] everywhere; the first of a pair gets the sixes. Ranks 0 and 3 are devices
    // 3 and 0.
    CHECK(equal(value(result, 3), Tensor::vector<float>({6, 6})));
    CHECK(equal(value(result, 0), Tensor::vector<float>({40, 40})));
    CHECK(equal(value(result, 2), Tensor::vector<float>({6, 6})));
    CHECK(equal(value(result, 1), Tensor::vector<float>({40, 40})));
  }
}

namespace {
void fails(const std::optional<Result<RunStepResult>>& outcome, Code code,
           const std::string& part) {
  REQUIRE(outcome);
  REQUIRE_FALSE(outcome->ok());
  const Status status = outcome->status();
  CHECK_MESSAGE(status.code() == code, status.to_string());
  CHECK_MESSAGE(status.message().find(part) != std::string::npos, status.to_string());
}
} // namespace

TEST_CASE_FIXTURE(Fixture,
                  "collectives: a group that does not form ends in its time, and names who came") {
  auto first = open(tasks[0], one_of_many(0, {.size = 3, .group = 4, .timeout = 5})),
       second = open(tasks[1], one_of_many(1, {.size = 3, .group = 4, .timeout = 60}));
  std::optional<Result<RunStepResult>> a, b;
  start(first, step({{"x", floats(4, 1)}}, {"y"}), a);
  start(second, step({{"x", floats(4, 2)}}, {"y"}), b);
  advance(4s);
  CHECK_FALSE(a);
  advance(2s);
  fails(a, Code::deadline_exceeded, "2 of 3 members of group 4 have reached instance 1");
  fails(b, Code::deadline_exceeded, "Collective has timed out");
}

TEST_CASE_FIXTURE(Fixture, "collectives: members that disagree are all told") {
  auto first = open(tasks[0], one_of_many(0, {.group = 4})),
       second = open(tasks[1], one_of_many(1, {.group = 4}));
  for (std::int64_t count : {5, 50'000}) {
    std::optional<Result<RunStepResult>> a, b;
    start(first, step({{"x", floats(4, 1)}}, {"y"}), a);
    start(second, step({{"x", floats(count, 2)}}, {"y"}), b);
    advance(1s);
    fails(a, Code::invalid_argument, "Shape mismatch");
    fails(b, Code::invalid_argument, "build the same collective on every member");
    // Nothing stays of it: the next steps meet.
    std::optional<Result<RunStepResult>> c, d;
    start(first, step({{"x", floats(4, 1)}}, {"y"}), c);
    start(second, step({{"x", floats(4, 2)}}, {"y"}), d);
    advance(1s);
    REQUIRE(c);
    REQUIRE(d);
    CHECK(equal(value(*c), value(*d)));
  }
  auto third = open(tasks[2], one_of_many(2, {.size = 3, .group = 4}));
  std::optional<Result<RunStepResult>> a, b;
  start(first, step({{"x", floats(4, 1)}}, {"y"}), a);
  start(third, step({{"x", floats(4, 2)}}, {"y"}), b);
  advance(1s);
  fails(a, Code::internal, "but that group has size 2");
  fails(b, Code::internal, "but that group has size 2");
}

TEST_CASE_FIXTURE(Fixture, "collectives: a member that dies ends the steps of the others") {
  auto first = open(tasks[0], one_of_many(0, {.size = 3, .group = 4})),
       second = open(tasks[1], one_of_many(1, {.size = 3, .group = 4})),
       third = open(tasks[2], one_of_many(2, {.size = 3, .group = 4}));
  std::optional<Result<RunStepResult>> a, b, c;
  SUBCASE("while the group has not formed") {
    start(second, step({{"x", floats(4, 1)}}, {"y"}), b);
    start(third, step({{"x", floats(4, 1)}}, {"y"}), c);
    cluster.crash(tasks[2]);
  }
  SUBCASE("the leader") {
    start(second, step({{"x", floats(4, 1)}}, {"y"}), b);
    cluster.crash(tasks[0]);
  }
  advance(20s);
  REQUIRE(b);
  CHECK_MESSAGE(b->status().code() == Code::unavailable, b->status().to_string());
  if (a)
    CHECK_MESSAGE(a->status().code() == Code::unavailable, a->status().to_string());
}

TEST_CASE_FIXTURE(Fixture,
                  "collectives: a lost member of one step ends it for all, and a cancelled one") {
  auto session = open(tasks[0], all_in_one({.size = 2}));
  // One alone cannot form: the step's own deadline ends it.
  RunStep alone = step({{"x0", floats(4, 1)}, {"x1", floats(4, 1)}}, {"y0"});
  alone.timeout_us = 3'000'000;
  auto result = run(session, std::move(alone), 10s);
  REQUIRE_FALSE(result.ok());
  CHECK_MESSAGE(result.status().code() == Code::deadline_exceeded, result.status().to_string());
  result = run(session, step({{"x0", floats(4, 1)}, {"x1", floats(4, 1)}}, {"y0", "y1"}), 10s);
  CHECK(result.ok());
  cluster.crash(tasks[1]);
  result = run(session, step({{"x0", floats(4, 1)}, {"x1", floats(4, 1)}}, {"y0", "y1"}), 30s);
  CHECK(result.status().code() == Code::unavailable);
}

TEST_CASE_FIXTURE(Fixture, "collectives: the step of a session ends with another session's step") {
  auto first = open(tasks[0], one_of_many(0, {.group = 4})),
       second = open(tasks[1], one_of_many(1, {.size = 2, .group = 4}));
  std::optional<Result<RunStepResult>> a, b, c;
  RunStep impatient = step({{"x", floats(4, 1)}}, {"y"});
  impatient.timeout_us = 2'000'000;
  start(second, std::move(impatient), b);
  advance(5s);
  fails(b, Code::deadline_exceeded, "");
  // It has left: what comes now waits for its next step.
  start(first, step({{"x", floats(4, 1)}}, {"y"}), a);
  advance(2s);
  CHECK_FALSE(a);
  start(second, step({{"x", floats(4, 2)}}, {"y"}), c);
  advance(1s);
  REQUIRE(a);
  REQUIRE(c);
  CHECK(equal(value(*a), value(*c)));
}

TEST_CASE_FIXTURE(Fixture, "collectives: a member that dies between two steps is not waited for") {
  auto first = open(tasks[0], one_of_many(0, {.group = 4})),
       second = open(tasks[1], one_of_many(1, {.group = 4}));
  std::optional<Result<RunStepResult>> a, b, c;
  start(first, step({{"x", floats(4, 1)}}, {"y"}), a);
  start(second, step({{"x", floats(4, 1)}}, {"y"}), b);
  advance(1s);
  REQUIRE(a);
  REQUIRE(a->ok());
  start(first, step({{"x", floats(4, 1)}}, {"y"}), c);
  cluster.crash(tasks[1]);
  advance(10s);
  fails(c, Code::unavailable, "collective group 4 has lost its member");
}

TEST_CASE("collectives: a member that falls silent at any moment ends the others' steps, or they "
          "are over") {
  int over = 0, ended = 0, late = 0;
  for (int events = 0; events < 1200; events += 60) {
    CAPTURE(events);
    Fixture f;
    const Keys keys{.size = 3, .group = 4, .timeout = 10}; // it may not have joined yet
    const Tensor big = floats(500'000, 1);
    std::vector<SessionActor> sessions;
    std::vector<std::optional<Result<RunStepResult>>> out(3);
    for (int i = 0; i < 3; ++i)
      sessions.push_back(f.open(tasks[i], Fixture::one_of_many(i, keys)));
    for (std::size_t i = 0; i < 3; ++i)
      f.pending.push_back(std::make_unique<Fixture::Pending>(
          f, sessions[i], Fixture::step({{"x", big}}, {"y"}), out[i]));
    for (int i = 0; i < events; ++i)
      f.cluster.run_one();
    f.cluster.freeze(tasks[2]);
    f.cluster.run();
    f.advance(20s);
    for (std::size_t i = 0; i < 2; ++i) {
      REQUIRE(out[i]);
      const Status status = out[i]->status();
      if (status.code() == Code::deadline_exceeded)
        ++late;
      else
        CHECK_MESSAGE((status.ok() || status.code() == Code::unavailable), status.to_string());
      over += status.ok();
      ended += status.code() == Code::unavailable;
    }
  }
  CHECK(over > 0);
  CHECK(ended > 4);
  CHECK(late > 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "collectives: who asks why a step waits is told which members are missing") {
  auto first = open(tasks[1], one_of_many(1, {.size = 3, .group = 4})),
       second = open(tasks[2], one_of_many(2, {.size = 3, .group = 4}));
  std::optional<Result<RunStepResult>> a, b;
  start(first, step({{"x", floats(4, 1)}}, {"y"}), a);
  start(second, step({{"x", floats(4, 1)}}, {"y"}), b);
  advance(3s);
  auto explained = cluster.ask<StepsExplained>(cluster.client(), first, ExplainStep{}, 5s);
  REQUIRE_MESSAGE(explained.ok(), explained.status().to_string());
  std::string text;
  for (const auto& step : explained->steps)
    for (const auto& line : step.tree)
      text += line + "\n";
  CHECK_MESSAGE(
      text.find("2 of 3 members of group 4 have reached instance 1: " + std::string(tasks[1]) +
                "/device:CPU:0, " + tasks[2] + "/device:CPU:0") != text.npos,
      text);
}

} // namespace troupe::collectives_test
