// What waits is ended or goes on at once when that for which it waits is gone: connections, parsing
// of graphs, feeds on their way. No virtual time passes here unless it is said.
#include <doctest/doctest.h>

#include <deque>

#include <caf/event_based_actor.hpp>

#include "actors/session/session.hpp"
#include "actors/transport/transport.hpp"
#include "api/scope.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/sim/sim_cluster.hpp"

namespace troupe::waiting_test {

using namespace troupe::testing;

namespace {

constexpr const char* ps = "/job:ps/replica:0/task:0";
constexpr const char* worker0 = "/job:worker/replica:0/task:0";
constexpr const char* worker1 = "/job:worker/replica:0/task:1";

bool has(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string::npos;
}

struct Fixture {
  SimCluster cluster{{ps, worker0, worker1}};
  Scope root = Scope::root();
  std::deque<std::function<void()>> offloaded; ///< of worker/0, while it is held

  SimNode& master_node() { return cluster.node(worker0); }
  void hold_offloading() {
    master_node().services->threads = std::make_shared<SimThreads>(
        [this](std::function<void()> work) { offloaded.push_back(std::move(work)); },
        std::chrono::milliseconds(1));
  }
  // What has been handed over, and what that leads to.
  void compute() {
    while (!offloaded.empty()) {
      auto work = std::move(offloaded.front());
      offloaded.pop_front();
      work();
      cluster.run();
    }
  }

  MasterSessionActor master_session() {
    SimNode& node = master_node();
    auto sessions = cluster.ask<SessionList>(node, node.handles.master, GetSessions{});
    REQUIRE(sessions.ok());
    auto found = cluster.ask<SessionCreated>(node, node.handles.master,
                                             FindSession{sessions->sessions.back().session_handle});
    REQUIRE(found.ok());
    return found->session;
  }

  // A request that is looked at later.
  template <class Answer>
  struct Pending {
    std::shared_ptr<Result<Answer>> out =
        std::make_shared<Result<Answer>>(deadline_exceeded("not answered"));
    const Result<Answer>& operator*() const { return *out; }
    const Result<Answer>* operator->() const { return out.get(); }
    bool is_open() const { return !out->ok() && out->status().code() == Code::deadline_exceeded; }
  };
  template <class Answer, class Handle, class Message>
  Pending<Answer> start(const Handle& peer, Message message) {
    Pending<Answer> pending;
    auto out = pending.out;
    client_actors.push_back(
        cluster.client().system.spawn([=](caf::event_based_actor* self) mutable -> caf::behavior {
          // No budget: time is virtual, and `is_open` says whether an answer is still missing.
          self->request(peer, caf::infinite, std::move(message))
              .then([=](Answer& answer) { *out = std::move(answer); },
                    [=](caf::error& error) { *out = to_status(error, "a request"); });
          return {[](caf::unit_t) {}};
        }));
    cluster.run();
    return pending;
  }
  std::vector<caf::actor> client_actors;
  ~Fixture() {
    for (const char* task : {ps, worker0, worker1})
      cluster.thaw(task);
    for (auto& actor : client_actors)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    cluster.run();
  }

  RunStep step(std::vector<std::string> fetches, std::uint64_t request_id = 0) {
    RunStep out;
    out.fetches = std::move(fetches);
    out.request_id = request_id;
    return out;
  }
  caf::strong_actor_ptr guardian_of(const char* task, SimNode& seen_from) {
    return seen_from.guardians.at(str_cat("sim:", cluster.node(task).port));
  }
};

/// A transport that is asked for a tensor and never gives it.
TransportActor::behavior_type
mute_transport(TransportActor::pointer self,
               std::shared_ptr<std::vector<caf::typed_response_promise<TensorChunk>>> asked) {
  return {
      [](OfferTensor&) {},
      [=](const PullChunk&) -> caf::result<TensorChunk> {
        asked->push_back(self->make_response_promise<TensorChunk>());
        return asked->back();
      },
      [](const ReleaseTensor&) {},
      [](const OpenPath&) -> caf::result<PathOffer> { return to_error(unimplemented("mute")); },
      [](FetchTensor&) -> caf::result<FetchedTensor> { return to_error(unimplemented("mute")); },
      [](const Drain&) { return caf::ok_atom::value; },
      [](const GetActors&) { return ActorTree{}; },
      [](CheckLeases) {},
      [](const TransportEvent&) {},
  };
}

/// Says who a node is, as the node itself has said; ends when it is told to.
GuardianActor::behavior_type herald(GuardianActor::pointer, Welcome welcome) {
  return {
      [=](const Hello&) { return welcome; },
      [](const GetActors&) { return ActorTree{}; },
      [](const Adopt&) -> caf::result<caf::ok_atom> { return caf::ok_atom::value; },
      [](const KillActor&) -> caf::result<caf::ok_atom> { return caf::ok_atom::value; },
      [](const GetNodeStatus&) { return NodeStatus{}; },
      [](const GetResources&) { return ResourceList{}; },
      [](const ShutDown&) { return caf::ok_atom::value; },
  };
}

std::string constant(const char* name, int value) {
  return str_cat(
      "node { name: '", name, "' op: 'Const' ", "attr { key: 'dtype' value { type: DT_FLOAT } } ",
      "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: ", value,
      " } } } }");
}

Tensor large() {
  return Tensor::zeros(DType::float32, {100000});
}

} // namespace

TEST_CASE_FIXTURE(Fixture, "waiting: a request to an actor behind a lost connection ends with it") {
  cluster.open_session(worker0, root.graph_def()); // worker/0 knows the ps
  auto peer = cluster.ask<Peer>(master_node(), master_node().handles.membership, GetPeer{ps});
  REQUIRE(peer.ok());
  cluster.freeze(ps);
  auto asked = std::make_shared<Status>();
  auto asker = master_node().system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
    ask(self, peer->worker, std::chrono::seconds(10), GetWorkerStatus{})
        .then([=](const WorkerStatus&) { *asked = internal("answered"); },
              [=](caf::error& error) { *asked = to_status(error, "GetWorkerStatus"); });
    return {[](caf::unit_t) {}};
  });
  cluster.run();
  CHECK(asked->ok());
  cluster.cut(worker0);
  CHECK(asked->code() == Code::unavailable);
  CHECK(has(*asked, "GetWorkerStatus"));
  caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
}

TEST_CASE_FIXTURE(Fixture, "waiting: what was offered to a lost node is dropped with it") {
  std::int64_t before = counter("transport_offers").value();
  auto offer = [&](const char* to) {
    auto wire = to_wire(large(), master_node().services, master_node().system.node(),
                        guardian_of(to, master_node()), master_node().handles.transport);
    REQUIRE(wire.is_ticket());
    return wire.ticket->id;
  };
  offer(ps);
  offer(ps);
  const TicketId taken = offer(worker1);
  cluster.run();
  CHECK(counter("transport_offers").value() == before + 3);
  withdraw(master_node().services, master_node().handles.transport, {taken});
  cluster.run();
  CHECK(counter("transport_offers").value() == before + 2);
  cluster.cut(worker0);
  CHECK(counter("transport_offers").value() == before);
}

TEST_CASE_FIXTURE(Fixture, "waiting: a graph is parsed away from the actors, and in order") {
  auto session = cluster.open_session(worker0, "");
  hold_offloading();
  auto extended = start<GraphExtended>(session, ExtendGraph{constant("a", 2), -1});
  auto again = start<GraphExtended>(session, ExtendGraph{constant("b", 3), -1});
  auto stale = start<GraphExtended>(session, ExtendGraph{constant("c", 4), 1});
  auto run = start<RunStepResult>(session, step({"a", "b"}));
  auto explained = start<GraphExplained>(session, ExplainGraph{});
  CHECK(extended.is_open());
  CHECK(offloaded.size() == 1);
  // Others get through meanwhile.
  CHECK(cluster.ask<DeviceList>(cluster.client(), session, ListDevices{}).ok());
  compute();
  REQUIRE(extended->ok());
  CHECK((*extended)->graph_version == 1);
  REQUIRE(again->ok());
  CHECK((*again)->graph_version == 2);
  CHECK(stale->status().code() == Code::aborted);
  REQUIRE_MESSAGE(run->ok(), run->status().to_string());
  CHECK((*run)->tensors.at(1).tensor.value<float>() == 3);
  REQUIRE(explained->ok());
  CHECK((*explained)->placement.size() == 2);
}

TEST_CASE_FIXTURE(Fixture, "waiting: a graph that is refused leaves what waits for it as it was") {
  auto session = cluster.open_session(worker0, "");
  hold_offloading();
  auto extended = start<GraphExtended>(session, ExtendGraph{"node { name: 'x' op: 'Nope' }", -1});
  auto run = start<RunStepResult>(session, step({"x"}));
  compute();
  CHECK(extended->status().code() == Code::not_found);
  CHECK(run->status().code() == Code::not_found);
}

TEST_CASE_FIXTURE(Fixture, "waiting: a run is cancelled while its graph is built, others are not") {
  auto session = cluster.open_session(worker0, constant("a", 2));
  hold_offloading();
  auto unwanted = start<RunStepResult>(session, step({"a"}, 7));
  auto wanted = start<RunStepResult>(session, step({"a"}, 8));
  CHECK(unwanted.is_open());
  caf::anon_send(session, CancelRun{7});
  cluster.run();
  CHECK(unwanted->status().code() == Code::cancelled);
  CHECK(has(unwanted->status(), "cancelled by its client"));
  CHECK(wanted.is_open());
  compute();
  CHECK(wanted->ok());
}

TEST_CASE_FIXTURE(Fixture, "waiting: a run is cancelled while its feeds are on their way") {
  Output x = root.on(ps)
                 .named("x")
                 .add("Placeholder", std::vector<Output>{}, {{"dtype", DType::float32}})
                 .output(0);
  root.on(ps).named("y").add("Neg", std::vector<Output>{x});
  cluster.open_session(worker0, root.graph_def());
  auto asked = std::make_shared<std::vector<caf::typed_response_promise<TensorChunk>>>();
  SimNode& client = cluster.client();
  auto mute = client.system.spawn(mute_transport, asked);
  auto ticket = [&] {
    WireTensor out;
    out.ticket = std::make_shared<const TensorTicket>(TensorTicket{
        untyped(mute), {TicketPlace::offered, 1}, DType::float32, Shape{100000}, 400000});
    return out;
  };

  // To the master.
  auto master = master_session();
  RunStep run = step({"y"}, 7);
  run.feeds.emplace_back("x", ticket());
  SimNode& node = master_node();
  // No budget: time is virtual, and run() below returns only when nothing more can happen.
  auto first = node.self->request(master, caf::infinite, std::move(run));
  cluster.run();
  REQUIRE(!asked->empty());
  node.self->send(master, CancelRun{7});
  cluster.run();
  REQUIRE(node.self->has_next_message());
  Status ended;
  first.receive([](RunStepResult&) {},
                [&](caf::error& error) { ended = to_status(error, "RunStep"); });
  CHECK(ended.code() == Code::cancelled);

  // To a worker: the master's transport goes silent while the ps pulls.
  asked->clear();
  auto found = cluster.ask<SessionList>(node, node.handles.master, GetSessions{});
  auto part = cluster.ask<WorkerSessionCreated>(
      node, node.handles.worker, FindWorkerSession{found->sessions.at(0).session_handle});
  REQUIRE(part.ok());
  auto worker_session = part->session;
  auto registered = cluster.ask<GraphRegistered>(
      node, worker_session,
      RegisterGraph{str_cat("node { name: 'z' op: 'NoOp' device: '", worker0, "/device:CPU:0' }"),
                    {},
                    false});
  REQUIRE_MESSAGE(registered.ok(), registered.status().to_string());
  RunGraph graph;
  graph.graph_handle = registered->graph_handle;
  graph.step_id = 99;
  graph.args.push_back(ticket());
  // No budget: time is virtual, and run() below returns only when nothing more can happen.
  auto second = node.self->request(worker_session, caf::infinite, std::move(graph));
  cluster.run();
  REQUIRE(!asked->empty());
  node.self->send(worker_session, CancelStep{99, {cancelled("enough").as_derived()}});
  cluster.run();
  REQUIRE(node.self->has_next_message());
  second.receive([](GraphRun&) {},
                 [&](caf::error& error) { ended = to_status(error, "RunGraph"); });
  CHECK(ended.message() == "enough");

  asked->clear();
  caf::anon_send_exit(mute, caf::exit_reason::user_shutdown);
  cluster.run();
}

TEST_CASE_FIXTURE(Fixture, "waiting: a dead fetch is named as its client wrote it") {
  auto placeholder = [&](const char* name, DType dtype) {
    return root.named(name).add("Placeholder", std::vector<Output>{}, {{"dtype", dtype}}).output(0);
  };
  Output x = placeholder("x", DType::float32), p = placeholder("p", DType::bool_);
  Operation branch = root.on(worker1).named("branch").add("Switch", std::vector<Output>{x, p});
  root.on(worker1).named("taken").add("Neg", std::vector<Output>{branch.output(0)});
  root.on(ps).named("copy").add("Neg", std::vector<Output>{x});
  root.on(worker1).named("dead").add("Neg", std::vector<Output>{branch.output(1)});
  auto session = cluster.open_session(worker0, root.graph_def());
  auto fetch = [&](std::vector<std::string> fetches) {
    RunStep run = step(std::move(fetches));
    run.feeds.emplace_back("x", WireTensor(Tensor::scalar(1.0f)));
    run.feeds.emplace_back("p", WireTensor(Tensor::scalar(false)));
    return cluster.ask<RunStepResult>(cluster.client(), session, std::move(run)).status();
  };
  CHECK(fetch({"taken", "copy"}).ok());
  Status plain = fetch({"taken", "copy", "dead"});
  CHECK(plain.code() == Code::invalid_argument);
  CHECK(plain.message().starts_with("Retval[2] does not have value: the fetch 'dead' is dead"));
  CHECK(plain.origin().node == "dead");
  CHECK(plain.origin().device.find(worker1) == 0);
  Status with_slot = fetch({"dead:0", "taken"});
  CHECK(with_slot.message().starts_with("Retval[0] does not have value: the fetch 'dead:0'"));
}

TEST_CASE_FIXTURE(Fixture, "waiting: a node of another version is told of both at once") {
  auto guardian = typed<GuardianActor>(guardian_of(ps, cluster.client()));
  auto welcome =
      cluster.ask<Welcome>(cluster.client(), guardian, Hello{protocol_version + 1, "client"});
  REQUIRE(!welcome.ok());
  CHECK(welcome.status().code() == Code::failed_precondition);
  CHECK(has(welcome.status(), str_cat("version ", protocol_version + 1, " of the protocol")));
  CHECK(has(welcome.status(), str_cat(ps, " version ", protocol_version)));
}

TEST_CASE_FIXTURE(Fixture,
                  "waiting: a master that leaves in order is said to have left, even if its "
                  "guardian's end comes before its session's") {
  SimNode& client = cluster.client();
  auto welcome = cluster.ask<Welcome>(client, typed<GuardianActor>(guardian_of(worker0, client)),
                                      Hello{protocol_version, "client"});
  REQUIRE(welcome.ok());
  auto guardian = client.system.spawn(herald, *welcome);
  auto session = client.system.spawn(troupe::session, Services(client.services), MasterActor{},
                                     client.handles.transport);
  client_actors.push_back(caf::actor_cast<caf::actor>(session));
  OpenSession request;
  request.guardian = guardian;
  request.request.graph_def = constant("a", 1);
  REQUIRE(cluster.ask<SessionCreated>(client, session, std::move(request)).ok());
  CHECK(cluster.ask<RunStepResult>(client, session, step({"a"})).ok());
  caf::anon_send_exit(guardian, caf::exit_reason::user_shutdown);
  cluster.run();
  Status status = cluster.ask<RunStepResult>(client, session, step({"a"})).status();
  CHECK(status.code() == Code::unavailable);
  CHECK(has(status, worker0));
  CHECK(has(status, "has left the cluster in order"));
}

} // namespace troupe::waiting_test
