// Client, master, ps and two workers on one thread, under virtual time, over a simulated wire.
#include <doctest/doctest.h>

#include "actors/session/session.hpp"
#include "api/scope.hpp"
#include "api/variable.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/sim/sim_cluster.hpp"

namespace troupe::cluster_test {

using namespace troupe::testing;

namespace {

constexpr const char* ps = "/job:ps/replica:0/task:0";
constexpr const char* worker0 = "/job:worker/replica:0/task:0";
constexpr const char* worker1 = "/job:worker/replica:0/task:1";

// After it everybody knows that the last step has ended.
constexpr std::chrono::milliseconds cleanups{50};

struct Fixture {
  SimCluster cluster{{ps, worker0, worker1}};
  Scope root = Scope::root();

  SessionActor open(const char* master = worker0, SessionSettings settings = {}) {
    REQUIRE_MESSAGE(root.status().ok(), root.status().to_string());
    return cluster.open_session(master, root.graph_def(), std::move(settings));
  }
  Result<RunStepResult> run(const SessionActor& session, RunStep step,
                            std::chrono::milliseconds patience = {}) {
    return cluster.ask<RunStepResult>(cluster.client(), session, std::move(step), patience);
  }
  Result<RunStepResult> fetch(const SessionActor& session, std::vector<std::string> fetches,
                              std::vector<std::pair<std::string, Tensor>> feeds = {},
                              std::vector<std::string> targets = {}) {
    RunStep step;
    for (auto& [name, tensor] : feeds)
      step.feeds.emplace_back(name, WireTensor(tensor));
    step.fetches = std::move(fetches);
    step.targets = std::move(targets);
    return run(session, std::move(step));
  }
  Output placeholder(const Scope& scope, const char* name, DType dtype = DType::float32) {
    return scope.named(name)
        .add("Placeholder", std::vector<Output>{}, {{"dtype", dtype}})
        .output(0);
  }
  std::int64_t count(const char* name) { return counter(name).value(); }
  // The one actor of that kind that waits for a step on `task`.
  ActorInfo resting(const char* task, const std::string& kind) {
    SimNode& node = cluster.node(task);
    auto tree = cluster.ask<ActorTree>(node, node.handles.guardian, GetActors{});
    REQUIRE(tree.ok());
    std::vector<ActorInfo> found;
    for (const ActorInfo& info : tree->actors)
      if (info.path.find("/resting-" + kind + ".") != std::string::npos)
        found.push_back(info);
    REQUIRE(found.size() == 1);
    CHECK(found[0].detail == "rests");
    return found[0];
  }
};

float scalar(const Result<RunStepResult>& result, std::size_t i = 0) {
  REQUIRE_MESSAGE(result.ok(), result.status().to_string());
  return result->tensors.at(i).tensor.value<float>();
}

} // namespace

TEST_CASE_FIXTURE(Fixture,
                  "cluster: a value crosses from the client over the ps to a worker and back") {
  Output x = placeholder(root, "x");
  Output doubled = root.on(ps).named("doubled").add("AddV2", std::vector<Output>{x, x}).output(0);
  root.on(worker1).named("y").add("Neg", std::vector<Output>{doubled});
  auto session = open();
  CHECK(scalar(fetch(session, {"y"}, {{"x", Tensor::scalar(2.0f)}})) == -4);
  CHECK(scalar(fetch(session, {"y"}, {{"x", Tensor::scalar(5.0f)}})) == -10);
}

TEST_CASE_FIXTURE(
    Fixture, "cluster: a signature is compiled once and registered once on each worker it needs") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  std::int64_t before = count("graphs");
  for (int i = 0; i < 5; ++i)
    CHECK(scalar(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}})) == -1);
  CHECK(count("graphs") - before == 2);
}

TEST_CASE_FIXTURE(Fixture,
                  "cluster: a variable on the ps is shared by the sessions of two workers") {
  GraphVariable v = variable(root.on(ps), "v", DType::float32, {}, 1.0f);
  Output by = placeholder(root, "by");
  Operation add =
      root.on(ps).named("add").add("AssignAddVariableOp", std::vector<Output>{v.handle(), by});
  auto first = open(worker0), second = open(worker1);
  REQUIRE(fetch(first, {}, {}, {v.initializer().name()}).ok());
  REQUIRE(fetch(second, {}, {{"by", Tensor::scalar(2.0f)}}, {add.name()}).ok());
  CHECK(scalar(fetch(first, {v.read().name()})) == 3);
}

TEST_CASE_FIXTURE(Fixture, "cluster: a reference variable is updated where it lives") {
  GraphVariable v = variable(root.on(ps), "ref", DType::float32, {2},
                             Tensor::of<float>({2}, {1, 2}), VariableKind::reference);
  Output delta =
      root.on(worker1).named("delta").add("Neg", std::vector<Output>{v.read()}).output(0);
  Operation add = root.on(ps).named("add").add("AssignAdd", std::vector<Output>{v.handle(), delta});
  auto session = open();
  REQUIRE(fetch(session, {}, {}, {v.initializer().name()}).ok());
  REQUIRE(fetch(session, {}, {}, {add.name()}).ok());
  auto result = fetch(session, {v.read().name()});
  REQUIRE(result.ok());
  CHECK(equal(result->tensors[0].tensor, Tensor::of<float>({2}, {0, 0})));
}

TEST_CASE_FIXTURE(Fixture,
                  "cluster: large tensors travel in chunks, both ways and between workers") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  Tensor big = Tensor::make(DType::float32, {700, 1000}); // 2.8 MB: three chunks
  for (std::size_t i = 0; i < big.data<float>().size(); ++i)
    big.mutable_data<float>()[i] = static_cast<float>(i % 1013);
  auto result = fetch(session, {"y"}, {{"x", big}});
  REQUIRE_MESSAGE(result.ok(), result.status().to_string());
  auto y = result->tensors[0].tensor.data<float>();
  REQUIRE(y.size() == big.data<float>().size());
  bool right = true;
  for (std::size_t i = 0; i < y.size(); ++i)
    right = right && y[i] == -big.data<float>()[i];
  CHECK(right);
  CHECK(count("transport_offers") == 0);
}

TEST_CASE_FIXTURE(
    Fixture, "cluster: the error of a kernel on another task names op, device, task and step") {
  Output x = placeholder(root, "x", DType::int32), zero = placeholder(root, "zero", DType::int32);
  root.on(worker1).named("divide").add("FloorDiv", std::vector<Output>{x, zero});
  auto session = open();
  auto result = fetch(session, {"divide"}, {{"x", Tensor::scalar(1)}, {"zero", Tensor::scalar(0)}});
  REQUIRE(!result.ok());
  CHECK(result.status().code() == Code::invalid_argument);
  CHECK(result.status().origin().node == "divide");
  CHECK(result.status().origin().op == "FloorDiv");
  CHECK(result.status().origin().device.find(worker1) == 0);
  CHECK(result.status().origin().step != 0);
  auto good = fetch(session, {"divide"}, {{"x", Tensor::scalar(7)}, {"zero", Tensor::scalar(2)}});
  REQUIRE(good.ok());
  CHECK(good->tensors[0].tensor.value<std::int32_t>() == 3);
}

TEST_CASE_FIXTURE(
    Fixture, "cluster: unknown names, wrong feeds and closed sessions are answered with a code") {
  Output x = placeholder(root, "x");
  root.named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  CHECK(fetch(session, {"nothing"}).status().code() == Code::not_found);
  CHECK(fetch(session, {"y"}, {{"x", Tensor::scalar(1)}}).status().code() ==
        Code::invalid_argument);
  CHECK(fetch(session, {"y"}).status().code() == Code::invalid_argument); // must feed
  CHECK(scalar(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}})) == -1);
  REQUIRE(cluster.ask<caf::ok_atom>(cluster.client(), session, CloseSession{}).ok());
  CHECK(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}}).status().code() ==
        Code::failed_precondition);
}

TEST_CASE_FIXTURE(Fixture,
                  "cluster: a step that comes between the master session's end and its answer to "
                  "the close is answered") {
  SimNode& node = cluster.node(ps);
  auto actor = node.system.spawn(session, Services(node.services), node.handles.master,
                                 node.handles.transport);
  node.spawned.push_back(caf::actor_cast<caf::actor>(actor));
  placeholder(root, "x");
  OpenSession open;
  open.request.graph_def = root.graph_def();
  auto created = cluster.ask<SessionCreated>(node, actor, std::move(open));
  REQUIRE_MESSAGE(created.ok(), created.status().to_string());
  const auto& ending = created->session;
  auto close = node.self->request(actor, caf::infinite, CloseSession{});
  REQUIRE(node.scheduler.try_run_once()); // the session asks its master session
  RunStep run;
  run.fetches = {"x"};
  auto step = node.self->request(actor, caf::infinite, std::move(run));
  REQUIRE(node.scheduler.prioritize(ending));
  REQUIRE(node.scheduler.try_run_once()); // which answers
  node.scheduler.trigger_timeouts();
  REQUIRE(node.scheduler.prioritize(ending));
  REQUIRE(node.scheduler.try_run_once()); // and ends, before the session has read anything
  REQUIRE(
      caf::actor_cast<caf::abstract_actor*>(ending)->getf(caf::abstract_actor::is_cleaned_up_flag));
  cluster.run();
  REQUIRE(node.self->has_next_message());
  close.receive([](caf::ok_atom) {}, [](caf::error& error) { FAIL(to_status(error).to_string()); });
  REQUIRE(node.self->has_next_message());
  step.receive(
      [](RunStepResult&) { FAIL("a closed session ran a step"); },
      [](caf::error& error) { CHECK(to_status(error).code() == Code::failed_precondition); });
}

TEST_CASE_FIXTURE(Fixture, "cluster: steps of one session run at the same time") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  // No budgets: time is virtual, and run() below returns only when nothing more can happen.
  std::vector<decltype(cluster.client().self->request(session, caf::infinite, RunStep{}))> requests;
  for (int i = 0; i < 4; ++i) {
    RunStep step;
    step.feeds.emplace_back("x", WireTensor(Tensor::scalar(static_cast<float>(i))));
    step.fetches = {"y"};
    requests.push_back(cluster.client().self->request(session, caf::infinite, std::move(step)));
  }
  cluster.run();
  for (std::size_t i = 0; i < requests.size(); ++i)
    requests[i].receive(
        [&](RunStepResult& r) {
          CHECK(r.tensors.at(0).tensor.value<float>() == -static_cast<float>(i));
        },
        [](caf::error& error) { FAIL(to_status(error).to_string()); });
}

TEST_CASE_FIXTURE(Fixture,
                  "cluster: a step that waits for a lost task ends UNAVAILABLE and names it") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  REQUIRE(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}}).ok());
  cluster.cut(worker1);
  RunStep step;
  step.feeds.emplace_back("x", WireTensor(Tensor::scalar(1.0f)));
  step.fetches = {"y"};
  auto result = run(session, std::move(step), std::chrono::seconds(30));
  REQUIRE(!result.ok());
  CHECK(result.status().code() == Code::unavailable);
  CHECK(result.status().message().find(worker1) != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "cluster: values go on from worker to worker when the master is gone") {
  // The master (ps) starts a step that assigns worker 0's large value to worker 1's variable, and
  // is cut off while the bytes are under way.
  Output source = placeholder(root.on(worker0), "source");
  GraphVariable v = variable(root.on(worker1), "v", DType::float32, {600, 1000},
                             Tensor::zeros(DType::float32, {600, 1000}));
  Output sent = root.on(worker0).named("sent").add("Neg", std::vector<Output>{source}).output(0);
  Operation assign = root.on(worker1).named("store").add("AssignVariableOp",
                                                         std::vector<Output>{v.handle(), sent});
  Output first =
      root.on(worker1)
          .named("first")
          .add("Max",
               std::vector<Output>{v.read(), root.constant(Tensor::vector<std::int32_t>({0, 1}))})
          .output(0);
  auto session = open(ps);
  Tensor big = Tensor::make(DType::float32, {600, 1000});
  for (float& value : big.mutable_data<float>())
    value = -7;
  RunStep step;
  step.feeds.emplace_back("source", WireTensor(big));
  step.targets = {assign.name()};
  REQUIRE(fetch(session, {}, {}, {v.initializer().name()}).ok());
  // Never waited for: its master is about to be cut off.
  auto request = cluster.client().self->request(session, caf::infinite, step);
  // Until worker 1 has asked worker 0 for its value and pulls: two offers (client's feed, worker
  // 0's value) have been made, or the second is open.
  std::int64_t offers_seen = 0, last = count("transport_offers");
  while (offers_seen < 3 && cluster.run_one()) {
    std::int64_t now = count("transport_offers");
    offers_seen += now > last;
    last = now;
  }
  REQUIRE(offers_seen == 3); // client → master, master → worker 0, worker 0 → worker 1
  cluster.cut(ps);
  cluster.run();
  auto other = cluster.open_session(worker1, root.graph_def(),
                                    SessionSettings{.device_filters = {"/job:worker"},
                                                    .disabled_passes = {},
                                                    .enabled_passes = {}});
  CHECK(scalar(fetch(other, {first.name()})) == 7);
  (void)request;
}

TEST_CASE_FIXTURE(Fixture, "cluster: a session that closes leaves nothing on the workers") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  std::int64_t sessions = count("worker_sessions"), graphs = count("graphs"),
               mailboxes = count("rendezvous");
  auto session = open();
  REQUIRE(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}}).ok());
  CHECK(count("worker_sessions") == sessions + 3);
  REQUIRE(cluster.ask<caf::ok_atom>(cluster.client(), session, CloseSession{}).ok());
  cluster.advance(std::chrono::seconds(3));
  CHECK(count("worker_sessions") == sessions);
  CHECK(count("graphs") == graphs);
  CHECK(count("rendezvous") == mailboxes);
}

TEST_CASE_FIXTURE(Fixture, "cluster: many steps between tasks leave no trace of themselves") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  REQUIRE(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}}).ok());
  std::size_t events = 0;
  for (int i = 0; i < 20; ++i) {
    std::size_t before = cluster.steps;
    REQUIRE(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}}).ok());
    std::size_t after = cluster.steps - before;
    if (i > 1)
      CHECK(after <= events + 2); // no step costs more than the one before
    events = after;
  }
  cluster.advance(cleanups);
  CHECK(count("rendezvous") == 0);
  CHECK(count("steps") == 0);
}

TEST_CASE_FIXTURE(Fixture, "cluster: a later step is run by the actors of an earlier one") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  auto run = [&](float value) {
    CHECK(scalar(fetch(session, {"y"}, {{"x", Tensor::scalar(value)}})) == -value);
    cluster.advance(cleanups);
  };
  run(1);
  ActorInfo step = resting(worker0, "step"), executor = resting(worker1, "executor"),
            mailbox = resting(worker1, "rendezvous");
  run(2);
  CHECK(resting(worker0, "step").id == step.id);
  CHECK(resting(worker1, "executor").id == executor.id);
  CHECK(resting(worker1, "rendezvous").id == mailbox.id);
}

TEST_CASE_FIXTURE(Fixture, "cluster: the next step tells the parts that one has ended everywhere") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  for (int i = 0; i < 5; ++i) {
    REQUIRE(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}}).ok());
    CHECK(count("rendezvous") == 2); // the last step's, not those of the steps before
  }
  cluster.advance(cleanups);
  CHECK(count("rendezvous") == 0); // without a next step they are told in a while
}

TEST_CASE_FIXTURE(Fixture, "cluster: actors of a step that failed run no other one") {
  Output x = placeholder(root.on(ps), "x"), index = placeholder(root.on(ps), "i", DType::int32);
  root.on(worker1).named("y").add(
      "GatherV2",
      std::vector<Output>{x, index, root.on(ps).constant(Tensor::scalar(std::int32_t{0}))});
  auto session = open();
  auto gather = [&](int i) {
    return fetch(session, {"y"}, {{"x", Tensor::vector<float>({5})}, {"i", Tensor::scalar(i)}});
  };
  auto at_rest = [&] {
    cluster.advance(cleanups);
    return std::pair(resting(worker0, "step").id, resting(worker1, "executor").id);
  };
  REQUIRE(gather(0).ok());
  auto before = at_rest();
  CHECK(gather(7).status().code() == Code::invalid_argument);
  CHECK(scalar(gather(0)) == 5);
  auto after = at_rest();
  CHECK(after.first != before.first);
  CHECK(after.second != before.second);
  CHECK(count("rendezvous") == 0);
  CHECK(count("steps") == 0);
  CHECK(count("master_steps") == 0);
  CHECK(count("executors") == 0);
}

TEST_CASE_FIXTURE(Fixture, "cluster: what a step has asked of a silent task ends with the step") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  REQUIRE(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}}).ok());
  ActorInfo step = resting(worker0, "step");
  caf::actor_addr address = step.actor.address();
  step.actor = nullptr;
  cluster.advance(cleanups);
  cluster.freeze(worker1); // which answers nothing, for less than a lease
  RunStep late;
  late.feeds.emplace_back("x", WireTensor(Tensor::scalar(2.0f)));
  late.fetches = {"y"};
  late.timeout_us = 500'000;
  auto result = run(session, std::move(late), std::chrono::seconds(4));
  CHECK(result.status().code() == Code::deadline_exceeded);
  cluster.run();
  // The step actor has ended, and no request of its master session waits on its behalf.
  CHECK(!caf::actor_cast<caf::strong_actor_ptr>(address));
}

TEST_CASE_FIXTURE(Fixture, "cluster: an actor that is killed while it rests is missed by no step") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  REQUIRE(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}}).ok());
  for (auto [task, kind] : {std::pair(worker0, "step"), std::pair(worker1, "executor"),
                            std::pair(worker1, "rendezvous")}) {
    cluster.advance(cleanups);
    SimNode& node = cluster.node(task);
    ActorInfo victim = resting(task, kind);
    REQUIRE(cluster.ask<caf::ok_atom>(node, node.handles.guardian, KillActor{victim.path}).ok());
    cluster.run();
    CHECK(scalar(fetch(session, {"y"}, {{"x", Tensor::scalar(2.0f)}})) == -2);
    cluster.advance(cleanups);
    CHECK(resting(task, kind).id != victim.id);
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "cluster: a killed worker session ends its master's session with ABORTED") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  REQUIRE(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}}).ok());
  SimNode& node = cluster.node(worker1);
  auto tree = cluster.ask<ActorTree>(node, node.handles.guardian, GetActors{});
  REQUIRE(tree.ok());
  std::string path;
  for (const ActorInfo& info : tree->actors)
    if (info.path.ends_with("/graph-manager"))
      path = info.path;
  REQUIRE(path.starts_with("guardian/worker/session-"));
  auto nobody =
      cluster.ask<caf::ok_atom>(node, node.handles.guardian, KillActor{"guardian/nobody"});
  CHECK(nobody.status().code() == Code::not_found);
  CHECK(nobody.status().message().find(path) != std::string::npos);
  REQUIRE(cluster.ask<caf::ok_atom>(node, node.handles.guardian, KillActor{path}).ok());
  auto result = fetch(session, {"y"}, {{"x", Tensor::scalar(2.0f)}});
  CHECK(result.status().code() == Code::aborted);
  CHECK(result.status().message().find(worker1) != std::string::npos);
  auto fresh = open();
  CHECK(scalar(fetch(fresh, {"y"}, {{"x", Tensor::scalar(2.0f)}})) == -2);
}

TEST_CASE_FIXTURE(Fixture, "cluster: timeouts without measure, from another process, end no node") {
  Output x = placeholder(root, "x");
  root.named("y").add("Neg", std::vector<Output>{x});
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  SimNode& master = cluster.node(worker0);
  for (std::int64_t timeout_us : {most, most / 1000, most / 1000 + 1, std::int64_t{-1}, -most}) {
    CAPTURE(timeout_us);
    CreateSession create;
    create.settings.operation_timeout_us = create.settings.lease_us = timeout_us;
    create.graph_def = root.graph_def();
    create.timeout_us = timeout_us;
    auto created = cluster.ask<SessionCreated>(master, master.handles.master, std::move(create));
    REQUIRE_MESSAGE(created.ok(), created.status().to_string());
    RunStep step;
    step.feeds.emplace_back("x", WireTensor(Tensor::scalar(1.0f)));
    step.fetches = {"y"};
    step.timeout_us = timeout_us;
    CHECK(cluster.ask<RunStepResult>(cluster.client(), created->session, std::move(step)).ok());
    ResetContainers reset;
    reset.timeout_us = timeout_us;
    CHECK(cluster.ask<caf::ok_atom>(master, master.handles.master, std::move(reset)).ok());
  }
  auto session = open();
  CHECK(scalar(fetch(session, {"y"}, {{"x", Tensor::scalar(1.0f)}})) == -1);
}

TEST_CASE_FIXTURE(Fixture, "cluster: a reset of a container without a name clears none") {
  GraphVariable v = variable(root.on(ps), "v", DType::float32, {}, 1.0f);
  const std::string read = v.read().name();
  REQUIRE(fetch(open(), {}, {}, {v.initializer().name()}).ok());
  SimNode& master = cluster.node(worker0);
  for (const std::string container : {"", "ps"}) {
    ResetContainers reset;
    reset.containers = {container};
    REQUIRE(cluster.ask<caf::ok_atom>(master, master.handles.master, std::move(reset)).ok());
    CHECK(fetch(open(), {read}).ok() == container.empty());
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "cluster: a session asked for before its master began to leave is refused") {
  Output x = placeholder(root.on(ps), "x");
  root.on(worker1).named("y").add("Neg", std::vector<Output>{x});
  auto session = open();
  std::int64_t sessions = count("worker_sessions");
  SimNode& master = cluster.node(worker0);
  SimNode& client = cluster.client();
  RunStep step;
  step.feeds.emplace_back("x", WireTensor(Tensor::scalar(1.0f)));
  step.fetches = {"y"};
  // Ended by the simulation, which comes to rest.
  const auto unbounded = caf::infinite;
  cluster.freeze(worker1); // a step and a session that need it are under way
  auto running = client.self->request(session, unbounded, std::move(step));
  cluster.run();
  auto opening = master.self->request(master.handles.master, unbounded, CreateSession{});
  cluster.run();
  auto leaving =
      master.self->request(master.handles.guardian, unbounded, ShutDown{10'000'000, "a test"});
  cluster.run();
  CHECK_FALSE(client.self->has_next_message());
  cluster.thaw(worker1);
  cluster.run();
  running.receive([](RunStepResult&) {},
                  [](caf::error& error) {
                    FAIL_CHECK("the step had time to finish: ",
                               to_status(error, "a step").to_string());
                  });
  opening.receive(
      [](SessionCreated&) { FAIL_CHECK("no session can be made on a node that leaves"); },
      [](caf::error& error) {
        Status status = to_status(error, "a session");
        CHECK(status.code() == Code::unavailable);
        CHECK(status.message().find("is shutting down (a test)") != std::string::npos);
      });
  leaving.receive([](caf::ok_atom) {}, [](caf::error&) {});
  CHECK(count("worker_sessions") < sessions); // worker0's is gone, and no second one is left
}

} // namespace troupe::cluster_test
