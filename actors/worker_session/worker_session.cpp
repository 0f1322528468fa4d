#include "actors/worker_session/worker_session.hpp"

#include <algorithm>

#include "actors/family/remote_edges.hpp"
#include "actors/family/rounds.hpp"
#include "actors/family/wire.hpp"
#include "actors/graph_manager/graph_manager.hpp"
#include "actors/protocol/error_text.hpp"
#include "actors/protocol/master_session.hpp"
#include "actors/transport/transport.hpp"
#include "actors/worker_session/explain.hpp"
#include "actors/worker_session/hand_over_edge.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe {

WorkerSessionState::~WorkerSessionState() {
  for (auto& [step_id, promise] : arriving)
    promise.deliver(to_error(aborted(str_cat("session ", handle, " ended while the feeds of step ",
                                             step_id, " were on their way"))
                                 .as_derived()));
  for (const auto& [step_id, box] : mailboxes)
    stop(box.rendezvous);
  for (const RendezvousActor& rendezvous : mailboxes.resting())
    stop(rendezvous);
  stop(graph_manager);
  if (remote_edges)
    for (std::uint64_t step_id : mailboxes.steps())
      remote_edges->end_step(step_id);
}

namespace {

using Self = WorkerSessionActor::stateful_pointer<WorkerSessionState>;
using Mailbox = MailboxTable<RendezvousActor>::Mailbox;

struct Parts {
  Services services;
  MembershipActor membership;
  TransportActor transport;
  std::chrono::microseconds sweep_every{0};
};

RendezvousActor take_rendezvous(Self self, const Parts& parts) {
  auto& state = self->state;
  if (state.mailboxes.has_resting())
    return state.mailboxes.take_resting();
  return self->spawn<caf::monitored>(
      rendezvous, RendezvousSetup{parts.services, caf::actor_cast<WorkerSessionActor>(self->ctrl()),
                                  parts.transport});
}

// The step's rendezvous; taken when its first user comes, be that RunGraph or an impatient peer.
Mailbox& mailbox(Self self, const Parts& parts, std::uint64_t step_id) {
  auto& state = self->state;
  if (auto* box = state.mailboxes.find(step_id))
    return *box;
  auto& box = state.mailboxes.open(step_id, take_rendezvous(self, parts), now_us(self));
  self->send(box.rendezvous, BeginExchange{step_id, state.peers.edges()});
  return box;
}

// A rendezvous that ends before its step takes values along that nobody has yet: the step fails,
// here and wherever they are waited for.
void rendezvous_lost(Self self, const Parts& parts, const caf::down_msg& down) {
  auto* entry = self->state.mailboxes.rendezvous_ended(
      [&](const RendezvousActor& actor) { return actor.address() == down.source; });
  if (!entry)
    return;
  auto& [step_id, box] = *entry;
  box.lost = aborted(str_cat("the rendezvous of step ", step_id, " on ", parts.services->task,
                             " was ended (", error_text(down.reason),
                             "): values that it held are lost; run the step again"))
                 .with_origin({"", "", parts.services->task, step_id});
  self->send(self->state.graph_manager, CancelStep{step_id, {box.lost}});
}

// The rendezvous serves another step; what still comes for this one does not reach that.
void drop_mailbox(Self self, std::uint64_t step_id) {
  if (self->state.remote_edges)
    self->state.remote_edges->end_step(step_id);
  auto leave = [self](RendezvousActor& rendezvous, bool rests) {
    self->send(rendezvous, EndExchange{});
    if (!rests)
      self->send_exit(rendezvous, caf::exit_reason::user_shutdown);
  };
  if (self->state.mailboxes.close(step_id, leave))
    self->state.idle.answer();
}

void execute(Self self, const Parts& parts, const GraphRegistered& graph, RunGraph run,
             caf::strong_actor_ptr receiver, caf::typed_response_promise<GraphRun> promise) {
  auto& state = self->state;
  std::uint64_t step_id = run.step_id;
  ExecuteGraph execute{std::move(run), {}, std::move(receiver)};
  if (graph.has_cut_edges) {
    auto& box = mailbox(self, parts, step_id);
    box.started = true;
    if (!box.lost.ok())
      return void(promise.deliver(to_error(box.lost)));
    execute.rendezvous = box.rendezvous;
  }
  // A master of another kind may come for values when the graph has run, and always cleans up.
  bool clean_up_here = graph.has_cut_edges && !graph.has_remote_edges && !self->state.remote_edges;
  if (!clean_up_here) {
    promise.delegate(state.graph_manager, std::move(execute));
    return;
  }
  ask(self, state.graph_manager, parts.services->timeouts.step, std::move(execute))
      .then(
          [=](GraphRun& result) mutable {
            drop_mailbox(self, step_id);
            promise.deliver(std::move(result));
          },
          [=](caf::error& error) mutable {
            drop_mailbox(self, step_id);
            promise.deliver(std::move(error));
          });
}

// A step that waits for its feeds no longer does.
void end_arrival(Self self, std::uint64_t step_id, const Status& why) {
  if (auto arriving = self->state.arriving.extract(step_id); !arriving.empty())
    arriving.mapped().deliver(to_error(why));
}

void clean_up(Self self, const std::vector<std::uint64_t>& steps) {
  for (std::uint64_t step_id : steps) {
    end_arrival(self, step_id, aborted(str_cat("Cleanup ", step_id)).as_derived());
    drop_mailbox(self, step_id);
  }
}

caf::result<GraphRun> run_graph(Self self, const Parts& parts, RunGraph& m) {
  auto& state = self->state;
  if (!state.refusal.ok())
    return to_error(state.refusal);
  auto it = state.graphs.find(m.graph_handle);
  if (it == state.graphs.end())
    return to_error(
        aborted(str_cat("Graph handle is not found: ", m.graph_handle, ". Possibly this worker (\"",
                        parts.services->task, "\") just restarted; make a new session.")));
  caf::strong_actor_ptr receiver = self->current_sender(); // the promise takes it away
  auto promise = self->make_response_promise<GraphRun>();
  bool has_tickets =
      std::any_of(m.args.begin(), m.args.end(), [](const WireTensor& x) { return x.is_ticket(); });
  if (!has_tickets) {
    execute(self, parts, it->second, std::move(m), std::move(receiver), promise);
    return promise;
  }
  auto run = std::make_shared<RunGraph>(std::move(m));
  state.arriving.emplace(run->step_id, promise);
  from_wire(self, parts.services, parts.transport, std::move(run->args),
            [=, graph = it->second](Status status, std::vector<Tensor> args) mutable {
              if (self->state.arriving.extract(run->step_id).empty())
                return; // cancelled meanwhile
              if (!status.ok())
                return void(promise.deliver(to_error(
                    status.with_context(str_cat("a feed on its way to ", parts.services->task)))));
              run->args.assign(args.begin(), args.end());
              execute(self, parts, graph, std::move(*run), receiver, promise);
            });
  return promise;
}

caf::result<GraphRegistered> register_graph(Self self, const Parts& parts, RegisterGraph& m) {
  auto bytes = self->state.pieces.whole(std::move(m.graph_def));
  if (!bytes)
    return to_error(bytes.status());
  m.graph_def = *std::move(bytes);
  auto promise = self->make_response_promise<GraphRegistered>();
  ask(self, self->state.graph_manager, parts.services->timeouts.compile, std::move(m))
      .then(
          [=](GraphRegistered& registered) mutable {
            self->state.graphs[registered.graph_handle] = registered;
            self->state.graphs[registered.graph_handle].executable = nullptr; // the manager's
            if (!registered.has_cut_edges)
              registered.manager = self->state.graph_manager;
            promise.deliver(std::move(registered));
          },
          [=](caf::error& error) mutable { promise.deliver(std::move(error)); });
  return promise;
}

// The session on another task: found once, forgotten when the task is lost.
caf::result<WorkerSessionCreated> find_peer(Self self, const Parts& parts,
                                            const std::string& task) {
  if (const auto* known = self->state.peers.find(task))
    return *known;
  const Timeouts& t = parts.services->timeouts;
  auto promise = self->make_response_promise<WorkerSessionCreated>();
  auto fail = [=](caf::error& error, std::string_view what) mutable {
    promise.deliver(
        to_error(to_status(error, str_cat(what, " ", task)).with_origin({"", "", task, 0})));
  };
  ask(self, parts.membership, t.dial + 2 * t.request,
      GetPeer{task, std::chrono::microseconds(t.verdict()).count(), true})
      .then(
          [=](const Peer& peer) mutable {
            ask(self, parts.membership, parts.services->timeouts.request,
                WatchPeer{task, caf::actor_cast<WorkerSessionActor>(self->ctrl())})
                .then([](caf::ok_atom) {}, [](caf::error&) {}); // membership never refuses
            ask_watched(self, peer.worker, parts.services->timeouts.request,
                        FindWorkerSession{self->state.handle})
                .then(
                    [=](const WorkerSessionCreated& found) mutable {
                      if (!found.session)
                        return void(promise.deliver(
                            to_error(internal(str_cat(task, " answered without a session")))));
                      self->state.peers.found(task, found);
                      promise.deliver(found);
                    },
                    [=](caf::error& error) mutable { fail(error, "finding the session on"); });
          },
          [=](caf::error& error) mutable { fail(error, "dialling"); });
  return promise;
}

// Of a task that is no node of troupe: each value comes by itself, or the reason why it does not.
EdgesSent want_remote_edges(Self self, const WantEdges& m) {
  for (const std::string& key : m.keys)
    self->state.remote_edges->receive(
        m.step_id, m.task, key,
        [address = self->address(), step_id = m.step_id, task = m.task,
         key](Result<EdgeValue> value) {
          if (!value.ok())
            value = value.status().with_context(str_cat("RecvTensor from ", task));
          hand_over_edge(address, step_id, task, key, std::move(value));
        });
  return {};
}

// What a step here wants of another task; the answer is the peer's. It sends unasked from now on.
caf::result<EdgesSent> want_edges(Self self, const Parts& parts, WantEdges& m) {
  if (self->state.remote_edges)
    return want_remote_edges(self, m);
  auto promise = self->make_response_promise<EdgesSent>();
  auto own = caf::actor_cast<WorkerSessionActor>(self->ctrl());
  const Timeouts& t = parts.services->timeouts;
  auto wish = std::make_shared<WantEdges>(std::move(m));
  ask(self, own, t.dial + 3 * t.request, FindPeerSession{wish->task})
      .then(
          [=](const WorkerSessionCreated& found) mutable {
            auto session = found.session;
            ask_watched(
                self, session, parts.services->timeouts.request,
                ReceiveTensors{wish->step_id, std::move(wish->keys), own, parts.services->task})
                .then(
                    [=](EdgesSent& sent) mutable {
                      if (sent.sends_unasked)
                        self->state.peers.acknowledged(wish->task, session);
                      promise.deliver(std::move(sent));
                    },
                    [=](caf::error& error) mutable { promise.deliver(std::move(error)); });
          },
          [=](caf::error& error) mutable { promise.deliver(std::move(error)); });
  return promise;
}

// A peer asks, and is sent what any step has for it from now on, as long as the connection to it
// lives.
caf::result<EdgesSent> receive_tensors(Self self, const Parts& parts, ReceiveTensors& m) {
  auto& state = self->state;
  if (state.mailboxes.has_ended(m.step_id))
    return to_error(
        aborted(str_cat("step ", m.step_id, " has ended on ", parts.services->task)).as_derived());
  auto& box = mailbox(self, parts, m.step_id);
  if (!box.lost.ok())
    return to_error(box.lost);
  if (state.peers.asked_by(m.task, m.receiver)) {
    self->monitor(caf::actor_cast<caf::actor>(m.receiver));
    for (const auto& [step_id, other] : state.mailboxes) // which began without knowing it
      if (step_id != m.step_id)
        caf::anon_send(other.rendezvous, ReceiveTensors{step_id, {}, m.receiver, m.task});
  }
  // Not delegated: an answer of an actor that lives for a step costs a proxy there.
  auto promise = self->make_response_promise<EdgesSent>();
  ask(self, box.rendezvous, parts.services->timeouts.request, std::move(m))
      .then([promise](EdgesSent& sent) mutable { promise.deliver(std::move(sent)); },
            [promise](caf::error& error) mutable { promise.deliver(std::move(error)); });
  return promise;
}

void edges_arrived(Self self, const Parts& parts, EdgesArrived& m) {
  if (self->state.mailboxes.has_ended(m.step_id))
    return;
  auto& box = mailbox(self, parts, m.step_id);
  if (m.is_unreadable)
    self->send(box.rendezvous,
               AbortStep{{internal(str_cat("a message with values of step ", m.step_id, " came to ",
                                           parts.services->task,
                                           " and could not be read: are its tasks of one version?"))
                              .with_origin({"", "", parts.services->task, m.step_id})}});
  else if (box.lost.ok())
    self->send(box.rendezvous, std::move(m));
}

// Of the client's end, which is in this process.
template <class Edge>
void client_edge(Self self, const Parts& parts, Edge& m) {
  if (self->state.mailboxes.has_ended(m.step_id))
    return;
  if (auto& box = mailbox(self, parts, m.step_id); box.lost.ok())
    self->send(box.rendezvous, std::move(m));
}

void edges_lost(Self self, const Parts& parts, EdgesLost& m) {
  m.status.status = reason_of(m.status);
  if (!self->state.mailboxes.has_ended(m.step_id))
    self->send(mailbox(self, parts, m.step_id).rendezvous, std::move(m));
}

// Each step asks once for what it has waited for since the last time.
void ask_for_late_edges(Self self, std::int64_t since_us) {
  for (const auto& [step_id, box] : self->state.mailboxes)
    if ((box.started || self->state.arriving.count(step_id)) && box.created_us <= since_us)
      self->send(box.rendezvous, AskForMissing{});
}

// A session is idle when no executor runs and no rendezvous holds values for peers.
caf::result<caf::ok_atom> drain(Self self, const Parts& parts, const Drain& m) {
  self->state.refusal = m.refusal;
  auto promise = self->make_response_promise<caf::ok_atom>();
  auto steps_ended = [=](bool cancelled) mutable {
    if (cancelled || self->state.mailboxes.empty())
      promise.deliver(caf::ok_atom::value);
    else
      self->state.idle.add(promise);
  };
  bool cancelled = !m.end.ok();
  ask(self, self->state.graph_manager, parts.services->timeouts.step, m)
      .then([=](caf::ok_atom) mutable { steps_ended(cancelled); },
            [=](caf::error&) mutable { steps_ended(cancelled); });
  return promise;
}

// Another master session goes on where one has ended. Nothing of a step of that one may happen once
// the new one runs its own.
caf::result<caf::ok_atom> resume(Self self, const Parts& parts, const Status& why) {
  auto& state = self->state;
  state.lease.renewed(now_us(self));
  const Status taken_over = aborted(str_cat("session ", state.handle, " is being taken over"));
  if (state.refusal.ok()) // else the node is about to end
    state.refusal = taken_over;
  state.graphs.clear();
  for (auto arriving = std::exchange(state.arriving, {}); auto& [step_id, promise] : arriving)
    promise.deliver(to_error(why));
  for (const auto& [step_id, box] : state.mailboxes)
    self->send(box.rendezvous, AbortStep{{why}});
  auto promise = self->make_response_promise<caf::ok_atom>();
  auto ended = [=, steps = state.mailboxes.steps()]() mutable {
    for (std::uint64_t step_id : steps)
      drop_mailbox(self, step_id);
    if (self->state.refusal == taken_over)
      self->state.refusal = Status{};
    promise.deliver(caf::ok_atom::value);
  };
  const Timeouts& t = parts.services->timeouts; // the asker waits for three quarters of the lease
  ask(self, state.graph_manager, std::min(t.cancel, t.lease / 2), ResumeSession{{why}})
      .then([=](caf::ok_atom) mutable { ended(); },
            [=](caf::error&) mutable { ended(); }); // as long as cancelled steps are waited for
  return promise;
}

std::optional<MasterWire> master_wire(const std::optional<Wire>& wire) {
  return wire ? std::optional(MasterWire{wire->name(), wire->state}) : std::nullopt;
}

void end_of_lease(Self self, std::string_view why) {
  log_warning("session ", self->state.handle, " ends: its master ", why);
  self->quit(caf::exit_reason::user_shutdown);
}

// A handle says nothing of its actor's end when that became known while the connection to it was
// being replaced. A question to the actor is answered in any case.
void ask_master(Self self, const Parts& parts) {
  auto master = caf::actor_cast<caf::strong_actor_ptr>(self->state.master);
  if (!master)
    return end_of_lease(self, "session has ended");
  ask(self, typed<MasterSessionActor>(master), parts.services->timeouts.request,
      ConfirmLease{parts.services->task})
      .then([=](caf::ok_atom) { self->state.lease.renewed(now_us(self)); },
            [=](caf::error& error) {
              if (error != caf::sec::request_timeout) // a long message is before it
                end_of_lease(self, str_cat("session has no part here: ", error_text(error)));
            });
}

// A master that is not heard of for its lease has ended or is cut off; what it left here goes.
void check_lease(Self self, const Parts& parts) {
  auto& state = self->state;
  if (!state.lease.is_doubtful(now_us(self)))
    return;
  ask_wire(self, parts.services, state.master ? state.master.node() : caf::node_id{},
           [=](const std::optional<Wire>& wire) {
             auto& lease = self->state.lease;
             switch (lease.judge(master_wire(wire), now_us(self))) {
             case MasterLease::Verdict::runs:
               return;
             case MasterLease::Verdict::ask:
               return ask_master(self, parts);
             case MasterLease::Verdict::over:
               end_of_lease(self, str_cat("has not been heard of for ",
                                          lease.silent_us(now_us(self)) / 1000, " ms"));
             }
           });
}

void renew_lease(Self self, const Parts& parts) {
  auto& state = self->state;
  state.lease.renewed(now_us(self));
  auto sender = self->current_sender();
  if (!sender || state.master == sender)
    return;
  state.master = sender->address();
  self->monitor(caf::actor_cast<caf::actor>(sender));
  ask_wire(self, parts.services, sender->node(), [self](const std::optional<Wire>& wire) {
    self->state.lease.came_over(master_wire(wire));
  });
}

void sweep(Self self, const Parts& parts) {
  auto& state = self->state;
  check_lease(self, parts);
  const std::int64_t now = now_us(self);
  const auto orphan = std::chrono::microseconds(parts.services->timeouts.unclaimed());
  auto is_arriving = [&](std::uint64_t step_id) { return state.arriving.count(step_id) > 0; };
  for (std::uint64_t step_id : state.mailboxes.orphans(now - orphan.count(), is_arriving))
    drop_mailbox(self, step_id);
  ask_for_late_edges(self, now - parts.sweep_every.count());
  self->delayed_send(self, until_next_round(self, parts.sweep_every), CheckLeases{});
}

void cancel_step(Self self, const CancelStep& m) {
  Status why = reason_of(m.status);
  end_arrival(self, m.step_id, why);
  self->send(self->state.graph_manager, CancelStep{m.step_id, {why}});
  if (auto* box = self->state.mailboxes.find(m.step_id))
    self->send(box->rendezvous, AbortStep{{why}});
  if (self->state.remote_edges)
    self->state.remote_edges->end_step(m.step_id);
}

void peer_lost(Self self, const PeerLost& m) {
  self->state.peers.lost(m.task);
  for (const auto& [step_id, box] : self->state.mailboxes)
    self->send(box.rendezvous, m);
}

auto list_actors(Self self) {
  auto& state = self->state;
  Children children;
  children.add("graph-manager", state.graph_manager);
  for (const auto& [step_id, box] : state.mailboxes)
    children.add(str_cat("rendezvous-", step_id), box.rendezvous);
  for (std::size_t i = 0; i < state.mailboxes.resting().size(); ++i)
    children.add(str_cat("resting-rendezvous.", i), state.mailboxes.resting()[i]);
  return describe_tree(
      self, str_cat(state.graphs.size(), " graphs, ", state.mailboxes.size(), " rendezvous"),
      children);
}

// Someone that is watched has ended: the master session, another task's session, or a rendezvous.
void watched_ended(Self self, const Parts& parts, const caf::down_msg& down) {
  auto& state = self->state;
  // A master session that is lost will not renew our lease, whatever else comes from its node.
  if (state.master == down.source)
    state.master = nullptr;
  else if (down.source.node() != self->node())
    state.peers.receiver_ended(
        [&](const WorkerSessionActor& known) { return known->address() == down.source; });
  else
    rendezvous_lost(self, parts, down);
}

void begin(Self self, const Parts& parts, const CreateWorkerSession& request,
           std::shared_ptr<Collectives> collectives) {
  auto& state = self->state;
  state.handle = request.session_handle;
  state.lease = MasterLease(request.lease_us, now_us(self));
  state.remote_edges = request.remote_edges;
  state.graph_manager = self->spawn<caf::linked>(graph_manager, parts.services, request.isolate,
                                                 parts.transport, std::move(collectives));
  // A graph manager that crashes takes the session along; an ordered end takes the children along.
  self->set_exit_handler([self](caf::exit_msg& exit) {
    for (std::uint64_t step_id : self->state.mailboxes.steps())
      drop_mailbox(self, step_id);
    self->quit(exit.reason); // the state's end stops the others
  });
  self->set_down_handler([=](caf::down_msg& down) { watched_ended(self, parts, down); });
  if (parts.services->network->reaches_others())
    self->delayed_send(self, until_next_round(self, parts.sweep_every), CheckLeases{});
}

} // namespace

WorkerSessionActor::behavior_type worker_session(Self self, Services services,
                                                 CreateWorkerSession request,
                                                 MembershipActor membership,
                                                 TransportActor transport,
                                                 std::shared_ptr<Collectives> collectives) {
  guard_actor(self);
  const auto orphan = std::chrono::microseconds(services->timeouts.unclaimed());
  const Parts parts{services, membership, transport,
                    request.lease_us > 0 ? std::chrono::microseconds(request.lease_us / 4)
                                         : orphan / 4};
  begin(self, parts, request, std::move(collectives));
  // Those of each step come first: CAF tries them in this order.
  return {
      [=](RunGraph& m) {
        clean_up(self, m.ended);
        return run_graph(self, parts, m);
      },
      [=](EdgesArrived& m) { edges_arrived(self, parts, m); },
      [=](GraphPiece& m) { self->state.pieces.add(std::move(m.bytes)); },
      [=](RegisterGraph& m) { return register_graph(self, parts, m); },
      [=](const DeregisterGraph& m) {
        self->state.graphs.erase(m.graph_handle);
        return self->delegate(self->state.graph_manager, m);
      },
      [=](const CancelStep& m) { cancel_step(self, m); },
      [=](const CleanupStep& m) { clean_up(self, m.step_ids); },
      [=](const ExplainPart& m) { return explain_part(self, services, m.step_id); },
      [=](ReceiveTensors& m) { return receive_tensors(self, parts, m); },
      [=](EdgesLost& m) { edges_lost(self, parts, m); },
      [=](PutEdge& m) { client_edge(self, parts, m); },
      [=](TakeEdge& m) { client_edge(self, parts, m); },
      [=](const FindPeerSession& m) { return find_peer(self, parts, m.task); },
      [=](WantEdges& m) { return want_edges(self, parts, m); },
      [=](const Drain& m) { return drain(self, parts, m); },
      [=](const PeerLost& m) { peer_lost(self, m); },
      [=](const ResumeSession& m) { return resume(self, parts, reason_of(m.why)); },
      [=](const RenewLease&) { renew_lease(self, parts); },
      [=](const GetActors&) { return list_actors(self); },
      [=](CheckLeases) { sweep(self, parts); },
  };
}

} // namespace troupe
