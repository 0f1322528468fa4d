// Why a step does not end: asked of a simulated cluster, from a silent task to a kernel that never
// ends, and told by the deadline's error.
#include <doctest/doctest.h>

#include <utility>

#include "api/scope.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/glue.hpp"
#include "tests/support/sim/sim_cluster.hpp"

namespace troupe::why_test {

using namespace troupe::testing;
using namespace std::chrono_literals;

namespace {

constexpr const char* ps = "/job:ps/replica:0/task:0";
constexpr const char* worker0 = "/job:worker/replica:0/task:0";
constexpr const char* worker1 = "/job:worker/replica:0/task:1";

std::string cpu(const char* task) {
  return str_cat(task, "/device:CPU:0");
}

// Kernels that have begun and wait to be let go. One thread does everything in a simulation.
std::vector<KernelDone>& held() {
  static std::vector<KernelDone> all;
  return all;
}

// Identity that is done when the test says so.
void hold(KernelContext& c, KernelDone done) {
  if (Status status = c.set_output(0, c.input(0)); !status.ok())
    return done(status);
  held().push_back(std::move(done));
}

const OpLibrary& library_with_hold() {
  static const OpLibrary* library = [] {
    auto* out = new OpLibrary;
    register_all_ops(*out);
    out->op("Hold")
        .input("x: T")
        .output("y: T")
        .attr("T: type")
        .stateful()
        .shape_fn(shape_unknown)
        .not_differentiable("it is for tests")
        .cpu_kernel_async(hold)
        .doc("x, when the test lets it go.");
    return out;
  }();
  return *library;
}

struct Fixture {
  SimCluster cluster{{ps, worker0, worker1}};
  Scope root = Scope::root();

  Fixture() {
    held().clear();
    for (const char* task : {ps, worker0, worker1})
      cluster.node(task).services->library = &library_with_hold();
  }
  ~Fixture() {
    for (const char* task : {ps, worker0, worker1})
      cluster.thaw(task);
    let_go();
  }
  static void let_go() {
    for (auto& done : std::exchange(held(), {}))
      done(Status{});
  }

  // A node that the client's own library need not know.
  SessionActor open(const std::string& graph) { return cluster.open_session(worker0, graph); }

  void start(const SessionActor& session, std::vector<std::string> fetches,
             std::chrono::milliseconds timeout = {}) {
    RunStep step;
    step.fetches = std::move(fetches);
    step.timeout_us = std::chrono::microseconds(timeout).count();
    caf::anon_send(session, std::move(step)); // nobody waits for its end
    cluster.run();
  }

  MasterSessionActor master_session() {
    SimNode& node = cluster.node(worker0);
    auto sessions = cluster.ask<SessionList>(node, node.handles.master, GetSessions{});
    REQUIRE(sessions.ok());
    auto found = cluster.ask<SessionCreated>(node, node.handles.master,
                                             FindSession{sessions->sessions.at(0).session_handle});
    REQUIRE(found.ok());
    return found->session;
  }
  StepsExplained why(std::uint64_t step_id = 0) {
    auto out = cluster.ask<StepsExplained>(cluster.node(worker0), master_session(),
                                           ExplainStep{step_id}, 3s);
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    return *out;
  }
  StepExplained why_one() {
    StepsExplained all = why();
    REQUIRE(all.steps.size() == 1);
    REQUIRE(!all.steps[0].tree.empty());
    return all.steps[0];
  }
  static void check_line(const std::string& line, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      CHECK_MESSAGE(line.find(part) != std::string::npos, line, " lacks ", part);
  }
};

// A chain a → b → y over three devices; `a` holds.
std::string chain() {
  return str_cat(R"(
    node { name: "c" op: "Const" device: ")",
                 ps, R"(" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 3 } } } }
    node { name: "a" op: "Hold" input: "c" device: ")",
                 ps, R"(" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "b" op: "Neg" input: "a" device: ")",
                 worker1, R"(" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "y" op: "Neg" input: "b" device: ")",
                 worker0, R"(" attr { key: "T" value { type: DT_FLOAT } } }
  )");
}

} // namespace

TEST_CASE_FIXTURE(Fixture, "why: a kernel that waits for a queue says what it lacks") {
  auto session =
      open(str_cat(R"(
    node { name: "q" op: "FIFOQueueV2" device: ")",
                   ps, R"(" attr { key: "component_types" value { list { type: DT_FLOAT } } }
           attr { key: "shared_name" value { s: "numbers" } } }
    node { name: "take" op: "QueueDequeueV2" input: "q" device: ")",
                   ps, R"(" attr { key: "component_types" value { list { type: DT_FLOAT } } } }
    node { name: "y" op: "Neg" input: "take" device: ")",
                   worker0, R"(" attr { key: "T" value { type: DT_FLOAT } } }
  )"));
  start(session, {"y"});
  StepExplained why = why_one();
  check_line(why.cause,
             {"'take' (QueueDequeueV2)", "asynchronously: it waits for elements of queue 'numbers' "
                                         "(FIFOQueue of float, 0 elements)"});
}

TEST_CASE_FIXTURE(Fixture, "why: a chain over three devices ends in the kernel that does not end") {
  auto session = open(chain());
  start(session, {"y"});
  REQUIRE(held().size() == 1);
  StepExplained why = why_one();
  REQUIRE(why.tree.size() == 3);
  check_line(why.tree[0], {"'y' (Neg) on " + cpu(worker0), "waits for 'b"});
  check_line(why.tree[1], {"'b:0' from " + cpu(worker1), "its op 'b' (Neg) waits for 'a"});
  check_line(why.tree[2],
             {"'a:0' from " + cpu(ps), "its op 'a' (Hold) has been running for", "asynchronously"});
  check_line(why.cause, {"waiting for 'a:0' from " + cpu(ps), "'a' (Hold)"});
  check_line(why.signature, {"y"});
  let_go();
  cluster.run();
  CHECK(this->why().steps.empty());
  StepsExplained ended = this->why(why.step_id);
  REQUIRE(ended.remarks.size() == 1);
  CHECK(ended.remarks[0] == str_cat("step ", why.step_id, " has ended: done"));
}

TEST_CASE_FIXTURE(Fixture, "why: an edge from a frozen task ends in the task, with its last word") {
  auto session = open(chain());
  start(session, {"y"});
  cluster.freeze(ps);
  cluster.advance(1s);
  StepExplained why = why_one();
  check_line(why.tree.back(), {"'a' from " + cpu(ps), str_cat(ps, " does not answer"),
                               "(last heard of ", " ms ago)"});
  check_line(why.cause, {"waiting for 'a' from " + cpu(ps), "does not answer"});
}

TEST_CASE_FIXTURE(Fixture, "why: a step that ends while it is explained is said to have ended") {
  auto session = open(chain());
  start(session, {"y"});
  std::uint64_t step_id = why_one().step_id;
  cluster.freeze(worker1); // keeps the explanation open, but not for ever
  SimNode& node = cluster.node(worker0);
  // No budget: time is virtual, and run() below returns only when nothing more can happen.
  auto asked = node.self->request(master_session(), caf::infinite, ExplainStep{step_id});
  cluster.run();
  REQUIRE(!node.self->has_next_message());
  cluster.thaw(worker1);
  let_go();
  cluster.advance(3s);
  REQUIRE(node.self->has_next_message());
  asked.receive(
      [&](const StepsExplained& answer) {
        CHECK((answer.steps.size() == 1 || answer.remarks.size() == 1));
      },
      [](caf::error&) { FAIL("the master session answers"); });
}

TEST_CASE_FIXTURE(Fixture, "why: a step that was never there is told so") {
  auto session = open(chain());
  StepsExplained out = why(4711);
  CHECK(out.steps.empty());
  REQUIRE(out.remarks.size() == 1);
  CHECK(out.remarks[0].starts_with("there is no step 4711"));
}

TEST_CASE_FIXTURE(Fixture, "why: the deadline's error names the cause, and the step still ends") {
  auto session = open(chain());
  RunStep step;
  step.fetches = {"y"};
  step.timeout_us = 500'000;
  auto result = cluster.ask<RunStepResult>(cluster.client(), session, std::move(step), 10s);
  REQUIRE(!result.ok());
  CHECK(result.status().code() == Code::deadline_exceeded);
  check_line(result.status().message(),
             {"took longer than its deadline of 500 ms; waiting for 'a:0' from " + cpu(ps),
              "its op 'a' (Hold) has been running for"});
}

TEST_CASE_FIXTURE(Fixture, "why: the deadline's error names a frozen task") {
  auto session = open(chain());
  start(session, {"y"});
  let_go();
  cluster.run(); // its graphs are registered now
  RunStep step;
  step.fetches = {"y"};
  step.timeout_us = 500'000;
  cluster.freeze(ps);
  auto result = cluster.ask<RunStepResult>(cluster.client(), session, std::move(step), 10s);
  REQUIRE(!result.ok());
  CHECK(result.status().code() == Code::deadline_exceeded);
  check_line(result.status().message(), {"; waiting for 'a' from " + cpu(ps), "does not answer"});
}

TEST_CASE_FIXTURE(Fixture, "why: the session's own deadline holds for steps without one") {
  SessionSettings settings;
  settings.operation_timeout_us = 500'000;
  auto session = cluster.open_session(worker0, chain(), settings);
  RunStep step;
  step.fetches = {"y"};
  auto result = cluster.ask<RunStepResult>(cluster.client(), session, std::move(step), 10s);
  REQUIRE(!result.ok());
  CHECK(result.status().code() == Code::deadline_exceeded);
  check_line(result.status().message(), {"its deadline of 500 ms; waiting for"});
}

TEST_CASE_FIXTURE(Fixture, "why: a step without any deadline ends with the node's step-timeout") {
  auto session = open(chain());
  start(session, {"y"}); // with the long default
  let_go();
  cluster.run();
  cluster.node(worker0).services->timeouts.step = 2s;
  RunStep step;
  step.fetches = {"y"};
  // Less than the step-timeout and the time that parts have for the answer to a cancellation, which
  // nobody would hear.
  auto result = cluster.ask<RunStepResult>(cluster.client(), session, std::move(step), 3s);
  REQUIRE(!result.ok());
  CHECK(result.status().code() == Code::deadline_exceeded);
  check_line(result.status().message(),
             {"took longer than the step-timeout of 2000 ms; waiting for 'a:0' from " + cpu(ps)});
}

} // namespace troupe::why_test
