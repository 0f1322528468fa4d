// Who waits for somebody silent is answered in time, by name and with the reason; the end of a
// process is told at once, whoever else is silent. Times are those of the simulated clusters.
#include <doctest/doctest.h>

#include <deque>

#include <caf/event_based_actor.hpp>

#include "actors/session/session.hpp"
#include "api/scope.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/sim/fault_cluster.hpp"
#include "tests/support/sim/sim_cluster.hpp"
#include "tests/support/sim/sim_services.hpp"

namespace troupe::silence_test {

using namespace troupe::testing;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* ps = "/job:ps/replica:0/task:0";
constexpr const char* worker0 = "/job:worker/replica:0/task:0";
constexpr const char* worker1 = "/job:worker/replica:0/task:1";

bool has(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string::npos;
}

void tells(const Status& status, std::string_view part) {
  CHECK_MESSAGE(has(status, part), status.to_string(), " should tell '", part, "'");
}

/// worker0 is the master. y needs the ps and worker1, z only worker0.
struct Fixture {
  SimCluster cluster{{ps, worker0, worker1}};
  Scope root = Scope::root();
  std::deque<std::function<void()>> offloaded; ///< of worker0, while it is held
  std::vector<caf::actor> askers;
  const milliseconds bound = Timeouts{}.lease + seconds(2); ///< that the docs give

  Fixture() {
    Output x = placeholder(root.on(ps), "x");
    Output on_ps = root.on(ps).named("on_ps").add("Exp", std::vector<Output>{x}).output(0);
    root.on(worker1).named("y").add("Neg", std::vector<Output>{on_ps});
    Output own = placeholder(root.on(worker0), "own");
    root.on(worker0).named("z").add("Neg", std::vector<Output>{own});
    set_log_level(LogLevel::off);
  }
  ~Fixture() {
    for (const char* task : {ps, worker0, worker1, "client"})
      cluster.thaw(task);
    for (auto& actor : askers)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    cluster.run();
    set_log_level(LogLevel::info);
  }

  static Output placeholder(const Scope& scope, const char* name) {
    return scope.named(name)
        .add("Placeholder", std::vector<Output>{}, {{"dtype", DType::float32}})
        .output(0);
  }
  static RunStep step(const std::string& feed, std::vector<std::string> fetches) {
    RunStep out;
    out.feeds.emplace_back(feed, WireTensor(Tensor::scalar(2.0f)));
    out.fetches = std::move(fetches);
    return out;
  }

  // A request that is looked at later.
  template <class Answer>
  struct Pending {
    std::shared_ptr<std::optional<Result<Answer>>> out =
        std::make_shared<std::optional<Result<Answer>>>();
    bool is_open() const { return !out->has_value(); }
    Status status() const {
      REQUIRE_MESSAGE(out->has_value(), "there is no answer");
      return (*out)->status();
    }
  };
  template <class Answer, class Handle, class Message>
  Pending<Answer> start(SimNode& from, const Handle& peer, Message message) {
    Pending<Answer> pending;
    auto out = pending.out;
    askers.push_back(from.system.spawn([=](caf::event_based_actor* self) mutable -> caf::behavior {
      // No budget: time is virtual, and `is_open` says whether an answer is still missing.
      self->request(peer, caf::infinite, std::move(message))
          .then([=](Answer& answer) { *out = Result<Answer>(std::move(answer)); },
                [=](caf::error& error) { *out = Result<Answer>(to_status(error, "a request")); });
      return {[](caf::unit_t) {}};
    }));
    cluster.run();
    return pending;
  }
  /// Virtual time until the answer is there, `limit` at most.
  template <class Answer>
  milliseconds time_to(const Pending<Answer>& pending, milliseconds limit = seconds(60)) {
    milliseconds passed(0);
    for (; pending.is_open() && passed < limit; passed += milliseconds(250))
      cluster.advance(milliseconds(250));
    return passed;
  }

  SessionActor client_session() {
    SimNode& client = cluster.client();
    auto actor = client.system.spawn(session, Services(client.services), MasterActor{},
                                     client.handles.transport);
    client.spawned.push_back(caf::actor_cast<caf::actor>(actor));
    return actor;
  }
  Pending<SessionCreated> open(milliseconds timeout = {}) {
    OpenSession request;
    request.guardian = typed<GuardianActor>(
        cluster.client().guardians.at(str_cat("sim:", cluster.node(worker0).port)));
    request.timeout_us = std::chrono::microseconds(timeout).count();
    return start<SessionCreated>(cluster.client(), client_session(), std::move(request));
  }
  void hold_offloading() {
    cluster.node(worker0).services->threads = std::make_shared<SimThreads>(
        [this](std::function<void()> work) { offloaded.push_back(std::move(work)); },
        milliseconds(1));
  }
  void compute() {
    while (!offloaded.empty()) {
      auto work = std::move(offloaded.front());
      offloaded.pop_front();
      work();
      cluster.run();
    }
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture,
                  "silence: a session that a frozen task keeps from opening is refused in time") {
  cluster.freeze(worker1); // nobody has dialled it yet
  auto first = open();
  CHECK(time_to(first) <= bound);
  CHECK(first.status().code() == Code::unavailable);
  tells(first.status(), worker1);
  tells(first.status(), "frozen");
  cluster.thaw(worker1);
  cluster.advance(seconds(2));
  auto whole = open(); // now all know each other
  CHECK(time_to(whole) == milliseconds(0));
  CHECK(whole.status().ok());
  cluster.freeze(worker1);
  auto second = open();
  CHECK(time_to(second) <= bound);
  CHECK(second.status().code() == Code::unavailable);
  tells(second.status(), worker1);
  tells(second.status(), "frozen");
}

TEST_CASE_FIXTURE(
    Fixture, "silence: a session that opens after more than a lease has all its parts, and runs") {
  REQUIRE(open().status().ok());
  cluster.freeze(worker1);
  auto opening = open();
  time_to(opening,
          Timeouts{}.lease + seconds(1)); // in which the ps hears only that it is being opened
  CHECK(opening.is_open());
  cluster.thaw(worker1);
  CHECK(time_to(opening) <= seconds(2));
  REQUIRE_MESSAGE(opening.status().ok(), opening.status().to_string());
  const auto session = (**opening.out)->session;
  REQUIRE(start<GraphExtended>(cluster.client(), session, ExtendGraph{root.graph_def(), -1, false})
              .status()
              .ok());
  auto run = start<RunStepResult>(cluster.client(), session, step("x", {"y"}));
  CHECK(time_to(run) == milliseconds(0));
  CHECK_MESSAGE(run.status().ok(), run.status().to_string());
}

TEST_CASE_FIXTURE(Fixture, "silence: opening takes its own time at its word") {
  REQUIRE(open().status().ok());
  cluster.freeze(worker1);
  auto asked = open(seconds(2));
  SimNode& master = cluster.node(worker0);
  auto directly =
      start<SessionCreated>(master, master.handles.master, CreateSession{{}, "", 2'000'000});
  CHECK(time_to(asked) <= seconds(2));
  tells(asked.status(), worker0); // whose answer is due in the same round of the clock
  CHECK_FALSE(directly.is_open());
  tells(directly.status(), worker1);
  tells(directly.status(), "has not answered for");
  cluster.thaw(worker1);
  cluster.run();
  cluster.advance(seconds(2));
  auto again = open(seconds(2));
  CHECK(time_to(again) == milliseconds(0));
  CHECK(again.status().ok());
}

TEST_CASE_FIXTURE(
    Fixture, "silence: a task that ends while another one is frozen is told at once: opening") {
  REQUIRE(open().status().ok());
  const std::int64_t before = counter("worker_sessions").value();
  cluster.freeze(ps);
  cluster.freeze(worker1);
  auto asked = open();
  CHECK(asked.is_open());
  cluster.crash(worker1);
  CHECK(time_to(asked) == milliseconds(0));
  CHECK(asked.status().code() == Code::unavailable);
  tells(asked.status(), worker1);
  tells(asked.status(), "its process has ended");
  tells(asked.status(), "had not answered yet");
  // What the others made of it meanwhile goes.
  cluster.thaw(ps);
  cluster.run();
  CHECK(counter("worker_sessions").value() <= before);
}

TEST_CASE_FIXTURE(
    Fixture, "silence: a task that ends while another one is frozen is told at once: a graph") {
  auto session = cluster.open_session(worker0, root.graph_def());
  cluster.freeze(ps);
  cluster.freeze(worker1);
  auto asked = start<RunStepResult>(cluster.client(), session, step("x", {"y"}));
  CHECK(asked.is_open()); // both are to register their parts
  cluster.crash(worker1);
  CHECK(time_to(asked) == milliseconds(0));
  CHECK(asked.status().code() == Code::unavailable);
  tells(asked.status(), worker1);
  tells(asked.status(), "its process has ended");
  cluster.thaw(ps);
  cluster.run(); // its part comes too late, and goes
  auto own = start<RunStepResult>(cluster.client(), session, step("own", {"z"}));
  CHECK(time_to(own) == milliseconds(0));
  CHECK(own.status().ok());
}

TEST_CASE_FIXTURE(Fixture,
                  "silence: a task that ends while the master builds a graph is told at once") {
  auto session = cluster.open_session(worker0, root.graph_def());
  hold_offloading();
  auto needs_it = start<RunStepResult>(cluster.client(), session, step("x", {"y"}));
  auto does_not = start<RunStepResult>(cluster.client(), session, step("own", {"z"}));
  CHECK(needs_it.is_open());
  cluster.crash(worker1);
  tells(needs_it.status(), worker1);
  CHECK(needs_it.status().code() == Code::unavailable);
  CHECK(does_not.is_open());
  auto later = start<RunStepResult>(cluster.client(), session, step("x", {"y"}));
  tells(later.status(), worker1); // it does not wait for its graph either
  compute();
  CHECK(time_to(does_not) == milliseconds(0));
  CHECK(does_not.status().ok());
}

TEST_CASE_FIXTURE(Fixture,
                  "silence: a deadline passes while a graph is built, and the build is given up") {
  auto session = cluster.open_session(worker0, root.graph_def());
  const std::int64_t graphs = counter("graphs").value();
  hold_offloading();
  RunStep late = step("own", {"z"});
  late.timeout_us = 500'000;
  auto asked = start<RunStepResult>(cluster.client(), session, std::move(late));
  CHECK(time_to(asked) <= milliseconds(500));
  CHECK(asked.status().code() == Code::deadline_exceeded);
  tells(asked.status(), "its deadline of 500 ms while it waited for its graph");
  compute();
  CHECK(counter("graphs").value() == graphs); // nobody has registered it
  // One that comes before it has been given up is not given up with it.
  RunStep again = step("own", {"z"});
  again.timeout_us = 500'000;
  auto second = start<RunStepResult>(cluster.client(), session, std::move(again));
  CHECK(time_to(second) <= milliseconds(500));
  auto patient = start<RunStepResult>(cluster.client(), session, step("own", {"z"}));
  compute();
  CHECK(time_to(patient) == milliseconds(0));
  CHECK(patient.status().ok());
}

TEST_CASE_FIXTURE(Fixture, "silence: a frozen master is named by every call, in time") {
  auto session = cluster.open_session(worker0, root.graph_def());
  SimNode& client = cluster.client();
  cluster.freeze(worker0);
  auto run = start<RunStepResult>(client, session, step("own", {"z"}));
  auto why = start<StepsExplained>(client, session, ExplainStep{});
  auto devices = start<DeviceList>(client, session, ListDevices{});
  auto extend = start<GraphExtended>(client, session, ExtendGraph{});
  CHECK(time_to(run) <= bound);
  for (const Status& status : {run.status(), why.status(), devices.status(), extend.status()}) {
    CHECK(status.code() == Code::unavailable);
    tells(status, worker0);
    tells(status, "frozen");
  }
}

TEST_CASE_FIXTURE(Fixture, "silence: a frozen master is named when the session is closed") {
  auto session = cluster.open_session(worker0, root.graph_def());
  SimNode& client = cluster.client();
  cluster.freeze(worker0);
  auto closed = start<caf::ok_atom>(client, session, CloseSession{});
  auto refused = start<RunStepResult>(client, session, step("own", {"z"}));
  CHECK(refused.status().code() == Code::failed_precondition);
  CHECK(time_to(closed) <= bound);
  CHECK(closed.status().code() == Code::unavailable);
  tells(closed.status(), worker0);
  tells(closed.status(), "frozen");
  auto again = start<caf::ok_atom>(client, session, CloseSession{});
  CHECK(again.status().ok()); // closed it is
}

TEST_CASE_FIXTURE(Fixture, "silence: a session's calls take its operation timeout at its word") {
  OpenSession request;
  request.guardian = typed<GuardianActor>(
      cluster.client().guardians.at(str_cat("sim:", cluster.node(worker0).port)));
  request.operation_timeout_us = 1'000'000;
  auto session = client_session();
  SimNode& client = cluster.client();
  REQUIRE(start<SessionCreated>(client, session, std::move(request)).status().ok());
  cluster.freeze(worker0);
  auto why = start<StepsExplained>(client, session, ExplainStep{});
  auto extend = start<GraphExtended>(client, session, ExtendGraph{});
  CHECK(time_to(why) <= seconds(1));
  auto closed = start<caf::ok_atom>(client, session, CloseSession{});
  CHECK(time_to(closed) <= seconds(1));
  for (const Status& status : {why.status(), extend.status(), closed.status()}) {
    CHECK(status.code() == Code::deadline_exceeded);
    tells(status, worker0);
    tells(status, "last heard of");
  }
}

TEST_CASE_FIXTURE(Fixture, "silence: reset names the task that it could not clear, in time") {
  REQUIRE(open().status().ok());
  cluster.freeze(worker1);
  SimNode& master = cluster.node(worker0);
  auto timed = start<caf::ok_atom>(master, master.handles.master, ResetContainers{{}, 1'000'000});
  CHECK(time_to(timed) <= seconds(1));
  tells(timed.status(), worker1);
  auto reset = start<caf::ok_atom>(master, master.handles.master, ResetContainers{});
  auto devices = start<DeviceList>(master, master.handles.master, ListDevices{});
  CHECK(time_to(reset) <= bound);
  CHECK(reset.status().code() == Code::unavailable);
  tells(reset.status(), worker1);
  tells(reset.status(), "frozen");
  REQUIRE(devices.status().ok());
  CHECK((**devices.out)->devices.size() == 2); // of those who answer
}

TEST_CASE_FIXTURE(Fixture,
                  "silence: a deadline within a beat after a lease has run out tells who is lost") {
  auto session = cluster.open_session(worker0, root.graph_def());
  SimNode& client = cluster.client();
  REQUIRE(start<RunStepResult>(client, session, step("x", {"y"})).status().ok());
  cluster.advance(seconds(1));
  cluster.freeze(worker1);
  for (milliseconds after : {milliseconds(3000), Timeouts{}.lease + milliseconds(500)}) {
    CAPTURE(after.count());
    RunStep late = step("x", {"y"});
    late.timeout_us = std::chrono::microseconds(after).count();
    auto run = start<RunStepResult>(client, session, late);
    const bool is_due = after > Timeouts{}.lease;
    (void)time_to(run);
    CHECK(run.status().code() == (is_due ? Code::unavailable : Code::deadline_exceeded));
    tells(run.status(), worker1);
    cluster.thaw(worker1);
    cluster.advance(seconds(1));
    cluster.freeze(worker1);
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "silence: a client that was silent is told so by the master that gave it up") {
  auto session = cluster.open_session(worker0, root.graph_def());
  SimNode& client = cluster.client();
  cluster.freeze("client");
  cluster.advance(Timeouts{}.lease + seconds(4));
  cluster.thaw("client");
  cluster.run();
  auto run = start<RunStepResult>(client, session, step("own", {"z"}));
  CHECK(run.status().code() == Code::aborted);
  tells(run.status(), worker0);
  tells(run.status(), "which had heard nothing of its client for");
}

TEST_CASE_FIXTURE(Fixture,
                  "silence: a master that leaves while a task is frozen says that it leaves") {
  auto session = cluster.open_session(worker0, root.graph_def());
  SimNode& client = cluster.client();
  REQUIRE(start<RunStepResult>(client, session, step("x", {"y"})).status().ok());
  cluster.freeze(worker1);
  auto run = start<RunStepResult>(client, session, step("x", {"y"}));
  auto waiting = start<RunStepResult>(client, session, step("x", {"y", "on_ps"})); // for its graph
  SimNode& master = cluster.node(worker0);
  auto leaving = start<caf::ok_atom>(master, master.handles.guardian, ShutDown{100'000, "a test"});
  cluster.advance(seconds(2));
  for (const Status& status : {run.status(), waiting.status()}) {
    CHECK(status.code() == Code::unavailable);
    tells(status, worker0);
    tells(status, "has left the cluster in order");
  }
}

namespace {

/// A cluster that can lose messages of one direction, and whose nodes come back.
struct Faults {
  FaultCluster cluster{{"ps/0", "worker/0", "worker/1"}, 7, Timeouts{}};
  SessionActor session_;
  std::vector<caf::actor> askers;

  Faults() {
    set_log_level(LogLevel::off);
    cluster.start();
  }
  ~Faults() {
    for (auto& actor : askers)
      caf::anon_send_exit(actor, caf::exit_reason::kill);
    if (session_)
      caf::anon_send_exit(session_, caf::exit_reason::kill);
    session_ = SessionActor{};
    askers.clear();
    set_log_level(LogLevel::info);
  }
  template <class Answer, class Handle, class Message>
  std::shared_ptr<std::optional<Result<Answer>>> start(const Handle& peer, Message message) {
    auto out = std::make_shared<std::optional<Result<Answer>>>();
    askers.push_back(
        cluster.client().system.spawn([=](caf::event_based_actor* self) mutable -> caf::behavior {
          // No budget: time is virtual, and ends with the cluster's patience.
          self->request(peer, caf::infinite, std::move(message))
              .then(
                  [=](Answer& answer) { *out = Result<Answer>(std::move(answer)); },
                  [=](caf::error& error) { *out = Result<Answer>(to_status(error, "a request")); });
          return {[](caf::unit_t) {}};
        }));
    return out;
  }
  template <class Answer>
  Status wait(const std::shared_ptr<std::optional<Result<Answer>>>& answer) {
    const bool done = cluster.run_until([&] { return answer->has_value(); }, seconds(60));
    REQUIRE_MESSAGE(done, "there is no answer");
    return (*answer)->status();
  }
  void open() {
    if (session_)
      askers.push_back(caf::actor_cast<caf::actor>(session_));
    FaultNode& client = cluster.client();
    session_ =
        client.system.spawn(session, Services(client.services), MasterActor{}, client.transport);
    OpenSession request;
    request.master = *cluster.cluster().address_of(long_task_name("worker/0"));
    request.guardian = typed<GuardianActor>(client.guardians.at(request.master.to_string()));
    Status status = wait(start<SessionCreated>(session_, std::move(request)));
    REQUIRE_MESSAGE(status.ok(), status.to_string());
  }
  // A call that needs the master alone.
  Status ask_master() { return wait(start<StepList>(session_, GetSteps{})); }
};

} // namespace

TEST_CASE_FIXTURE(Faults,
                  "silence: the session of a master that came back says that it is not found") {
  open();
  REQUIRE(ask_master().ok());
  cluster.crash("worker/0", milliseconds(300));
  REQUIRE(cluster.run_until([&] { return !cluster.find("worker/0"); }, seconds(1)));
  cluster.run_for(milliseconds(100)); // the connection's end has come
  Status lost = ask_master();
  CHECK(lost.code() == Code::unavailable);
  tells(lost, "its process has ended");
  REQUIRE(cluster.run_until([&] { return cluster.is_whole(); }, seconds(10)));
  cluster.run_for(Timeouts{}.lease / 4 + milliseconds(500)); // at which sessions look
  Status back = ask_master();
  CHECK(back.code() == Code::aborted);
  tells(back, "is not found. Possibly, this master has restarted");
  tells(back, worker0);
  tells(back, "its process has ended");
  CHECK(ask_master().code() == Code::aborted);
  open(); // a new one works
  CHECK(ask_master().ok());
}

TEST_CASE_FIXTURE(Faults,
                  "silence: a master that was only cut off says so when it is there again") {
  open();
  cluster.cut("client", "worker/0", seconds(2));
  cluster.run_for(milliseconds(500));
  CHECK(ask_master().code() == Code::unavailable);
  cluster.run_for(seconds(5));
  Status back = ask_master();
  CHECK(back.code() == Code::aborted);
  tells(back, "is there again after it was lost");
}

TEST_CASE_FIXTURE(Faults, "silence: both ends of a cut in one direction say the same") {
  open();
  cluster.hold_one_way("worker/0", "worker/1", seconds(9)); // worker/1 hears nothing of the master
  cluster.run_for(seconds(8));
  // The deaf one has given the master up, and has said so.
  FaultNode& mute = *cluster.find("worker/0");
  auto status = std::make_shared<std::optional<NodeStatus>>();
  askers.push_back(mute.system.spawn([&, status](caf::event_based_actor* self) -> caf::behavior {
    self->request(mute.guardian, seconds(10), GetNodeStatus{})
        .then([=](NodeStatus& found) { *status = std::move(found); }, [](caf::error&) {});
    return {[](caf::unit_t) {}};
  }));
  REQUIRE(cluster.run_until([&] { return status->has_value(); }, seconds(1)));
  std::optional<LossReason> loss;
  for (const PeerInfo& peer : (*status)->peers)
    if (peer.task == worker1)
      loss = peer.last_loss;
  CHECK(loss == LossReason::gave_up);
}

} // namespace troupe::silence_test
