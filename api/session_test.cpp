#include "api/session.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "api/ops.hpp"
#include "api/variable.hpp"
#include "devices/device.hpp"
#include "devices/memory/machine_memory.hpp"
#include "graph/ir/text.hpp"

namespace troupe {

namespace {

bool has(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

Session local(const SessionOptions& options = {}) {
  auto session = Session::open("local", options);
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  return *std::move(session);
}

// y = 2 x + 1, z = x².
Scope small_graph() {
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  ops::add_v2(root.named("y"), ops::mul(root, x, 2.0f), 1.0f);
  ops::square(root.named("z"), x);
  return root;
}

Tensor floats(std::initializer_list<float> values) {
  return Tensor::vector<float>(values);
}

// Counts in a loop that nothing ends.
constexpr std::string_view endless = R"(
zero = Const[dtype=DT_INT32, value=i32[] 0]()
enter = Enter[frame_name="forever"](zero)
merge = Merge(enter, next)
always = Const[dtype=DT_BOOL, value=bool[] true]() ^merge
goes_on = LoopCond(always)
switch = Switch(merge, goes_on)
next = NextIteration(switch:1)
exit = Exit(switch:0)
)";

Scope endless_graph() {
  Scope root = small_graph();
  Status parsed = parse_into(endless, *root.graph());
  REQUIRE_MESSAGE(parsed.ok(), parsed.to_string());
  return root;
}

} // namespace

TEST_CASE("session: what is fed is computed and fetched") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  auto out = session.run({{"x:0", floats({1, 2, 3})}}, {"y:0"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK(equal((*out)[0], floats({3, 5, 7})));
}

TEST_CASE("session: each signature gives what it asks for, in its order") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto both = session.run({{"x", floats({3})}}, {"z:0", "y"});
    REQUIRE_MESSAGE(both.ok(), both.status().to_string());
    CHECK(equal((*both)[0], floats({9})));
    CHECK(equal((*both)[1], floats({7})));
    auto one = session.run({{"x", floats({5})}}, {"z"});
    REQUIRE_MESSAGE(one.ok(), one.status().to_string());
    CHECK(equal((*one)[0], floats({25})));
  }
}

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

TEST_CASE("session: a failed step says where") {
  Session session = local();
  Scope root = Scope::root();
  Output a = ops::placeholder(root.named("a"), DType::float32);
  ops::mat_mul(root.named("product"), a, a);
  REQUIRE(session.extend(root).ok());
  auto out = session.run({{"a:0", Tensor::zeros(DType::float32, {2, 3})}}, {"product:0"});
  Status status = out.status();
  CHECK(status.code() == Code::invalid_argument);
  CHECK(status.origin().node == "product");
  CHECK(status.origin().op == "MatMul");
  CHECK(has(status.origin().device, "device:CPU:0"));
  CHECK(status.origin().step != 0);
  auto next = session.run({{"a:0", Tensor::zeros(DType::float32, {2, 2})}}, {"product:0"});
  CHECK_MESSAGE(next.ok(), next.status().to_string());
}

TEST_CASE("session: a fetch, a target or a feed that does not exist is named") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  Status fetch = session.run({}, {"nix:0"}).status();
  CHECK(fetch.code() == Code::not_found);
  CHECK(has(fetch.message(), "nix:0"));
  CHECK(has(session.run({}, {}, {"nada"}).status().message(), "nada"));
  CHECK(has(session.run({{"no", floats({1})}}, {"y"}).status().message(), "no:0"));
}

TEST_CASE("session: a placeholder without a value is named") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  Status status = session.run({}, {"y"}).status();
  CHECK(status.code() == Code::invalid_argument);
  CHECK(has(status.message(), "'x'"));
}

TEST_CASE("session: the scope's own error comes back from extend") {
  Session session = local();
  Scope root = Scope::root();
  (void)root.add("NoSuchOp", std::vector<Output>{});
  Status status = session.extend(root);
  CHECK(status.code() == Code::not_found);
  CHECK(has(status.message(), "NoSuchOp"));
}

TEST_CASE("session: a closed session says so") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  REQUIRE(session.close().ok());
  Status status = session.run({{"x", floats({1})}}, {"y"}).status();
  CHECK(status.code() == Code::failed_precondition);
  CHECK(has(status.message(), "Session is closed."));
  CHECK(session.extend_graph_def("").code() == Code::failed_precondition);
  CHECK(session.close().ok());
}

TEST_CASE("session: one that was moved from answers that it was") {
  Session first = local();
  Session second = std::move(first);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  Scope graph = small_graph();
  for (const Status& status :
       {first.extend(graph), first.extend_graph_def(""), first.run({}, {"y"}).status(),
        first.run_async({}, {"y"}).get().status(), first.make_callable({}, {"y"}).status(),
        first.devices().status(), first.steps().status(), first.why().status(),
        first.explain().status(), first.close()}) {
    CHECK(status.code() == Code::failed_precondition);
    CHECK(has(status.message(), "this Session was moved from"));
  }
  CHECK(first.handle().empty());
  CHECK(first.local_node() == nullptr);
  // NOLINTEND(bugprone-use-after-move)
  CHECK(second.devices().ok());
}

TEST_CASE("session: a negative timeout is refused") {
  SessionOptions options;
  options.operation_timeout_ms = -1;
  Status refused = Session::open("local", options).status();
  CHECK(refused.code() == Code::invalid_argument);
  CHECK(has(refused.message(), "operation_timeout_ms is -1"));
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  RunOptions run;
  run.timeout_ms = -5;
  Status of_run = session.run({{"x", floats({1})}}, {"y"}, {}, run).status();
  CHECK(of_run.code() == Code::invalid_argument);
  CHECK(has(of_run.message(), "timeout_ms is -5"));
  CHECK(session.run_async({{"x", floats({1})}}, {"y"}, {}, run).get().status() == of_run);
}

TEST_CASE("session: a graph grows between steps") {
  Session session = local();
  Scope root = small_graph();
  REQUIRE(session.extend(root).ok());
  REQUIRE(session.run({{"x", floats({2})}}, {"y"}).ok());
  auto y = root.find("y");
  REQUIRE(y.ok());
  ops::neg(root.named("minus_y"), *y);
  REQUIRE(session.extend(root).ok());
  REQUIRE(session.extend(root).ok());
  auto out = session.run({{"x", floats({2})}}, {"minus_y"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK(equal((*out)[0], floats({-5})));
  CHECK(session.extend_graph_def(small_graph().graph_def()).code() == Code::invalid_argument);
}

TEST_CASE("session: a callable takes its feeds by position") {
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  auto square = session.make_callable({"x:0"}, {"z:0"});
  REQUIRE_MESSAGE(square.ok(), square.status().to_string());
  for (float value : {1.0f, 2.0f, 3.0f}) {
    auto out = (*square)({floats({value})});
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    CHECK(equal((*out)[0], floats({value * value})));
  }
  CHECK((*square)({}).status().code() == Code::invalid_argument);
}

TEST_CASE("session: a step that never ends is ended by its deadline, and the session lives on") {
  Session session = local();
  REQUIRE(session.extend(endless_graph()).ok());
  RunOptions options;
  options.timeout_ms = 50;
  Status status = session.run({}, {"exit"}, {}, options).status();
  CHECK(status.code() == Code::deadline_exceeded);
  auto out = session.run({{"x", floats({1})}}, {"y"});
  CHECK_MESSAGE(out.ok(), out.status().to_string());
}

TEST_CASE("session: the session's own limit ends a step too") {
  SessionOptions options;
  options.operation_timeout_ms = 50;
  Session session = local(options);
  REQUIRE(session.extend(endless_graph()).ok());
  CHECK(session.run({}, {"exit"}).status().code() == Code::deadline_exceeded);
}

TEST_CASE("session: closing ends what runs") {
  Session session = local();
  REQUIRE(session.extend(endless_graph()).ok());
  auto running = session.run_async({}, {"exit"});
  REQUIRE(session.close().ok());
  CHECK_FALSE(running.get().ok());
}

TEST_CASE("session: a running step is cancelled, the others and the session go on") {
  Session session = local();
  REQUIRE(session.extend(endless_graph()).ok());
  PendingRun endless = session.run_async({}, {"exit"});
  PendingRun other = session.run_async({}, {"exit"});
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
  REQUIRE(session.extend(endless_graph()).ok());
  auto idle = session.why();
  REQUIRE_MESSAGE(idle.ok(), idle.status().to_string());
  CHECK(idle->steps.empty());
  CHECK(idle->to_text().empty());
  PendingRun endless = session.run_async({}, {"exit"});
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
  CHECK(has(step.signature, "exit:0"));
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
    REQUIRE(session.extend(endless_graph()).ok());
    auto made = session.make_callable({"x"}, {"z"});
    REQUIRE(made.ok());
    callable = *made;
    running = session.run_async({}, {"exit"});
  }
  CHECK_FALSE(running.get().ok());
  running.cancel();
  CHECK(callable({floats({1})}).status().code() == Code::failed_precondition);
}

TEST_CASE("session: scopes take turns at extending it") {
  Session session = local();
  Scope first = small_graph(), second = Scope::root();
  REQUIRE(session.extend(first).ok());
  ops::placeholder(second.named("p"), DType::float32);
  REQUIRE(session.extend(second).ok());
  ops::neg(first.named("minus"), *first.find("y"));
  Status again = session.extend(first);
  REQUIRE_MESSAGE(again.ok(), again.to_string());
  ops::neg(second.named("minus_p"), *second.find("p"));
  REQUIRE(session.extend(second).ok());
  CHECK(session.run({{"x", floats({1})}, {"p", floats({2})}}, {"minus", "minus_p"}).ok());
}

TEST_CASE("session: an option that cannot be kept is refused, not forgotten") {
  auto refused = [](auto&& ask, Code code) {
    SessionOptions options;
    ask(options);
    CHECK(Session::open("local", options).status().code() == code);
  };
  refused([](auto& o) { o.per_session_threads = true; }, Code::invalid_argument);
  refused([](auto& o) { o.session_thread_pools = 1; }, Code::invalid_argument);
  refused([](auto& o) { o.cluster = {{"worker", 0, "h:1"}}; }, Code::unimplemented);
  refused([](auto& o) { o.device_count["CPU"] = 0; }, Code::invalid_argument);
  refused([](auto& o) { o.device_count["CPU"] = 1 << 30; }, Code::invalid_argument);
  refused([](auto& o) { o.intra_op_threads = -1; }, Code::invalid_argument);
  refused([](auto& o) { o.memory_limit = -1; }, Code::invalid_argument);
  refused([](auto& o) { o.bfloat16_sendrecv = true; }, Code::unimplemented);
  refused([](auto& o) { o.device_filters = {"worker"}; }, Code::invalid_argument);
  refused([](auto& o) { o.disabled_passes = {"fold"}; }, Code::invalid_argument);
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  RunOptions pool, debug;
  pool.inter_op_thread_pool = 2;
  debug.debug_watches = 1;
  CHECK(session.run({{"x", floats({1})}}, {"y"}, {}, pool).status().code() ==
        Code::invalid_argument);
  CHECK(session.run_async({{"x", floats({1})}}, {"y"}, {}, debug).get().status().code() ==
        Code::unimplemented);
}

TEST_CASE(
    "session: one in this process refuses what its memory limit does not allow, and goes on") {
  SessionOptions options;
  options.memory_limit = 32 << 20;
  Session session = local(options);
  Scope root = small_graph();
  REQUIRE(parse_into("n = Placeholder[dtype=DT_INT32, shape=[1]]()\n"
                     "one = Const[dtype=DT_FLOAT, value=f32[] 1]()\n"
                     "wide = Fill(n, one)",
                     *root.graph())
              .ok());
  REQUIRE(session.extend(root).ok());
  auto wide = [&](std::int32_t count) {
    return session.run({{"n", Tensor::of<std::int32_t>({1}, {count})}}, {"wide"}).status();
  };
  CHECK(wide(1 << 20).ok());
  Status refusal = wide(64 << 20);
  CHECK(refusal.code() == Code::resource_exhausted);
  CHECK(refusal.origin().node == "wide");
  CHECK(wide(1 << 20).ok());
}

TEST_CASE("session: one in this process has a memory limit unless it is told one") {
  Session session = local();
  auto devices = session.devices();
  REQUIRE(devices.ok());
  CHECK(devices->front().memory_limit == default_memory_limit(machine_memory()));
  CHECK(devices->front().memory_limit < machine_memory());
}

TEST_CASE("session: TensorFlow's names of optimisations, and limits beyond all clocks, are taken") {
  SessionOptions options;
  options.disabled_passes = {"constant_folding", "layout_optimizer", "simplify"};
  options.operation_timeout_ms = INT64_MAX;
  Session session = local(options);
  REQUIRE(session.extend(small_graph()).ok());
  RunOptions patient;
  patient.timeout_ms = INT64_MAX;
  auto out = session.run({{"x", floats({1})}}, {"y"}, {}, patient);
  CHECK_MESSAGE(out.ok(), out.status().to_string());
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

TEST_CASE("session: a value moves from one device of the process to another") {
  SessionOptions options;
  options.device_count["CPU"] = 2;
  Session session = local(options);
  auto devices = session.devices();
  REQUIRE(devices.ok());
  CHECK(devices->size() == 2);
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output there = ops::square(root.on("/device:CPU:0").named("first"), x);
  ops::neg(root.on("/device:CPU:1").named("second"), there);
  REQUIRE(session.extend(root).ok());
  auto out = session.run({{"x", floats({3})}}, {"second"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK(equal((*out)[0], floats({-9})));
  auto placed = session.explain({"x"}, {"second"});
  REQUIRE_MESSAGE(placed.ok(), placed.status().to_string());
  auto device_of = [&](std::string_view node) {
    auto at = std::find_if(placed->devices.begin(), placed->devices.end(),
                           [&](const auto& entry) { return entry.first == node; });
    return at == placed->devices.end() ? std::string() : at->second;
  };
  CHECK(device_of("first").ends_with("/device:CPU:0"));
  CHECK(device_of("second").ends_with("/device:CPU:1"));
}

TEST_CASE("session: targets of another form are refused, absent ones are named") {
  CHECK(Session::open("http://x").status().code() == Code::invalid_argument);
  CHECK(Session::open("caf://nowhere").status().code() == Code::invalid_argument);
  SessionOptions impatient;
  impatient.operation_timeout_ms = 200;
  Status absent = Session::open("caf://127.0.0.1:1", impatient).status();
  CHECK(absent.code() == Code::unavailable);
  CHECK(has(absent.message(), "127.0.0.1:1"));
}

// The second step of a signature runs on its caller's thread. What it cannot end there goes on like
// the first.

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
  CHECK(has(closed.message(), "closed"));
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

TEST_CASE("session: local sessions that ask for the same share a node, and no variable") {
  Scope root = Scope::root();
  GraphVariable v = variable(root, "v", DType::float32, {}, Tensor::scalar(1.0f));
  Operation init = initialize_all(root, {v});
  ops::identity(root.named("value"), v.read());
  std::optional<Session> first = local();
  Session second = local();
  CHECK(first->local_node() == second.local_node());
  SessionOptions other;
  other.intra_op_threads = 3;
  CHECK(local(other).local_node() != second.local_node());
  REQUIRE(first->extend(root).ok());
  REQUIRE(second.extend(root).ok());
  REQUIRE(first->run({}, {}, {init.name()}).ok());
  CHECK(first->run({}, {"value"}).ok());
  CHECK(second.run({}, {"value"}).status().code() == Code::failed_precondition);
  first.reset();
  REQUIRE(second.run({}, {}, {init.name()}).ok());
  auto value = second.run({}, {"value"});
  REQUIRE_MESSAGE(value.ok(), value.status().to_string());
  CHECK(equal((*value)[0], Tensor::scalar(1.0f)));
}

} // namespace troupe
