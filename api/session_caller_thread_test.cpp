// From its second step on, a signature runs on its caller's thread. What it cannot end there goes
// on like the first.
#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "api/ops.hpp"
#include "api/testing/small_session.hpp"
#include "graph/ir/text.hpp"

namespace troupe {

using namespace testing;

TEST_CASE("session: steps of several threads run side by side, and each gets its own values") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  std::vector<std::string> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500 && wrong[t].empty(); ++i) {
        auto x = static_cast<float>(1000 * static_cast<int>(t) + i);
        auto out = session.run({{"x", floats({x, 1})}}, {"z", "y", "z"});
        if (!out.ok())
          wrong[t] = out.status().to_string();
        else if (!equal((*out)[0], floats({x * x, 1})) ||
                 !equal((*out)[1], floats({2 * x + 1, 3})) || !equal((*out)[2], (*out)[0]))
          wrong[t] = "wrong values";
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  for (const std::string& one : wrong)
    CHECK(one == "");
}

TEST_CASE("session: steps take denormals for zero, and leave their caller's thread as it was") {
  Session session = local();
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output tenth = ops::const_(root, Tensor::scalar(0.1f), DType::float32);
  ops::mul(root.named("fed"), x, tenth);
  ops::mul(root.named("folded"),
           ops::const_(root, Tensor::scalar(std::numeric_limits<float>::min()), DType::float32),
           tenth);
  REQUIRE(session.extend(root).ok());
  volatile float least = std::numeric_limits<float>::min(); // not the compiler's to compute
  for (std::int64_t size : {1, 1 << 20})                    // the second goes to helpers, too
    for (int i = 0; i < 3; ++i) {
      Tensor fed = Tensor::make(DType::float32, {size});
      std::ranges::fill(fed.mutable_data<float>(), static_cast<float>(least));
      auto out = session.run({{"x", fed}}, {"fed", "folded"});
      REQUIRE(out.ok());
      CHECK(std::ranges::count((*out)[0].data<float>(), 0.0f) == size);
      CHECK((*out)[1].value<float>() == 0);
      CHECK(least / 16 * 16 == least);
      CHECK(least / 16 > 0);
    }
}

TEST_CASE("session: a later step that fails says where, and the next one runs") {
  Session session = local();
  Scope root = Scope::root();
  Output a = ops::placeholder(root.named("a"), DType::float32);
  ops::mat_mul(root.named("product"), a, a);
  REQUIRE(session.extend(root).ok());
  auto run = [&](const Tensor& value) { return session.run({{"a", value}}, {"product"}); };
  for (int i = 0; i < 3; ++i) {
    REQUIRE(run(Tensor::zeros(DType::float32, {2, 2})).ok());
    Status status = run(Tensor::zeros(DType::float32, {2, 3})).status();
    CHECK(status.code() == Code::invalid_argument);
    CHECK(status.origin().node == "product");
    CHECK(has(status.origin().device, "device:CPU:0"));
    CHECK(status.origin().step != 0);
    Status feed = run(Tensor::zeros(DType::int32, {2, 2})).status();
    CHECK(feed.code() == Code::invalid_argument);
    CHECK(has(feed.message(), "a:0"));
  }
}

TEST_CASE(
    "session: a later step that goes on for long ends with its deadline, or with its session") {
  Session session = local();
  Scope root = Scope::root();
  Status parsed = parse_into(R"(
goes = Placeholder[dtype=DT_BOOL]()
always = Enter[frame_name="w", is_constant=true](goes)
zero = Const[dtype=DT_INT32, value=i32[] 0]()
enter = Enter[frame_name="w"](zero)
merge = Merge(enter, next)
goes_on = LoopCond(always) ^merge
switch = Switch(merge, goes_on)
next = NextIteration(switch:1)
exit = Exit(switch:0)
)",
                             *root.graph());
  REQUIRE_MESSAGE(parsed.ok(), parsed.to_string());
  REQUIRE(session.extend(root).ok());
  auto run = [&](bool goes, std::int64_t timeout_ms) {
    RunOptions options;
    options.timeout_ms = timeout_ms;
    return session.run({{"goes", Tensor::scalar(goes)}}, {"exit"}, {}, options).status();
  };
  REQUIRE(run(false, 0).ok());
  REQUIRE(run(false, 0).ok());
  Status late = run(true, 50);
  CHECK(late.code() == Code::deadline_exceeded);
  CHECK(has(late.message(), "50 ms"));
  CHECK(run(false, 0).ok());
  std::atomic<bool> has_ended = false;
  std::thread closer([&] {
    while (!has_ended) // the loop below is seen to run before the session is closed
      if (auto steps = session.steps();
          steps.ok() && !steps->empty() && steps->front().state == "running")
        break;
    CHECK(session.close().ok());
  });
  Status closed = run(true, 60'000);
  has_ended = true;
  closer.join();
  CHECK_FALSE(closed.ok());
  CHECK_MESSAGE((has(closed.message(), "closed") || has(closed.message(), "Session::Close()")),
                closed.to_string());
  CHECK(run(false, 0).code() == Code::failed_precondition);
}

TEST_CASE("session: a fetch that is dead is named in a later step too") {
  Session session = local();
  Scope root = Scope::root();
  Status parsed = parse_into(R"(
p = Placeholder[dtype=DT_BOOL]()
v = Const[dtype=DT_FLOAT, value=f32[] 4]()
switch = Switch(v, p)
)",
                             *root.graph());
  REQUIRE_MESSAGE(parsed.ok(), parsed.to_string());
  REQUIRE(session.extend(root).ok());
  for (int i = 0; i < 3; ++i) {
    auto taken = session.run({{"p", Tensor::scalar(true)}}, {"switch:1"});
    REQUIRE_MESSAGE(taken.ok(), taken.status().to_string());
    CHECK(equal((*taken)[0], Tensor::scalar(4.0f)));
    Status dead = session.run({{"p", Tensor::scalar(false)}}, {"switch:1"}).status();
    CHECK(dead.code() == Code::invalid_argument);
    CHECK(has(dead.message(), "'switch:1' is dead"));
  }
}

TEST_CASE("session: steps of callers' threads are listed, and asked for when they run no more") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  for (int i = 0; i < 100; ++i)
    REQUIRE(session.run({{"x", floats({1})}}, {"y"}).ok());
  auto steps = session.steps();
  REQUIRE(steps.ok());
  REQUIRE(steps->size() == 64);
  for (const StepSummary& step : *steps) {
    CHECK(step.state == "done");
    CHECK(has(step.signature, "y:0"));
    CHECK(step.duration_us >= 0);
  }
  auto why = session.why(steps->front().step_id);
  REQUIRE(why.ok());
  REQUIRE(why->remarks.size() == 1);
  CHECK(has(why->remarks[0], "has ended: done"));
}

TEST_CASE("session: a callable is run by several threads") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  auto callable = session.make_callable({"x"}, {"z", "y"});
  REQUIRE(callable.ok());
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        auto x = static_cast<float>(1000 * static_cast<int>(t) + i);
        auto out = (*callable)({floats({x})});
        wrong[t] += !out.ok() || !equal((*out)[0], floats({x * x})) ||
                    !equal((*out)[1], floats({2 * x + 1}));
        wrong[t] += (*callable)({}).ok(); // a feed is missing
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("session: a later step whose kernels run on several threads gives the same") {
  SessionOptions options;
  options.intra_op_threads = 3;
  Session session = local(options);
  Scope root = Scope::root();
  Output a = ops::placeholder(root.named("a"), DType::float32);
  std::vector<std::string> fetches;
  for (int i = 0; i < 4; ++i) {
    std::string name = "product" + std::to_string(i);
    ops::mat_mul(root.named(name), a, ops::add_v2(root, a, static_cast<float>(i)));
    fetches.push_back(name);
  }
  REQUIRE(session.extend(root).ok());
  Tensor ones = Tensor::zeros(DType::float32, {160, 160});
  for (std::int64_t i = 0; i < ones.num_elements(); ++i)
    static_cast<float*>(ones.mutable_raw())[i] = 1.0f;
  for (int round = 0; round < 20; ++round) {
    auto out = session.run({{"a", ones}}, fetches);
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    for (std::size_t i = 0; i < out->size(); ++i)
      CHECK(static_cast<const float*>((*out)[i].raw())[0] == 160.0f * static_cast<float>(1 + i));
  }
}

} // namespace troupe
