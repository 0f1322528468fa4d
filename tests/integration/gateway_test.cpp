// A node with a gateway, driven by gRPC requests as TensorFlow's client sends them.
#include <doctest/doctest.h>

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include "actors/node/handles.hpp"
#include "actors/protocol/status.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/endless_graph.hpp"
#include "tests/support/free_port.hpp"
#include "tests/support/gateway/gateway_rig.hpp"

namespace troupe::gateway_test {

using troupe::testing::comes_true;
using troupe::testing::parsed;

using Fixture = troupe::testing::GatewayRig;

TEST_CASE_FIXTURE(Fixture, "gateway: a session is made, run and closed") {
  const std::string session = open();
  auto request = step(session, "y:0");
  feed(request, "x:0", Tensor::of<float>({2}, {3, 4}));
  auto answer = run(request);
  CHECK(answer.tensor(0).name() == "y:0");
  CHECK(value(answer).data<float>()[1] == -4);
  CHECK(close(session).ok());
  Status again = close(session);
  CHECK(again.code() == Code::aborted);
  CHECK(again.message() ==
        "Session " + session + " is not found. Possibly, this master has restarted.");
  CHECK(run(request).status_code() == tensorflow::error::ABORTED); // where the client looks for it
  request.set_store_errors_in_response_body(false);
  CHECK(client->call("RunStep", request.SerializeAsString()).status() ==
        aborted("Session " + session + " is not found."));
}

TEST_CASE_FIXTURE(Fixture, "gateway: a session's graph grows, in order of its versions") {
  const std::string session = open();
  const NodeId first = root.graph()->capacity();
  ops::neg(root.named("late"), y);
  auto graph = root.graph_def_from(first);
  REQUIRE(graph.ok());
  tensorflow::ExtendSessionRequest request;
  request.set_session_handle(session);
  REQUIRE(request.mutable_graph_def()->ParseFromString(*graph));
  request.set_current_graph_version(17);
  CHECK(client->call("ExtendSession", request.SerializeAsString()).status().code() ==
        Code::aborted);
  request.set_current_graph_version(version);
  auto extended = parsed<tensorflow::ExtendSessionResponse>(
      client->call("ExtendSession", request.SerializeAsString()));
  CHECK(extended.new_graph_version() == version + 1);
  auto late = step(session, "late:0");
  feed(late, "x:0", Tensor::scalar(2.0f));
  CHECK(value(run(late)).value<float>() == 2);
}

TEST_CASE_FIXTURE(Fixture, "gateway: a name without its slot is that of the first one") {
  const std::string session = open();
  auto request = step(session, "y");
  feed(request, "x", Tensor::scalar(2.0f));
  auto answer = run(request);
  CHECK(answer.tensor(0).name() == "y"); // as it was asked for
  CHECK(value(answer).value<float>() == -2);
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway: a step's error is in the body if the client asks, else the call's") {
  const std::string session = open();
  auto request = step(session, "v/read:0");
  request.set_fetch(0, v.read().name());
  auto answer = run(request);
  CHECK(answer.status_code() == tensorflow::error::FAILED_PRECONDITION);
  CHECK(answer.status_error_message().find("From /job:localhost/replica:0/task:0:\n") == 0);
  CHECK(answer.status_error_message().find("[[{{node ") != std::string::npos);
  request.set_store_errors_in_response_body(false);
  Status failed = client->call("RunStep", request.SerializeAsString()).status();
  CHECK(failed.code() == Code::failed_precondition);
  CHECK(failed.message() == answer.status_error_message());
}

TEST_CASE_FIXTURE(Fixture, "gateway: a step sent again under its id has run once") {
  const std::string session = open_initialized();
  auto add = step(session, count.name());
  add.set_request_id(-4242);
  CHECK(value(run(add)).value<float>() == 1);
  CHECK(value(run(add)).value<float>() == 1);
  add.set_request_id(4243);
  CHECK(value(run(add)).value<float>() == 2);
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway: callables have TensorFlow's handles, and their feeds are counted") {
  const std::string session = open();
  tensorflow::MakeCallableRequest make;
  make.set_session_handle(session);
  make.mutable_options()->add_feed("x:0");
  make.mutable_options()->add_fetch("y:0");
  auto made = parsed<tensorflow::MakeCallableResponse>(
      client->call("MakeCallable", make.SerializeAsString()));
  CHECK(made.handle() == 0);
  tensorflow::RunCallableRequest request;
  request.set_session_handle(session);
  request.set_handle(0);
  CHECK(client->call("RunCallable", request.SerializeAsString()).status().code() ==
        Code::invalid_argument);
  REQUIRE(request.add_feed()->ParseFromString(tensor_to_bytes(Tensor::scalar(5.0f))));
  auto answer = parsed<tensorflow::RunCallableResponse>(
      client->call("RunCallable", request.SerializeAsString()));
  REQUIRE(answer.fetch_size() == 1);
  CHECK(tensor_from_bytes(answer.fetch(0).SerializeAsString())->value<float>() == -5);
  tensorflow::ReleaseCallableRequest release;
  release.set_session_handle(session);
  CHECK(client->call("ReleaseCallable", release.SerializeAsString()).ok());
  CHECK(client->call("RunCallable", request.SerializeAsString()).status() ==
        invalid_argument("Attempted to run callable after handle was released: 0"));
  request.set_handle(9);
  CHECK(client->call("RunCallable", request.SerializeAsString()).status() ==
        invalid_argument("No such callable handle: 9"));
}

TEST_CASE_FIXTURE(Fixture, "gateway: a step is run in pieces") {
  const std::string session = open();
  tensorflow::PartialRunSetupRequest request;
  request.set_session_handle(session);
  request.add_feed("x:0");
  request.add_fetch("y:0");
  auto set_up = [&] {
    return parsed<tensorflow::PartialRunSetupResponse>(
               client->call("PartialRunSetup", request.SerializeAsString()))
        .partial_run_handle();
  };
  const std::string handle = set_up();
  CHECK_FALSE(handle.empty());
  CHECK(set_up() != handle);
  auto part = step(session, "y:0");
  part.set_partial_run_handle(handle);
  auto early = run(part);
  CHECK(early.status_code() == tensorflow::error::INVALID_ARGUMENT);
  CHECK(early.status_error_message() ==
        "Fetch x:0 can't be computed from the feeds that have been fed so far.");
  feed(part, "x:0", Tensor::scalar(3.0f));
  CHECK(value(run(part)).data<float>()[0] == -3);
  auto again = run(part);
  CHECK(again.status_error_message() == "Must run PartialRunSetup before performing partial runs");
  request.clear_fetch();
  CHECK(client->call("PartialRunSetup", request.SerializeAsString()).status() ==
        invalid_argument("Must specify at least one target to fetch or execute."));
  request.set_session_handle("nobody");
  CHECK(client->call("PartialRunSetup", request.SerializeAsString()).status() ==
        aborted("Session nobody is not found."));
}

TEST_CASE_FIXTURE(Fixture, "gateway: devices are listed with a session and without") {
  tensorflow::ListDevicesRequest request;
  auto all = parsed<tensorflow::ListDevicesResponse>(
      client->call("ListDevices", request.SerializeAsString()));
  REQUIRE(all.local_device_size() == 1);
  CHECK(all.local_device(0).name() == "/job:localhost/replica:0/task:0/device:CPU:0");
  request.set_session_handle(open());
  auto of_session = parsed<tensorflow::ListDevicesResponse>(
      client->call("ListDevices", request.SerializeAsString()));
  CHECK(of_session.local_device_size() == 1);
  request.set_session_handle("no such");
  CHECK(client->call("ListDevices", request.SerializeAsString()).status().code() ==
        Code::invalid_argument);
}

TEST_CASE_FIXTURE(Fixture, "gateway: a reset ends every session") {
  const std::string session = open();
  CHECK(client->call("Reset", tensorflow::ResetRequest().SerializeAsString()).ok());
  CHECK(comes_true([&] {
    return run(step(session, "y:0")).status_error_message() ==
           "Session " + session + " is not found.";
  }));
}

TEST_CASE_FIXTURE(Fixture, "gateway: a step whose client has gone ends, and its session goes on") {
  tensorflow::CreateSessionRequest create;
  auto graph = parse_graph(troupe::testing::endless_graph, op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  REQUIRE(create.mutable_graph_def()->ParseFromString(*write_graph_bytes(*graph)));
  auto created = parsed<tensorflow::CreateSessionResponse>(
      client->call("CreateSession", create.SerializeAsString()));
  auto request = step(created.session_handle(), "");
  request.add_target("end");
  auto pending = client->start("RunStep", request.SerializeAsString());
  CHECK(comes_true([] { return counter("master_steps").value() == 1; }));
  pending.cancel();
  CHECK(pending.wait().status().code() == Code::cancelled);
  CHECK(comes_true([] { return counter("master_steps").value() == 0; }));
  CHECK(close(created.session_handle()).ok());
}

namespace {

// "end" is the target of a step without an end.
std::string endless_session(const Fixture& rig, std::int64_t operation_timeout_ms) {
  auto graph = parse_graph(troupe::testing::endless_graph, op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  tensorflow::CreateSessionRequest create;
  REQUIRE(create.mutable_graph_def()->ParseFromString(*write_graph_bytes(*graph)));
  create.mutable_config()->set_operation_timeout_in_ms(operation_timeout_ms);
  return parsed<tensorflow::CreateSessionResponse>(
             rig.client->call("CreateSession", create.SerializeAsString()))
      .session_handle();
}

} // namespace

TEST_CASE_FIXTURE(Fixture, "gateway: a step ends before the deadline of its client's call") {
  const std::string session = endless_session(*this, 0);
  auto request = step(session, "");
  request.add_target("end");
  // A machine may be too busy for one answer to be there in time, not for all.
  CHECK(comes_true([&] {
    auto answer =
        client->call("RunStep", request.SerializeAsString(), std::chrono::milliseconds(300));
    if (!answer.ok()) {
      CHECK(answer.status().code() == Code::deadline_exceeded);
      return false;
    }
    const auto ended = parsed<tensorflow::RunStepResponse>(answer);
    CHECK(ended.status_code() == tensorflow::error::DEADLINE_EXCEEDED);
    const std::string_view why = ended.status_error_message(), before = "its deadline of ";
    const auto at = why.find(before);
    REQUIRE_MESSAGE(at != why.npos, why);
    const auto number = why.substr(at + before.size());
    const auto limit = parse_int(number.substr(0, number.find(' ')));
    REQUIRE_MESSAGE(limit.has_value(), why);
    CHECK(*limit < 300);
    return true;
  }));
  CHECK(close(session).ok());
}

TEST_CASE_FIXTURE(Fixture, "gateway: the session's timeout counts where the call's is longer") {
  const std::string session = endless_session(*this, 50);
  auto request = step(session, "");
  request.add_target("end");
  const auto ended = run(request);
  CHECK(ended.status_code() == tensorflow::error::DEADLINE_EXCEEDED);
  CHECK_MESSAGE(ended.status_error_message().find("deadline of 50 ms") != std::string::npos,
                ended.status_error_message());
  CHECK(close(session).ok());
}

TEST_CASE("gateway: a session that misses a task says so before its client's deadline, once") {
  NodeOptions of_node;
  for (const char* job : {"ps", "worker"})
    REQUIRE(of_node.cluster.add(job, 0, {"127.0.0.1", testing::free_port()}).ok());
  of_node.job = "worker";
  Fixture f({}, of_node);
  const std::string request = tensorflow::CreateSessionRequest().SerializeAsString();
  // Clients repeat what is UNAVAILABLE. A machine may be too busy for one answer to be there in
  // time.
  CHECK(comes_true([&] {
    const Status answer =
        f.client->call("CreateSession", request, std::chrono::milliseconds(500)).status();
    CHECK(answer.code() == Code::deadline_exceeded);
    return answer.message().find("a session needs every task it may use: "
                                 "/job:ps/replica:0/task:0") != std::string::npos;
  }));
}

TEST_CASE("gateway: an idle session is closed, and the number of sessions is bounded") {
  GatewayOptions options;
  options.max_sessions = 1;
  options.idle_session = std::chrono::milliseconds(200);
  Fixture f(options);
  const std::string session = f.open();
  CHECK(comes_true([] { return counter("gateway_sessions").value() == 0; }));
  CHECK(f.close(session).code() == Code::aborted);
  options.idle_session = std::chrono::hours(1);
  Fixture full(options);
  (void)full.open();
  Status refused = full.client->call("CreateSession", "").status();
  CHECK(refused.code() == Code::resource_exhausted);
  CHECK(refused.message().find("takes (1)") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "gateway: it is a child of its node, and goes with it") {
  const std::string session = open();
  node->shut_down("a test");
  node->wait();
  auto request = step(session, "y:0");
  feed(request, "x:0", Tensor::scalar(1.0f));
  const auto left = client->call("RunStep", request.SerializeAsString(), std::chrono::seconds(20));
  if (left.ok()) // its session ended before the call came to it
    CHECK(parsed<tensorflow::RunStepResponse>(left).status_code() == tensorflow::error::ABORTED);
  else
    CHECK(left.status().code() == Code::unavailable);
  CHECK(client->call("CreateSession", "").status().code() == Code::unavailable);
}

TEST_CASE_FIXTURE(Fixture, "gateway: what is no request is refused, and unknown methods") {
  CHECK(client->call("CreateSession", "\xff\xff").status().code() == Code::invalid_argument);
  CHECK(client->call("RunStep", "\x0a\x7f").status().code() == Code::invalid_argument);
  CHECK(client->call("RunStep", "").status().code() == Code::aborted); // of no session
  CHECK(client->call("NoSuch", "").status().code() == Code::unimplemented);
  (void)open(); // and goes on
}

TEST_CASE_FIXTURE(Fixture,
                  "gateway: a session whose master session is killed goes on under its handle") {
  const std::string session = open();
  auto init = step(session, "");
  init.add_target(v.initializer().name());
  CHECK(run(init).status_code() == tensorflow::error::OK);
  const auto add = step(session, count.name());
  float counted = 0;
  const auto without_actors = [&] { // until one ends on the thread that took the call
    Counter& steps = counter("gateway_direct_steps");
    const std::int64_t before = steps.value();
    CHECK(comes_true([&] {
      CHECK(value(run(add)).value<float>() == ++counted);
      return steps.value() > before;
    }));
  };
  without_actors();
  caf::scoped_actor self{node->system()};
  auto ask_guardian = [&](auto message, auto answered) {
    self->request(node->handles().guardian, caf::timespan(std::chrono::seconds(30)),
                  std::move(message))
        .receive(answered, [](caf::error& error) { FAIL(to_status(error).to_string()); });
  };
  std::string path;
  ask_guardian(GetActors{}, [&](const ActorTree& tree) {
    for (const ActorInfo& info : tree.actors)
      if (info.path == "guardian/master/session-" + session)
        path = info.path;
  });
  REQUIRE_FALSE(path.empty());
  ask_guardian(KillActor{path}, [](caf::ok_atom) {});
  // The first call may still have met the one that ended; it was not run then, or is not known to
  // have been.
  auto request = step(session, v.read().name());
  tensorflow::RunStepResponse answer;
  CHECK(comes_true([&] {
    answer = run(request);
    return answer.status_code() != tensorflow::error::ABORTED &&
           answer.status_code() != tensorflow::error::UNAVAILABLE; // it was asked as it ended
  }));
  CHECK(value(answer).value<float>() == counted);
  without_actors();
}

} // namespace troupe::gateway_test
