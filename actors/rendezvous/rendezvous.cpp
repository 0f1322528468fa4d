#include "actors/rendezvous/rendezvous.hpp"

#include <algorithm>

#include "actors/transport/transport.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using Self = RendezvousActor::stateful_pointer<RendezvousState>;

/// Keys that an explanation names.
constexpr std::size_t max_described = 1000;

/// Values that wait for the flush are sent at once when they are more than this, so that no message
/// of many small ones gets large.
constexpr std::size_t max_outbox_bytes = 64 << 10;

constexpr const char* inside_message = "inside the message"; // how a small value came, for people

// To a kernel of ours, by way of its executor; `self` is null when the rendezvous itself is gone.
void answer_kernel(RendezvousActor::pointer self, EdgeWaiter& waiter, const std::string& key,
                   Status status, EdgeValue value, std::string transfer) {
  auto owner = caf::actor_cast<caf::strong_actor_ptr>(waiter.owner);
  if (!owner)
    return; // its executor has ended; the receive ends with its last reference
  EdgeTaken taken{
      std::move(waiter.kernel), std::move(status), std::move(value.tensor), value.is_dead, key,
      std::move(transfer)};
  if (self)
    self->send(typed<ExecutorActor>(owner), std::move(taken));
  else
    caf::anon_send(typed<ExecutorActor>(owner), std::move(taken));
}

void refuse(RendezvousActor::pointer self, EdgeWaiter& waiter, const std::string& key,
            const Status& why) {
  answer_kernel(self, waiter, key, why, {}, {});
}

Status has_ended(const RendezvousSetup& setup, std::uint64_t step_id) {
  return aborted(str_cat("step ", step_id, " has ended on ", setup.services->task)).as_derived();
}

// The step that a message means, if it is the one that we serve.
RendezvousStep* current(Self self, std::uint64_t step_id) {
  auto& step = self->state.step;
  return step && step->step_id == step_id ? &*step : nullptr;
}

void give_up(Self self, RendezvousStep& step, const std::string& key, const Status& why) {
  for (EdgeWaiter& waiter : step.edges.give_up(key))
    refuse(self, waiter, key, why);
}

// Behind the sends and receives that wait in the mailbox already.
void post_flush(Self self) {
  if (!std::exchange(self->state.flush_posted, true))
    self->send(self, FlushEdges{});
}

void flush_outbox(RendezvousStep& step) {
  step.outbox_bytes = 0;
  // Nobody's: a sender that is not known there would cost a proxy, and two messages.
  for (auto outbox = std::exchange(step.outbox, {}); auto& [receiver, edges] : outbox)
    caf::anon_send(receiver, std::move(edges));
}

void send_to_peer(Self self, RendezvousStep& step, const WorkerSessionActor& receiver,
                  const std::string& key, EdgeValue value) {
  const RendezvousSetup& setup = *self->state.setup;
  step.sent.insert(key);
  WireEdge edge{
      key,
      to_wire(std::move(value.tensor), setup.services, self->node(), receiver, setup.transport),
      value.is_dead};
  if (edge.tensor.is_ticket())
    step.offered.push_back(edge.tensor.ticket->id);
  else if (edge.tensor.tensor.has_value())
    step.outbox_bytes += edge.tensor.tensor.byte_size();
  auto to = std::find_if(step.outbox.begin(), step.outbox.end(),
                         [&](const auto& message) { return message.first == receiver; });
  if (to == step.outbox.end())
    to = step.outbox.insert(to, {receiver, EdgesArrived{step.step_id, {}}});
  to->second.edges.push_back(std::move(edge));
  if (step.outbox_bytes > max_outbox_bytes)
    flush_outbox(step);
  else
    post_flush(self);
}

// The peer that receives a value for which no kernel here waits; null if the value is kept.
WorkerSessionActor receiver_of(Self self, const RendezvousStep& step, const std::string& key) {
  const auto& known = step.peers->receivers;
  if (known.empty() && step.receivers.empty())
    return {};
  auto ends = self->state.tasks.of(key);
  if (!ends.ok())
    return {};
  if (auto it = step.receivers.find((*ends)->target); it != step.receivers.end())
    return it->second;
  auto it = known.find((*ends)->target);
  return it == known.end() ? WorkerSessionActor{} : it->second;
}

void begin(Self self, RendezvousStep& step);

// A kernel's value.
void put(Self self, RendezvousStep& step, PutEdge& m) {
  EdgeValue value{std::move(m.tensor), m.is_dead};
  if (!step.edges.status().ok())
    return;
  begin(self, step);
  if (!step.edges.is_wanted(m.key))
    if (auto receiver = receiver_of(self, step, m.key))
      return send_to_peer(self, step, receiver, m.key, std::move(value));
  if (auto served = step.edges.put(m.key, std::move(value)))
    answer_kernel(self, served->first, m.key, Status{}, std::move(served->second), {});
}

// A value of another node; `transfer` says how it came, for the kernel that waits for it.
void put_arrived(Self self, RendezvousStep& step, const std::string& key, EdgeValue value,
                 std::string transfer) {
  if (auto served = step.edges.put(key, std::move(value)))
    answer_kernel(self, served->first, key, Status{}, std::move(served->second),
                  std::move(transfer));
  else if (transfer != inside_message)
    step.transfers[key] = std::move(transfer);
}

std::string came_by(RendezvousStep& step, const std::string& key) {
  auto transfer = step.transfers.extract(key);
  return transfer.empty() ? inside_message : std::move(transfer.mapped());
}

void pull_failed(Self self, RendezvousStep& step, const std::string& key, Status why) {
  why = why.with_context(str_cat("a value of ", self->state.tasks.source(key)));
  give_up(self, step, key, why);
  step.failed.emplace(key, std::move(why)); // for whoever wants it later
}

// A connection is gone with a value. Membership is about to say why its task is lost, in better
// words; should it not, these are told.
void await_verdict(Self self, const RendezvousStep& step, const std::string& key,
                   const Status& why) {
  std::string task(self->state.tasks.source(key));
  Status told = why.with_context(str_cat("a value of ", task));
  self->delayed_send(self, self->state.setup->services->timeouts.explain,
                     EdgesLost{step.step_id, std::move(task), {std::move(told)}});
}

void pull(Self self, RendezvousStep& step, WireEdge edge) {
  const RendezvousSetup& setup = *self->state.setup;
  if (auto placed = claim_placed(setup.services, edge.tensor)) {
    if (!placed->ok())
      return pull_failed(self, step, edge.key, placed->status());
    return put_arrived(self, step, edge.key, EdgeValue{std::move((*placed)->tensor), edge.is_dead},
                       to_string((*placed)->transfer));
  }
  step.pulled.insert(edge.key);
  ask(self, setup.transport, setup.services->timeouts.step, FetchTensor{std::move(edge.tensor)})
      .then(
          [=, id = step.step_id, key = edge.key, is_dead = edge.is_dead](FetchedTensor& fetched) {
            auto* step = current(self, id);
            if (!step)
              return;
            step->pulled.erase(key);
            put_arrived(self, *step, key, EdgeValue{std::move(fetched.tensor), is_dead},
                        to_string(fetched.transfer));
          },
          [=, id = step.step_id, key = edge.key](caf::error& error) {
            auto* step = current(self, id);
            if (!step)
              return;
            step->pulled.erase(key);
            Status why = to_status(error, "fetching a tensor");
            if (why.code() == Code::unavailable && why.derived())
              return await_verdict(self, *step, key, why);
            pull_failed(self, *step, key, std::move(why));
          });
}

// Large values stay where they are until the step begins here: one that never does takes no memory
// for them.
void begin(Self self, RendezvousStep& step) {
  if (std::exchange(step.begun, true))
    return;
  for (WireEdge& edge : std::exchange(step.offers, {}))
    pull(self, step, std::move(edge));
}

void arrived(Self self, RendezvousStep& step, EdgesArrived& m) {
  if (!step.edges.status().ok())
    return;
  for (WireEdge& edge : m.edges)
    if (!edge.tensor.is_ticket())
      put_arrived(self, step, edge.key, EdgeValue{std::move(edge.tensor.tensor), edge.is_dead},
                  inside_message);
    else if (step.begun)
      pull(self, step, std::move(edge));
    else
      step.offers.push_back(std::move(edge));
}

void wish(Self self, RendezvousStep& step, const std::string& sender, const std::string& key) {
  if (!step.asked.insert(key).second)
    return;
  step.wishes[sender].push_back(key);
  post_flush(self);
}

// A kernel of ours wants what another device sends. If that is another task's and it does not send
// unasked, it is asked, with everything else that the kernels that run now want from there.
void take_for_kernel(Self self, RendezvousStep& step, TakeEdge& m) {
  EdgeWaiter waiter{m.receive, m.owner};
  auto ends = self->state.tasks.of(m.key);
  if (!ends.ok())
    return refuse(self, waiter, m.key, ends.status());
  if (!step.edges.status().ok())
    return refuse(self, waiter, m.key, step.edges.status());
  begin(self, step);
  const std::string& sender = (*ends)->source;
  bool is_remote = sender != self->state.setup->services->task;
  EdgeWaiter kept = waiter;
  if (auto value = step.edges.take(m.key, std::move(kept)))
    return answer_kernel(self, waiter, m.key, Status{}, *std::move(value),
                         is_remote ? came_by(step, m.key) : "");
  if (!is_remote)
    return;
  if (step.pulled.count(m.key))
    return;
  if (auto failed = step.failed.find(m.key); failed != step.failed.end())
    return give_up(self, step, m.key, failed->second);
  if (auto gone = step.gone.find(sender); gone != step.gone.end())
    return give_up(self, step, m.key, gone->second);
  if (!step.peers->senders.count(sender) || step.lost.count(sender))
    wish(self, step, sender, m.key);
}

// What a peer says that it has sent has arrived before its answer, or was lost with a connection.
void ask_peer(Self self, std::uint64_t step_id, const std::string& task,
              const std::vector<std::string>& keys) {
  const RendezvousSetup& setup = *self->state.setup;
  const Timeouts& t = setup.services->timeouts;
  ask(self, setup.session, t.dial + 4 * t.request, WantEdges{step_id, task, keys})
      .then(
          [=](const EdgesSent& m) {
            if (auto* step = current(self, step_id))
              for (const std::string& key : m.keys)
                if (!step->pulled.count(key))
                  give_up(self, *step, key,
                          aborted(str_cat("a value of ", task,
                                          " was lost with the connection to it; run the step "
                                          "again"))
                              .with_origin({"", "", task, step_id}));
          },
          [=](caf::error& e) {
            Status why = to_status(e, str_cat("RecvTensor from ", task))
                             .with_origin({"", "", task, step_id});
            if (auto* step = current(self, step_id))
              for (const std::string& key : keys)
                give_up(self, *step, key, why);
          });
}

void flush(Self self, RendezvousStep& step) {
  flush_outbox(step);
  for (auto wishes = std::exchange(step.wishes, {}); auto& [task, keys] : wishes) {
    std::erase_if(keys, [&](const std::string& key) { return !step.edges.is_wanted(key); });
    if (!keys.empty())
      ask_peer(self, step.step_id, task, keys);
  }
}

// A peer's wish: whatever its task receives here is sent to it from now on.
caf::result<EdgesSent> receive(Self self, const ReceiveTensors& m) {
  auto* step = current(self, m.step_id);
  if (!step)
    return to_error(has_ended(*self->state.setup, m.step_id));
  if (!step->edges.status().ok())
    return to_error(step->edges.status());
  if (!m.receiver || m.task.empty())
    return to_error(invalid_argument("ReceiveTensors names nobody to send the values to"));
  EdgesSent out;
  for (const std::string& key : m.keys)
    if (step->sent.count(key))
      out.keys.push_back(key);
  step->receivers[m.task] = m.receiver;
  auto is_for_it = [&](const std::string& key) {
    auto ends = self->state.tasks.of(key);
    return ends.ok() && (*ends)->target == m.task;
  };
  for (auto& [key, value] : step->edges.take_if(is_for_it))
    send_to_peer(self, *step, m.receiver, key, std::move(value));
  flush_outbox(*step); // what is sent goes in front of the answer that says so
  return out;
}

// What is waited for without having been asked for is asked for now: should the peer not know us
// any more, for whatever reason, the step goes on, or ends with a reason. What is offered is pulled
// even if our part still waits for its feeds, since no peer offers for ever.
void ask_for_late_ones(Self self, RendezvousStep& step) {
  begin(self, step);
  for (const std::string& key : step.edges.waiting_keys())
    if (std::string sender(self->state.tasks.source(key));
        !sender.empty() && sender != self->state.setup->services->task && !step.pulled.count(key))
      wish(self, step, sender, key);
}

void peer_lost(Self self, RendezvousStep& step, const PeerLost& m) {
  step.lost.insert(m.task);
  std::erase_if(step.offers,
                [&](const WireEdge& edge) { return self->state.tasks.source(edge.key) == m.task; });
  Status why = unavailable(m.sentence).with_origin({"", "", m.task, step.step_id});
  for (const std::string& key : step.edges.waiting_keys())
    if (self->state.tasks.source(key) == m.task)
      give_up(self, step, key, why);
}

void edges_lost(Self self, RendezvousStep& step, const EdgesLost& m) {
  step.gone[m.task] = m.status.status;
  for (const std::string& key : step.edges.waiting_keys())
    if (self->state.tasks.source(key) == m.task && !step.pulled.count(key))
      give_up(self, step, key, m.status.status);
}

void abort_all(RendezvousActor::pointer self, RendezvousStep& step, const Status& why) {
  for (auto& [key, waiter] : step.edges.abort(why))
    refuse(self, waiter, key, why);
  step.offers.clear();
  step.outbox.clear();
}

void end_exchange(Self self) {
  auto& state = self->state;
  if (!state.step)
    return;
  abort_all(self, *state.step, aborted(str_cat("Cleanup ", state.step->step_id)).as_derived());
  const RendezvousSetup& setup = *state.setup;
  withdraw(setup.services, setup.transport, state.step->offered); // nobody will come
  state.step.reset();
}

EdgeRecords explain(const RendezvousStep* step) {
  EdgeRecords out;
  if (step)
    step->edges.describe(max_described, [&](const std::string& key, const EdgeWaiter* waiter) {
      using State = EdgeRecord::State;
      out.edges.push_back({key, waiter ? State::wanted_here : State::lies_here});
    });
  return out;
}

} // namespace

RendezvousState::~RendezvousState() {
  if (!step)
    return;
  // What a peer did not come for, nobody will.
  withdraw(setup->services, setup->transport, step->offered);
  Status ended = aborted(str_cat("the rendezvous of ", step->whose, " was ended before the step"));
  if (step->edges.status().ok()) { // values that peers wait for are lost with it
    auto peers = step->peers->receivers;
    for (auto& [task, receiver] : step->receivers)
      peers[task] = receiver;
    EdgesLost lost{step->step_id, setup->services->task, {ended}};
    for (const auto& [task, receiver] : peers)
      caf::anon_send(receiver, lost);
  }
  abort_all(nullptr, *step, ended);
}

RendezvousActor::behavior_type rendezvous(Self self, RendezvousSetup setup) {
  guard_actor(self);
  self->state.setup = std::make_shared<const RendezvousSetup>(std::move(setup));
  auto& step = self->state.step; // lives as long as the behavior
  return {
      [=, &step](BeginExchange& m) {
        RendezvousStep& begun = step.emplace();
        begun.step_id = m.step_id;
        begun.peers = std::move(m.peers);
        begun.whose = str_cat("step ", m.step_id, " on ", self->state.setup->services->task);
      },
      [=](const EndExchange&) { end_exchange(self); },
      [=](PutEdge& m) {
        if (auto* step = current(self, m.step_id))
          put(self, *step, m);
      },
      [=](TakeEdge& m) {
        if (auto* step = current(self, m.step_id))
          return take_for_kernel(self, *step, m);
        EdgeWaiter waiter{std::move(m.receive), m.owner};
        refuse(self, waiter, m.key, has_ended(*self->state.setup, m.step_id));
      },
      [=](const ReceiveTensors& m) { return receive(self, m); },
      [=](EdgesArrived& m) {
        if (auto* step = current(self, m.step_id))
          arrived(self, *step, m);
      },
      [=](const EdgesLost& m) {
        if (auto* step = current(self, m.step_id))
          edges_lost(self, *step, m);
      },
      [=](const ExplainPart& m) { return explain(current(self, m.step_id)); },
      [=, &step](const AbortStep& m) {
        if (step)
          abort_all(self, *step, m.status.status);
      },
      [=, &step](const GetActors&) {
        return describe_tree(self,
                             step ? str_cat(step->edges.num_values(), " values, ",
                                            step->edges.num_waiting(), " waited for")
                                  : "rests",
                             Children{});
      },
      [=, &step](FlushEdges) {
        self->state.flush_posted = false;
        if (step)
          flush(self, *step);
      },
      [=, &step](AskForMissing) {
        if (step)
          ask_for_late_ones(self, *step);
      },
      [=, &step](const PeerLost& m) {
        if (step)
          peer_lost(self, *step, m);
      },
  };
}

} // namespace troupe
