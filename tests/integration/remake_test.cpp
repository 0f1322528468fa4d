// A master session that a fault has ended is made again, and the session goes on.
#include <doctest/doctest.h>

#include "actors/master/session_life.hpp"
#include "api/scope.hpp"
#include "api/variable.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/sim/sim_cluster.hpp"

namespace troupe::remake_test {

using namespace troupe::testing;

namespace {

constexpr const char* ps = "/job:ps/replica:0/task:0";
constexpr const char* worker0 = "/job:worker/replica:0/task:0";
constexpr const char* worker1 = "/job:worker/replica:0/task:1";

/// A variable on the ps, updated by way of worker1; the master is on worker0.
struct Fixture {
  SimCluster cluster{{ps, worker0, worker1}};
  Scope root = Scope::root();
  GraphVariable v = variable(root.on(ps), "v", DType::float32, {}, 1.0f);
  Output by = root.on(worker1)
                  .named("by")
                  .add("Placeholder", std::vector<Output>{}, {{"dtype", DType::float32}})
                  .output(0);
  Output passed =
      root.on(worker1).named("passed").add("Identity", std::vector<Output>{by}).output(0);
  Operation add =
      root.on(ps).named("add").add("AssignAddVariableOp", std::vector<Output>{v.handle(), passed});
  SessionActor session;

  void open(SessionSettings settings = {}) {
    REQUIRE_MESSAGE(root.status().ok(), root.status().to_string());
    session = cluster.open_session(worker0, root.graph_def(), std::move(settings));
    REQUIRE(run({}, {v.initializer().name()}).ok());
  }
  template <class Answer, class Message>
  Result<Answer> ask(Message message) {
    return cluster.ask<Answer>(cluster.client(), session, std::move(message),
                               std::chrono::seconds(30));
  }
  Result<RunStepResult> run(std::vector<std::string> fetches, std::vector<std::string> targets,
                            std::vector<std::pair<std::string, WireTensor>> feeds = {}) {
    RunStep step;
    step.feeds = std::move(feeds);
    step.fetches = std::move(fetches);
    step.targets = std::move(targets);
    return ask<RunStepResult>(std::move(step));
  }
  Status add_two() {
    return run({}, {add.name()}, {{"by", WireTensor(Tensor::scalar(2.0f))}}).status();
  }
  float value() {
    auto result = run({v.read().name()}, {});
    REQUIRE_MESSAGE(result.ok(), result.status().to_string());
    return result->tensors.at(0).tensor.value<float>();
  }
  std::vector<std::string> paths(const char* task, const std::string& part) {
    SimNode& node = cluster.node(task);
    auto tree = cluster.ask<ActorTree>(node, node.handles.guardian, GetActors{});
    REQUIRE(tree.ok());
    std::vector<std::string> out;
    for (const ActorInfo& info : tree->actors)
      if (info.path.find(part) != std::string::npos)
        out.push_back(info.path);
    return out;
  }
  std::string master_session() {
    std::string found;
    for (const std::string& path : paths(worker0, "/master/session-"))
      if (path.find("/", path.find("/session-") + 1) == std::string::npos)
        found = path;
    REQUIRE(!found.empty());
    return found;
  }
  void kill(const char* task, const std::string& path) {
    SimNode& node = cluster.node(task);
    REQUIRE(cluster.ask<caf::ok_atom>(node, node.handles.guardian, KillActor{path}).ok());
  }
  void kill_master_session() { kill(worker0, master_session()); }
  std::int64_t now(const char* name) { return counter(name).value(); }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "remake: a session whose master session was killed goes on as it was") {
  open();
  REQUIRE(add_two().ok());
  auto made = ask<CallableMade>(MakeCallable{{"by"}, {}, {add.name()}});
  REQUIRE(made.ok());
  auto call = [&] {
    RunCallable request;
    request.handle = made->handle;
    request.feeds.emplace_back(Tensor::scalar(2.0f));
    return ask<RunStepResult>(std::move(request)).status();
  };
  REQUIRE(call().ok());
  const std::string path = master_session();
  const std::int64_t sessions = now("worker_sessions");
  kill(worker0, path);
  CHECK(value() == 5);             // not initialised anew
  CHECK(master_session() == path); // its handle is in it
  CHECK(now("worker_sessions") == sessions);
  CHECK(now("master_sessions") == 1);
  CHECK(add_two().ok());
  CHECK(call().ok());
  CHECK(value() == 9);
  // The next callable is another one, and the graph has its version.
  auto another = ask<CallableMade>(MakeCallable{{"by"}, {}, {add.name()}});
  REQUIRE(another.ok());
  CHECK(another->handle != made->handle);
  Scope more = Scope::root();
  more.named("more").add("NoOp", std::vector<Output>{});
  CHECK(ask<GraphExtended>(ExtendGraph{more.graph_def(), 1}).status().code() == Code::aborted);
  auto extended = ask<GraphExtended>(ExtendGraph{more.graph_def(), 0});
  REQUIRE_MESSAGE(extended.ok(), extended.status().to_string());
  CHECK(extended->graph_version == 1);
  CHECK(run({}, {"more"}).ok());
}

TEST_CASE_FIXTURE(Fixture, "remake: variables that a session has for itself stay too") {
  SessionSettings settings;
  settings.isolate_session_state = true;
  open(settings);
  REQUIRE(add_two().ok());
  kill_master_session();
  CHECK(value() == 3);
}

TEST_CASE_FIXTURE(Fixture, "remake: what a session holds on its tasks is freed when it is closed") {
  const std::int64_t graphs = now("graphs");
  open();
  REQUIRE(add_two().ok());
  kill_master_session();
  REQUIRE(add_two().ok());
  CHECK(ask<caf::ok_atom>(CloseSession{}).ok());
  cluster.advance(std::chrono::seconds(1));
  CHECK(now("worker_sessions") == 0);
  CHECK(now("master_sessions") == 0);
  CHECK(now("graphs") == graphs);
  CHECK(add_two().code() == Code::failed_precondition);
}

TEST_CASE_FIXTURE(Fixture,
                  "remake: graphs of the master session before are forgotten by the tasks") {
  open();
  REQUIRE(add_two().ok());
  value();
  const std::int64_t graphs = now("graphs");
  kill_master_session();
  cluster.run();
  CHECK(now("graphs") < graphs);
  REQUIRE(add_two().ok());
  value();
  CHECK(run({}, {v.initializer().name()}).ok());
  CHECK(now("graphs") == graphs);
}

TEST_CASE_FIXTURE(Fixture,
                  "remake: a step that ran is ABORTED wherever it was, and is done at most once") {
  bool was_aborted = false, was_done = false;
  for (int events = 0; events < 400; events += 7) {
    CAPTURE(events);
    Fixture fresh;
    fresh.open();
    REQUIRE(fresh.add_two().ok());
    const std::string path = fresh.master_session();
    SimNode& client = fresh.cluster.client();
    SimNode& node = fresh.cluster.node(worker0);
    RunStep step;
    step.feeds.emplace_back("by", WireTensor(Tensor::scalar(2.0f)));
    step.targets = {fresh.add.name()};
    auto answer = client.self->request(fresh.session, caf::infinite, std::move(step));
    for (int i = 0; i < events; ++i)
      fresh.cluster.run_one();
    node.self->send(node.handles.guardian, KillActor{path});
    fresh.cluster.run();
    for (int i = 0; i < 40 && !client.self->has_next_message(); ++i)
      fresh.cluster.advance(std::chrono::milliseconds(250));
    REQUIRE(client.self->has_next_message());
    Status status;
    answer.receive([](RunStepResult&) {},
                   [&](caf::error& error) { status = to_status(error, "the step"); });
    const float value = fresh.value();
    if (status.ok()) {
      CHECK(value == 5);
      was_done = true;
    } else {
      CHECK_MESSAGE(status.code() == Code::aborted, status.to_string());
      CHECK_MESSAGE(status.message().find("he session goes on") != std::string::npos,
                    status.to_string());
      CHECK_MESSAGE(status.message().find(worker0) != std::string::npos, status.to_string());
      CHECK((value == 3 || value == 5));
      was_aborted = true;
    }
    // Nothing of it comes later, and the session works.
    fresh.cluster.advance(std::chrono::seconds(10));
    CHECK(fresh.value() == value);
    CHECK(fresh.add_two().ok());
    CHECK(fresh.value() == value + 2);
    CHECK(fresh.now("master_steps") == 0);
    CHECK(fresh.now("steps") == 0);
  }
  CHECK(was_aborted);
  CHECK(was_done);
}

TEST_CASE_FIXTURE(Fixture,
                  "remake: a session that is lost again and again is given up, with the reason") {
  open();
  for (std::size_t life = 0; life < SessionLife::most_remakes; ++life) {
    kill_master_session();
    CHECK(value() == 1);
  }
  kill_master_session();
  Status status = add_two();
  CHECK(status.code() == Code::aborted);
  CHECK_MESSAGE(status.message().find("made again 3 times within a minute") != std::string::npos,
                status.to_string());
  CHECK(status.message().find("make a new session") != std::string::npos);
  CHECK(paths(worker0, "/worker/session-").empty());
  open();
  CHECK(value() == 1);
}

TEST_CASE_FIXTURE(Fixture, "remake: faults that are far apart do not end a session") {
  open();
  for (std::size_t life = 0; life < 2 * SessionLife::most_remakes; ++life) {
    kill_master_session();
    CHECK(value() == 1);
    cluster.advance(std::chrono::seconds(61));
  }
}

TEST_CASE_FIXTURE(
    Fixture, "remake: a task that was lost meanwhile is lost to the session, the others go on") {
  Output x = root.on(worker0)
                 .named("x")
                 .add("Placeholder", std::vector<Output>{}, {{"dtype", DType::float32}})
                 .output(0);
  root.on(worker0).named("y").add("Neg", std::vector<Output>{x});
  open();
  for (const std::string& path : paths(worker1, "/graph-manager"))
    kill(worker1, path);
  kill_master_session();
  auto well = run({"y"}, {}, {{"x", WireTensor(Tensor::scalar(2.0f))}});
  CHECK_MESSAGE(well.ok(), well.status().to_string());
  CHECK(value() == 1);
  Status lost = add_two();
  CHECK(lost.code() == Code::aborted);
  CHECK_MESSAGE(lost.message().find(worker1) != std::string::npos, lost.to_string());
}

TEST_CASE_FIXTURE(Fixture, "remake: a session that is closed while it is made again is closed") {
  open();
  kill_master_session(); // the client does not know it yet
  CHECK(ask<caf::ok_atom>(CloseSession{}).ok());
  cluster.advance(std::chrono::seconds(1));
  CHECK(now("master_sessions") == 0);
  CHECK(now("worker_sessions") == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "remake: a session that was made again ends with its client all the same") {
  open();
  kill_master_session();
  CHECK(value() == 1);
  cluster.crash("client");
  cluster.advance(std::chrono::seconds(60));
  CHECK(now("master_sessions") == 0);
  CHECK(now("worker_sessions") == 0);
}

} // namespace troupe::remake_test
