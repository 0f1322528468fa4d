// Steps of a session: what ends them from outside, and what they tell of themselves.
#include <chrono>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "api/testing/small_session.hpp"

namespace troupe {

using namespace testing;

TEST_CASE("session: steps run side by side and do not mix") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  std::vector<PendingRun> running;
  for (int i = 0; i < 32; ++i)
    running.push_back(session.run_async({{"x:0", floats({static_cast<float>(i)})}}, {"z:0"}));
  for (int i = 0; i < 32; ++i) {
    auto out = running[static_cast<std::size_t>(i)].get();
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    CHECK(equal((*out)[0], floats({static_cast<float>(i * i)})));
  }
}

namespace {

Tensor zeros(Shape shape) {
  return Tensor::zeros(DType::float32, std::move(shape));
}

void check_is_of(const Status& status, std::string_view node, std::string_view op) {
  CHECK(status.code() == Code::invalid_argument);
  CHECK_MESSAGE(status.origin().node == node, status.to_string());
  CHECK(status.origin().op == op);
}

} // namespace

TEST_CASE("session: an error within fused ops is that of the node which has it") {
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32),
         y = ops::placeholder(root.named("y"), DType::float32);
  Output wrong = ops::sub(root.named("wrong"), x, y);
  Output middle = ops::mul(root.named("middle"), wrong, wrong);
  ops::tanh(root.named("last"), middle);
  Session session = local();
  REQUIRE(session.extend(root).ok());
  REQUIRE(session.run({{"x", zeros({5, 1})}, {"y", zeros({5, 1})}}, {"last"}).ok());
  for (int i = 0; i < 2; ++i) {
    const Status status =
        session.run({{"x", zeros({5, 1})}, {"y", zeros({4, 1})}}, {"last"}).status();
    check_is_of(status, "wrong", "Sub");
    CHECK(status.message().find("Incompatible shapes: [5,1] vs. [4,1]") != std::string::npos);
    CHECK(status.origin().device.ends_with("/device:CPU:0"));
  }
}

TEST_CASE("session: an error within a fused product is that of the node which has it") {
  Scope root = Scope::root();
  Output a = ops::placeholder(root.named("a"), DType::float32),
         b = ops::placeholder(root.named("b"), DType::float32),
         bias = ops::placeholder(root.named("bias"), DType::float32),
         more = ops::placeholder(root.named("more"), DType::float32);
  Output product = ops::mat_mul(root.named("product"), a, b);
  Output biased = ops::bias_add(root.named("biased"), product, bias);
  Output sum = ops::add_v2(root.named("sum"), biased, more);
  ops::tanh(root.named("last"), sum);
  Session session = local();
  REQUIRE(session.extend(root).ok());
  const auto run = [&](Shape of_b, Shape of_bias, Shape of_more) {
    return session
        .run({{"a", zeros({2, 3})},
              {"b", zeros(of_b)},
              {"bias", zeros(of_bias)},
              {"more", zeros(of_more)}},
             {"last"})
        .status();
  };
  REQUIRE(run({3, 4}, {4}, {2, 4}).ok());
  check_is_of(run({2, 4}, {4}, {2, 4}), "product", "MatMul");
  check_is_of(run({3, 4}, {3}, {2, 4}), "biased", "BiasAdd");
  check_is_of(run({3, 4}, {4}, {3, 4}), "sum", "AddV2");
}

TEST_CASE("session: an error within a fused convolution is that of the node which has it") {
  Scope root = Scope::root();
  Output image = ops::placeholder(root.named("image"), DType::float32),
         filter = ops::placeholder(root.named("filter"), DType::float32),
         bias = ops::placeholder(root.named("bias"), DType::float32),
         more = ops::placeholder(root.named("more"), DType::float32);
  Output filtered = ops::conv2d(root.named("filtered"), image, filter, {1, 1, 1, 1}, "SAME");
  Output biased = ops::bias_add(root.named("biased"), filtered, bias);
  Output sum = ops::add_v2(root.named("sum"), biased, more);
  ops::relu(root.named("last"), sum);
  Session session = local();
  REQUIRE(session.extend(root).ok());
  const auto run = [&](Shape of_filter, Shape of_bias, Shape of_more) {
    return session
        .run({{"image", zeros({1, 4, 4, 2})},
              {"filter", zeros(of_filter)},
              {"bias", zeros(of_bias)},
              {"more", zeros(of_more)}},
             {"last"})
        .status();
  };
  REQUIRE(run({3, 3, 2, 5}, {5}, {1, 4, 4, 5}).ok());
  check_is_of(run({3, 3, 3, 5}, {5}, {1, 4, 4, 5}), "filtered", "Conv2D");
  check_is_of(run({3, 3, 2, 5}, {4}, {1, 4, 4, 5}), "biased", "BiasAdd");
  check_is_of(run({3, 3, 2, 5}, {5}, {1, 3, 4, 5}), "sum", "AddV2");
}

TEST_CASE("session: a short pending step whose kind is known has ended when it is there") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  REQUIRE(session.run_async({{"x:0", floats({1})}}, {"z:0"}).get().ok());
  std::vector<PendingRun> running;
  int ended = 0;
  for (float i = 0; i < 100; ++i) {
    running.push_back(session.run_async({{"x:0", floats({i})}}, {"z:0"}));
    ended += running.back().is_done() ? 1 : 0;
  }
  CHECK(ended > 0); // not all: a kind is taken for a long one where its thread lost the processor
  for (float i = 0; i < 100; ++i) {
    PendingRun& one = running[static_cast<std::size_t>(i)];
    auto out = one.get();
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    CHECK(equal((*out)[0], floats({i * i})));
  }
  CHECK(session.run_async({{"x:0", floats({})}}, {"z:0"}).get().ok()); // another shape
  CHECK(session.run_async({{"x:0", Tensor::scalar(1)}}, {"z:0"}).get().status().code() ==
        Code::invalid_argument);
  CHECK_FALSE(session.run_async({}, {"z:0"}).get().ok());
  REQUIRE(session.close().ok());
  CHECK(session.run_async({{"x:0", floats({1})}}, {"z:0"}).get().status().code() ==
        Code::failed_precondition);
}

TEST_CASE("session: a pending step does not compute on its caller's thread") {
  const Tensor large = Tensor::zeros(DType::float32, Shape{1024, 1024});
  // Unless this thread is kept from the processor each time, asking once takes less than half of
  // the whole. A session of its own for each, since a kind that has taken long is not begun on a
  // caller's thread again for a while.
  using Clock = std::chrono::steady_clock;
  bool is_asked_only = false;
  for (int i = 0; i < 20 && !is_asked_only; ++i) {
    Session session = local();
    Scope root = Scope::root();
    Output x = ops::placeholder(root.named("x"), DType::float32);
    ops::mat_mul(root.named("product"), x, x);
    REQUIRE(session.extend(root).ok());
    REQUIRE(session.run_async({{"x:0", large}}, {"product:0"}).get().ok()); // known from here on
    const auto begin = Clock::now();
    PendingRun one = session.run_async({{"x:0", large}}, {"product:0"});
    const auto asked = Clock::now();
    auto out = one.get();
    is_asked_only = 2 * (asked - begin) < Clock::now() - begin;
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    CHECK((*out)[0].shape() == large.shape());
  }
  CHECK(is_asked_only);
}

TEST_CASE("session: a pending step that waits goes on in the node when its value comes") {
  Session session = local();
  Scope root = small_graph();
  REQUIRE(parse_into(R"(
    queue = FIFOQueueV2[component_types=[DT_FLOAT], shapes=[]]()
    put = QueueEnqueueV2[Tcomponents=[DT_FLOAT]](queue, x)
    take = QueueDequeueV2[component_types=[DT_FLOAT]](queue)
  )",
                     *root.graph())
              .ok());
  REQUIRE(session.extend(root).ok());
  const auto put = [&](float value) {
    CHECK(session.run({{"x:0", floats({value})}}, {}, {"put"}).ok());
  };
  put(-1);
  REQUIRE(session.run_async({}, {"take:0"}).get().ok()); // known from here on
  std::vector<PendingRun> waiting;
  for (int i = 0; i < 40; ++i) // the actors' own are among them
    waiting.push_back(session.run_async({}, {"take:0"}));
  for (const PendingRun& one : waiting)
    CHECK_FALSE(one.is_done());
  waiting.back().cancel();
  CHECK(waiting.back().get().status().code() == Code::cancelled);
  float sum = 0;
  for (float i = 0; i < 39; ++i)
    put(i);
  for (std::size_t i = 0; i < 39; ++i) {
    auto out = waiting[i].get();
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    sum += (*out)[0].data<float>()[0];
  }
  CHECK(sum == 38 * 39 / 2);
  PendingRun last = session.run_async({}, {"take:0"});
  REQUIRE(session.close().ok());
  CHECK_FALSE(last.get().ok());
}

TEST_CASE("session: a step that never ends is ended by its deadline, and the session lives on") {
  Session session = local();
  REQUIRE(session.extend(small_and_endless_graph()).ok());
  RunOptions options;
  options.timeout_ms = 50;
  Status status = session.run({}, {"end"}, {}, options).status();
  CHECK(status.code() == Code::deadline_exceeded);
  auto out = session.run({{"x", floats({1})}}, {"y"});
  CHECK_MESSAGE(out.ok(), out.status().to_string());
}

TEST_CASE("session: the session's own limit ends a step too") {
  SessionOptions options;
  options.operation_timeout_ms = 50;
  Session session = local(options);
  REQUIRE(session.extend(small_and_endless_graph()).ok());
  CHECK(session.run({}, {"end"}).status().code() == Code::deadline_exceeded);
}

TEST_CASE("session: closing ends what runs") {
  Session session = local();
  REQUIRE(session.extend(small_and_endless_graph()).ok());
  auto running = session.run_async({}, {"end"});
  REQUIRE(session.close().ok());
  CHECK_FALSE(running.get().ok());
}

TEST_CASE("session: a running step is cancelled, the others and the session go on") {
  Session session = local();
  REQUIRE(session.extend(small_and_endless_graph()).ok());
  PendingRun endless = session.run_async({}, {"end"});
  PendingRun other = session.run_async({}, {"end"});
  CHECK_FALSE(endless.is_done());
  CHECK_FALSE(endless.wait_for(std::chrono::milliseconds(1)));
  endless.cancel();
  endless.cancel();
  Status status = endless.get().status();
  CHECK(status.code() == Code::cancelled);
  CHECK(has(status.message(), "cancelled by its client"));
  CHECK(endless.is_done());
  CHECK(endless.get().status() == status);
  CHECK_FALSE(other.is_done());
  CHECK(session.run({{"x", floats({1})}}, {"y"}).ok());
  other.cancel();
  CHECK(other.get().status().code() == Code::cancelled);
}

TEST_CASE("session: why says what a running step waits for, as records and as text") {
  Session session = local();
  REQUIRE(session.extend(small_and_endless_graph()).ok());
  auto idle = session.why();
  REQUIRE_MESSAGE(idle.ok(), idle.status().to_string());
  CHECK(idle->steps.empty());
  CHECK(idle->to_text().empty());
  PendingRun endless = session.run_async({}, {"end"});
  WaitReport report;
  while (report.steps.empty()) { // until it has its graph
    auto asked = session.why();
    REQUIRE_MESSAGE(asked.ok(), asked.status().to_string());
    report = *asked;
  }
  for (int i = 0; i < 20; ++i) // each time the caller gets its thread back from the endless step
    CHECK(session.why().ok());
  const StepWait& step = report.steps.at(0);
  CHECK(step.step_id != 0);
  CHECK(has(step.signature, "end:0"));
  CHECK_FALSE(step.tree.empty());
  std::string text = report.to_text();
  CHECK(has(text, std::to_string(step.step_id)));
  CHECK(has(text, step.tree.back()));
  auto one = session.why(step.step_id);
  REQUIRE(one.ok());
  CHECK(one->steps.size() == 1);
  endless.cancel();
  CHECK(endless.get().status().code() == Code::cancelled);
  auto after = session.why(step.step_id);
  REQUIRE(after.ok());
  CHECK(after->steps.empty());
  REQUIRE(after->remarks.size() == 1);
  CHECK(has(after->remarks[0], "has ended"));
}

TEST_CASE("session: cancelling what has ended changes nothing, and of no step there is nothing") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  PendingRun done = session.run_async({{"x", floats({3})}}, {"z"});
  REQUIRE(done.get().ok());
  done.cancel();
  auto again = done.get();
  REQUIRE(again.ok());
  CHECK(equal((*again)[0], floats({9})));
  CHECK(PendingRun().is_done());
  PendingRun().cancel();
  CHECK(PendingRun().get().status().code() == Code::failed_precondition);
  CHECK(Session::Callable()({}).status().code() == Code::failed_precondition);
}

TEST_CASE("session: a pending step tells what its options ask for") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  RunOptions options;
  options.trace_level = TraceLevel::full;
  RunMetadata metadata;
  REQUIRE(session.run_async({{"x", floats({3})}}, {"z"}, {}, options).get(&metadata).ok());
  CHECK_FALSE(metadata.step_stats.devices.empty());
  auto callable = session.make_callable({"x"}, {"z"});
  REQUIRE(callable.ok());
  metadata = {};
  REQUIRE((*callable)({floats({3})}, options, &metadata).ok());
  CHECK_FALSE(metadata.step_stats.devices.empty());
}

TEST_CASE("session: what is left of a session that was destroyed says so") {
  Session::Callable callable;
  PendingRun running;
  {
    Session session = local();
    REQUIRE(session.extend(small_and_endless_graph()).ok());
    auto made = session.make_callable({"x"}, {"z"});
    REQUIRE(made.ok());
    callable = *made;
    running = session.run_async({}, {"end"});
  }
  CHECK_FALSE(running.get().ok());
  running.cancel();
  CHECK(callable({floats({1})}).status().code() == Code::failed_precondition);
}

TEST_CASE("session: a constant that is not of the dtype it says is an error of its step") {
  Session session = local();
  Scope root = small_graph();
  REQUIRE(
      parse_into("lie = Const[dtype=DT_FLOAT, value=i32[2] 1 2]()\nminus = Neg(lie)", *root.graph())
          .ok());
  REQUIRE(session.extend(root).ok());
  Status status = session.run({}, {"minus"}).status();
  CHECK(status.code() == Code::invalid_argument);
  CHECK(has(status.message(), "'lie'"));
  CHECK(session.run({{"x", floats({1})}}, {"y"}).ok());
}

TEST_CASE("session: a step tells its graphs though others of its signature did not") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  RunMetadata before, shown;
  REQUIRE(session.run({{"x", floats({1})}}, {"z"}, {}, {}, &before).ok());
  CHECK(before.partition_graphs.empty());
  RunOptions options;
  options.output_partition_graphs = true;
  auto out = session.run({{"x", floats({1})}}, {"z"}, {}, options, &shown);
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  REQUIRE(shown.partition_graphs.size() == 1);
  CHECK(has(shown.partition_graphs[0], "_Retval"));
  CHECK(session.run({{"x", floats({1})}}, {"z"}).ok());
}

TEST_CASE("session: a traced step tells its nodes and its graphs") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  RunOptions options;
  options.trace_level = TraceLevel::full;
  options.output_partition_graphs = true;
  RunMetadata metadata;
  auto out = session.run({{"x", floats({1})}}, {"z"}, {}, options, &metadata);
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  bool found = false;
  for (const DeviceStats& device : metadata.step_stats.devices)
    for (const NodeStats& node : device.nodes)
      found |= node.node == "z" && node.op == "Square" && node.end_us >= node.start_us;
  CHECK(found);
  CHECK_FALSE(metadata.partition_graphs.empty());
  // Beside the kernels: what caller, master and worker saw of the step, one within the other.
  auto span = [&](std::string_view op) {
    for (const DeviceStats& device : metadata.step_stats.devices)
      for (const NodeStats& node : device.nodes)
        if (node.op == op)
          return node;
    return NodeStats{};
  };
  NodeStats client = span("Session::run"), master = span("RunGraph"), worker = span("ExecuteGraph");
  CHECK(client.start_us > 0);
  CHECK(client.start_us <= master.start_us);
  CHECK(master.start_us <= worker.start_us);
  CHECK(worker.end_us <= master.end_us);
  CHECK(master.end_us <= client.end_us);
}

TEST_CASE("session: a shape that is not what was ensured is said of the value that has it") {
  Session session = local();
  Scope root = small_graph();
  REQUIRE(parse_into(R"(
    axis = Const[dtype=DT_INT32, value=i32[] 0]()
    halves = Split[T=DT_FLOAT, num_split=2](axis, y)
    of_y = EnsureShape[T=DT_FLOAT, shape=[3]](y)
    of_half = EnsureShape[T=DT_FLOAT, shape=[3]](halves:1)
    of_feed = EnsureShape[T=DT_FLOAT, shape=[3]](x)
  )",
                     *root.graph())
              .ok());
  REQUIRE(session.extend(root).ok());
  const auto error = [&](const char* fetch) {
    return session.run({{"x:0", floats({1, 2})}}, {fetch}).status().message();
  };
  CHECK(has(error("of_y:0"), "Shape of tensor y [2] is not compatible with expected shape [3]."));
  CHECK(has(error("of_half:0"), "Shape of tensor halves:1 [1] is not compatible"));
  CHECK(has(error("of_feed:0"), "[2] is not compatible with expected shape [3]."));
}

} // namespace troupe
