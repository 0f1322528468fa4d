#include "api/session.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "api/ops.hpp"
#include "api/testing/small_session.hpp"
#include "api/variable.hpp"
#include "core/base/clock.hpp"
#include "core/base/machine.hpp"
#include "devices/device.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"

namespace troupe {

using namespace testing;

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
  refused([](auto& o) { o.thread_pools = {{-1, ""}}; }, Code::invalid_argument);
  refused([](auto& o) { o.cost_model_every = -1; }, Code::invalid_argument);
  refused([](auto& o) { o.timeline_every = -1; }, Code::invalid_argument);
  refused([](auto& o) { o.cluster = {{"worker", 0, "h:1"}}; }, Code::unimplemented);
  refused([](auto& o) { o.device_count["CPU"] = 0; }, Code::invalid_argument);
  refused([](auto& o) { o.device_count["CPU"] = 1 << 30; }, Code::invalid_argument);
  refused([](auto& o) { o.intra_op_threads = -1; }, Code::invalid_argument);
  refused([](auto& o) { o.memory_limit = -1; }, Code::invalid_argument);
  refused([](auto& o) { o.device_filters = {"worker"}; }, Code::invalid_argument);
  refused([](auto& o) { o.disabled_passes = {"fold"}; }, Code::invalid_argument);
  Session session = local();
  REQUIRE(session.extend(small_graph()).ok());
  RunOptions pool, debug;
  pool.inter_op_thread_pool = 2;
  debug.debug.watches = {{"y", 0, {"DebugIdentity"}, {"grpc://localhost:1"}, false}};
  CHECK(session.run({{"x", floats({1})}}, {"y"}, {}, pool).status() ==
        invalid_argument("Invalid inter_op_thread_pool: 2"));
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

TEST_CASE(
    "session: checks are stripped where that is asked for; unknown optimisations say nothing") {
  const auto run = [](SessionOptions options) {
    Session session = local(std::move(options));
    Scope root = Scope::root();
    REQUIRE(parse_into("x = Placeholder[dtype=DT_FLOAT]()\n"
                       "y = CheckNumerics[message=\"bad\"](x)",
                       *root.graph())
                .ok());
    REQUIRE(session.extend(root).ok());
    return session.run({{"x", floats({NAN})}}, {"y"}).status();
  };
  CHECK(run({}).code() == Code::invalid_argument);
  CHECK(run({.only_passes = {"bogus"}}).code() == Code::invalid_argument);
  CHECK(run({.only_passes = {"debug_stripper"}}).ok());
  CHECK(run({.enabled_passes = {"debug_stripper"}}).ok());
}

TEST_CASE("session: a node knows the version of its graph") {
  for (const auto& [written, read] : {std::pair{21, 21}, {9999, graph_def_version}}) {
    Session session = local();
    Scope root = Scope::root();
    root.graph()->versions.producer = written;
    REQUIRE(parse_into("v = GraphDefVersion()", *root.graph()).ok());
    REQUIRE(session.extend(root).ok());
    auto out = session.run({}, {"v"});
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    CHECK((*out)[0].value<std::int32_t>() == read);
  }
}

TEST_CASE("session: a step's deadline can be asked for") {
  Session session = local();
  Scope root = Scope::root();
  REQUIRE(parse_into("at = GetDeadline()", *root.graph()).ok());
  REQUIRE(session.extend(root).ok());
  CHECK(has(session.run({}, {"at"}).status().message(), "Deadline has not ben set."));
  RunOptions options;
  options.timeout_ms = 60'000;
  for (int i = 0; i < 3; ++i) { // by actors at first, then on this thread
    auto out = session.run({}, {"at"}, {}, options);
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    const std::int64_t left = (*out)[0].value<std::int64_t>() - wall_micros();
    CHECK(left > 30'000'000);
    CHECK(left <= 60'000'000);
  }
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
