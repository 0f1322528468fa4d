// A worker that is spoken to by a master or a peer directly: some do not keep to the protocol, some
// are early and some late.
#include <doctest/doctest.h>

#include "actors/transport/transport.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "kernels/framework/rendezvous.hpp"
#include "tests/support/sim/sim_cluster.hpp"

namespace troupe::worker_test {

using namespace troupe::testing;

namespace {

constexpr const char* ps = "/job:ps/replica:0/task:0";
constexpr const char* worker0 = "/job:worker/replica:0/task:0";

// A fetch that waits for a value of the ps, which never sends it.
std::string waiting_graph() {
  std::string here = str_cat(worker0, "/device:CPU:0"), there = str_cat(ps, "/device:CPU:0");
  return str_cat(R"(node { name: "r" op: "_Recv" device: ")", here, R"("
      attr { key: "tensor_type" value { type: DT_FLOAT } } attr { key: "tensor_name" value { s: "edge_1_a" } }
      attr { key: "send_device" value { s: ")",
                 there, R"(" } } attr { key: "recv_device" value { s: ")", here, R"(" } }
      attr { key: "send_device_incarnation" value { i: 1 } } attr { key: "client_terminated" value { b: false } } }
    node { name: "out" op: "_Retval" input: "r" device: ")",
                 here, R"("
      attr { key: "T" value { type: DT_FLOAT } } attr { key: "index" value { i: 0 } } })");
}

// What sends it, fed with the value.
std::string sending_graph() {
  std::string here = str_cat(ps, "/device:CPU:0"), there = str_cat(worker0, "/device:CPU:0");
  return str_cat(R"(node { name: "a" op: "_Arg" device: ")", here, R"("
      attr { key: "T" value { type: DT_FLOAT } } attr { key: "index" value { i: 0 } } }
    node { name: "s" op: "_Send" input: "a" device: ")",
                 here, R"("
      attr { key: "T" value { type: DT_FLOAT } } attr { key: "tensor_name" value { s: "edge_1_a" } }
      attr { key: "send_device" value { s: ")",
                 here, R"(" } } attr { key: "recv_device" value { s: ")", there, R"(" } }
      attr { key: "send_device_incarnation" value { i: 1 } } attr { key: "client_terminated" value { b: false } } })");
}

std::string edge() {
  return rendezvous_key(str_cat(ps, "/device:CPU:0"), 1, str_cat(worker0, "/device:CPU:0"),
                        "edge_1_a", 0, 0);
}

// The two ends of one session, without a master.
struct Pair {
  SimCluster cluster{{ps, worker0}};
  SimNode& sender = cluster.node(ps);
  SimNode& receiver = cluster.node(worker0);
  WorkerSessionActor sends = open(sender), receives = open(receiver);
  std::string sending = add(sender, sends, sending_graph());
  std::string receiving = add(receiver, receives, waiting_graph());
  std::int64_t mailboxes = counter("rendezvous").value();
  std::int64_t offers = counter("transport_offers").value();

  WorkerSessionActor open(SimNode& node) {
    auto created = cluster.ask<WorkerSessionCreated>(node, node.handles.worker,
                                                     CreateWorkerSession{"s", ps, false, 0});
    REQUIRE_MESSAGE(created.ok(), created.status().to_string());
    return created->session;
  }
  std::string add(SimNode& node, const WorkerSessionActor& session, std::string graph) {
    auto made =
        cluster.ask<GraphRegistered>(node, session, RegisterGraph{std::move(graph), {}, true});
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    return made->graph_handle;
  }
  Result<GraphRun> send(std::uint64_t step_id, Tensor value) {
    RunGraph run{sending, step_id, {}, false};
    run.args.emplace_back(std::move(value));
    return cluster.ask<GraphRun>(sender, sends, std::move(run));
  }
  Result<GraphRun> receive(std::uint64_t step_id) {
    return cluster.ask<GraphRun>(receiver, receives, RunGraph{receiving, step_id, {}, false});
  }
  void arrive(std::uint64_t step_id, WireTensor value, bool is_dead = false) {
    EdgesArrived message{step_id, {}};
    message.edges.push_back({edge(), std::move(value), is_dead});
    caf::anon_send(receives, std::move(message));
    cluster.run();
  }
  void clean_up(std::uint64_t step_id) {
    for (const auto& session : {sends, receives})
      caf::anon_send(session, CleanupStep{{step_id}});
    cluster.run();
  }
  // The receiver's of that step.
  RendezvousActor rendezvous_of(std::uint64_t step_id) {
    auto tree = cluster.ask<ActorTree>(receiver, receives, GetActors{});
    REQUIRE(tree.ok());
    for (const ActorInfo& info : tree->actors)
      if (info.path == str_cat("rendezvous-", step_id))
        return caf::actor_cast<RendezvousActor>(info.actor);
    FAIL("no rendezvous of that step");
    return {};
  }
  std::int64_t waiting() const { return counter("rendezvous").value() - mailboxes; }
  std::int64_t offered() const { return counter("transport_offers").value() - offers; }
};

} // namespace

TEST_CASE_FIXTURE(Pair, "worker: a value that comes before its step waits for it") {
  arrive(7, Tensor::scalar(5.f));
  CHECK(waiting() == 1);
  auto run = receive(7);
  REQUIRE_MESSAGE(run.ok(), run.status().to_string());
  CHECK(run->retvals.at(0).tensor.value<float>() == 5);
  clean_up(7);
  CHECK(waiting() == 0);
}

TEST_CASE_FIXTURE(Pair, "worker: a dead value that comes before its step is as dead then") {
  arrive(7, {}, true);
  auto run = receive(7);
  REQUIRE(!run.ok());
  CHECK(run.status().message().find("does not have value") != std::string::npos);
  clean_up(7);
  CHECK(waiting() == 0);
}

TEST_CASE_FIXTURE(Pair, "worker: a value whose step is cancelled before it begins is freed") {
  arrive(7, Tensor::scalar(5.f));
  caf::anon_send(receives, CancelStep{7, {cancelled("not wanted any more")}});
  cluster.run();
  CHECK(receive(7).status().code() == Code::cancelled);
  clean_up(7);
  CHECK(waiting() == 0);
}

TEST_CASE_FIXTURE(Pair, "worker: a value that comes after its step is dropped") {
  REQUIRE(send(7, Tensor::scalar(5.f)).ok());
  REQUIRE(receive(7).ok());
  clean_up(7);
  arrive(7, Tensor::scalar(5.f));
  CHECK(waiting() == 0);
  auto late =
      cluster.ask<EdgesSent>(receiver, sends, ReceiveTensors{7, {edge()}, receives, worker0});
  CHECK(late.status().code() == Code::aborted);
  CHECK(waiting() == 0);
}

TEST_CASE_FIXTURE(Pair, "worker: a value whose step never begins is freed after a while") {
  arrive(7, Tensor::scalar(5.f));
  CHECK(waiting() == 1);
  cluster.advance(2 * receiver.services->timeouts.orphan);
  CHECK(waiting() == 0);
}

TEST_CASE_FIXTURE(Pair, "worker: who has asked once is sent the values of later steps unasked") {
  REQUIRE(send(1, Tensor::scalar(1.f)).ok());
  CHECK(waiting() == 1); // the sender's: nobody has asked yet
  REQUIRE(receive(1).ok());
  clean_up(1);
  CHECK(waiting() == 0);

  REQUIRE(send(2, Tensor::scalar(2.f)).ok());
  CHECK(waiting() == 2); // it lies with the receiver, whose part has not begun
  auto run = receive(2);
  REQUIRE_MESSAGE(run.ok(), run.status().to_string());
  CHECK(run->retvals.at(0).tensor.value<float>() == 2);
  clean_up(2);
  CHECK(waiting() == 0);
}

TEST_CASE_FIXTURE(Pair,
                  "worker: values that waited with the sender go to who asks in another step") {
  REQUIRE(send(1, Tensor::scalar(1.f)).ok());
  REQUIRE(send(2, Tensor::scalar(2.f)).ok());
  CHECK(waiting() == 2);
  REQUIRE(receive(1).ok());
  CHECK(waiting() == 4); // both ends of both steps
  CHECK(receive(2)->retvals.at(0).tensor.value<float>() == 2);
  clean_up(1);
  clean_up(2);
  CHECK(waiting() == 0);
}

TEST_CASE_FIXTURE(Pair, "worker: a large value is pulled when its step has begun, and not before") {
  REQUIRE(send(1, Tensor::scalar(1.f)).ok());
  REQUIRE(receive(1).ok());
  clean_up(1);
  Tensor large = Tensor::zeros(DType::float32, Shape({1 << 15}));
  REQUIRE(send(2, large).ok());
  CHECK(waiting() == 2);
  CHECK(offered() == 1);
  auto run = receive(2);
  REQUIRE_MESSAGE(run.ok(), run.status().to_string());
  CHECK(offered() == 0);
  clean_up(2);

  REQUIRE(send(3, large).ok());
  CHECK(offered() == 1);
  clean_up(3); // without its receiver's part
  CHECK(offered() == 0);
  CHECK(waiting() == 0);
}

TEST_CASE_FIXTURE(Pair, "worker: a run takes along which steps have ended before it") {
  REQUIRE(send(1, Tensor::scalar(1.f)).ok());
  REQUIRE(receive(1).ok());
  CHECK(waiting() == 2);
  RunGraph run{receiving, 2, {}, false};
  run.ended = {1};
  arrive(2, Tensor::scalar(2.f));
  CHECK(waiting() == 3);
  CHECK(cluster.ask<GraphRun>(receiver, receives, std::move(run)).ok());
  CHECK(waiting() == 2); // step 1 is known at the sender only
}

TEST_CASE_FIXTURE(Pair, "worker: a rendezvous does not mistake another step's value for its own") {
  REQUIRE(send(1, Tensor::scalar(1.f)).ok());
  REQUIRE(receive(1).ok());
  RendezvousActor mailbox = rendezvous_of(1);
  clean_up(1);
  // No budget: time is virtual, and run() below returns only when nothing more can happen.
  auto waits = receiver.self->request(receives, caf::infinite, RunGraph{receiving, 2, {}, false});
  cluster.run();
  REQUIRE(rendezvous_of(2) == mailbox);
  caf::anon_send(mailbox, PutEdge{1, edge(), Tensor::scalar(1.f)});
  EdgesArrived late{1, {}};
  late.edges.push_back({edge(), Tensor::scalar(1.f), false});
  caf::anon_send(mailbox, std::move(late));
  caf::anon_send(mailbox, EdgesLost{1, ps, {aborted("step 1 was lost")}});
  cluster.run();
  CHECK(!receiver.self->has_next_message());
  REQUIRE(send(2, Tensor::scalar(2.f)).ok());
  REQUIRE(receiver.self->has_next_message());
  waits.receive([](GraphRun& run) { CHECK(run.retvals.at(0).tensor.value<float>() == 2); },
                [](caf::error& error) { FAIL(to_status(error, "the run").to_string()); });
  auto late_wish =
      cluster.ask<EdgesSent>(receiver, mailbox, ReceiveTensors{1, {edge()}, sends, ps});
  CHECK(late_wish.status().code() == Code::aborted);
}

TEST_CASE_FIXTURE(Pair, "worker: values that could not be read end the wait for them") {
  auto waits = receiver.self->request(receives, caf::infinite, RunGraph{receiving, 2, {}, false});
  cluster.run();
  EdgesArrived broken{2, {}};
  broken.is_unreadable = true;
  caf::anon_send(receives, std::move(broken));
  cluster.run();
  Status status;
  REQUIRE(receiver.self->has_next_message());
  waits.receive([](GraphRun&) {}, [&](caf::error& error) { status = to_status(error, "the run"); });
  CHECK(status.code() == Code::internal);
  CHECK(status.message().find("could not be read") != std::string::npos);
}

TEST_CASE_FIXTURE(Pair, "worker: what is lost with a receiver's connection ends the wait for it") {
  REQUIRE(send(1, Tensor::scalar(1.f)).ok());
  REQUIRE(receive(1).ok());
  clean_up(1);
  // No budget: time is virtual, and run() below returns only when nothing more can happen.
  auto waits = receiver.self->request(receives, caf::infinite, RunGraph{receiving, 2, {}, false});
  cluster.run();
  cluster.cut(ps);
  cluster.advance(2 * receiver.services->timeouts.lease);
  Status status;
  REQUIRE(receiver.self->has_next_message());
  waits.receive([](GraphRun&) {}, [&](caf::error& error) { status = to_status(error, "the run"); });
  CHECK(status.code() == Code::unavailable);
  CHECK(status.message().find(ps) != std::string::npos);
  clean_up(2);
  CHECK(waiting() == 0);
}

TEST_CASE("worker: a second run of a step that still runs is refused, the first one goes on") {
  SimCluster cluster({ps, worker0});

  SimNode& node = cluster.node(worker0);
  auto created = cluster.ask<WorkerSessionCreated>(node, node.handles.worker,
                                                   CreateWorkerSession{"s", ps, false, 0});
  REQUIRE_MESSAGE(created.ok(), created.status().to_string());
  SimNode& sender = cluster.node(ps); // has the session too, so that its value may still come
  REQUIRE(cluster
              .ask<WorkerSessionCreated>(sender, sender.handles.worker,
                                         CreateWorkerSession{"s", ps, false, 0})
              .ok());
  auto session = created->session;
  auto graph =
      cluster.ask<GraphRegistered>(node, session, RegisterGraph{waiting_graph(), {}, true});
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  RunGraph run;
  run.graph_handle = graph->graph_handle;
  run.step_id = 7;
  std::int64_t before = counter("steps").value();
  // No budget: time is virtual, and run() below returns only when nothing more can happen.
  auto first = node.self->request(session, caf::infinite, run);
  cluster.run();
  REQUIRE(counter("steps").value() == before + 1);
  auto second = cluster.ask<GraphRun>(node, session, run);
  CHECK(second.status().code() == Code::already_exists);
  CHECK(second.status().message().find("step 7 runs already on /job:worker/replica:0/task:0") !=
        std::string::npos);
  CHECK(counter("steps").value() == before + 1);
  caf::anon_send(session, CancelStep{7, {cancelled("that is enough")}});
  cluster.run();
  Code code = Code::ok;
  first.receive([](GraphRun&) {},
                [&](caf::error& error) { code = to_status(error, "the first run").code(); });
  CHECK(code == Code::cancelled);
  CHECK(counter("steps").value() == before);
}

} // namespace troupe::worker_test
