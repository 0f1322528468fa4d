#include "actors/rendezvous/rendezvous.hpp"

#include <algorithm>

#include "actors/transport/transport.hpp"
#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using Self = RendezvousActor::stateful_pointer<RendezvousState>;
using Setup = std::shared_ptr<const RendezvousSetup>;

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
    return; // its step has ended
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

void give_up(Self self, const std::string& key, const Status& why) {
  for (EdgeWaiter& waiter : self->state.edges.give_up(key))
    refuse(self, waiter, key, why);
}

std::string source_task(const std::string& key) {
  auto parsed = parse_rendezvous_key(key);
  return parsed.ok() ? task_of_device(parsed->src_device) : std::string();
}

std::string target_task(const std::string& key) {
  auto parsed = parse_rendezvous_key(key);
  return parsed.ok() ? task_of_device(parsed->dst_device) : std::string();
}

// Behind the sends and receives that wait in the mailbox already.
void post_flush(Self self) {
  if (!std::exchange(self->state.flush_posted, true))
    self->send(self, Continue{});
}

void flush_outbox(Self self) {
  self->state.outbox_bytes = 0;
  // Nobody's: a sender that lives for a step only would cost a proxy there, and two messages.
  for (auto outbox = std::exchange(self->state.outbox, {}); auto& [receiver, edges] : outbox)
    caf::anon_send(typed<WorkerSessionActor>(receiver), std::move(edges));
}

void send_to_peer(Self self, const Setup& setup, const caf::strong_actor_ptr& receiver,
                  const std::string& key, EdgeValue value) {
  auto& state = self->state;
  state.sent.insert(key);
  WireEdge edge{key,
                to_wire(std::move(value.tensor), self->node(), receiver, untyped(setup->transport)),
                value.is_dead};
  if (edge.tensor.is_ticket()) {
    state.transport = setup->transport;
    state.offered.push_back(edge.tensor.ticket->id);
  } else if (edge.tensor.tensor.has_value()) {
    state.outbox_bytes += edge.tensor.tensor.byte_size();
  }
  auto to = std::find_if(state.outbox.begin(), state.outbox.end(),
                         [&](const auto& message) { return message.first == receiver; });
  if (to == state.outbox.end())
    to = state.outbox.insert(to, {receiver, EdgesArrived{setup->step_id, {}}});
  to->second.edges.push_back(std::move(edge));
  if (state.outbox_bytes > max_outbox_bytes)
    flush_outbox(self);
  else
    post_flush(self);
}

// Whom a value goes to that no kernel here waits for; null if it is kept.
caf::strong_actor_ptr receiver_of(const RendezvousState& state, const Setup& setup,
                                  const std::string& key) {
  const auto& known = setup->peers->receivers;
  if (known.empty() && state.receivers.empty())
    return nullptr;
  std::string task = target_task(key);
  if (auto it = state.receivers.find(task); it != state.receivers.end())
    return it->second;
  auto it = known.find(task);
  return it == known.end() ? nullptr : it->second;
}

void begin(Self self, const Setup& setup);

// A kernel's value.
void put(Self self, const Setup& setup, PutEdge& m) {
  auto& state = self->state;
  EdgeValue value{std::move(m.tensor), m.is_dead};
  if (!state.edges.status().ok())
    return;
  begin(self, setup);
  if (!state.edges.is_wanted(m.key))
    if (auto receiver = receiver_of(state, setup, m.key))
      return send_to_peer(self, setup, receiver, m.key, std::move(value));
  if (auto served = state.edges.put(m.key, std::move(value)))
    answer_kernel(self, served->first, m.key, Status{}, std::move(served->second), {});
}

// A value of another node; `transfer` says how it came, for the kernel that waits for it.
void put_arrived(Self self, const std::string& key, EdgeValue value, std::string transfer) {
  if (auto served = self->state.edges.put(key, std::move(value)))
    answer_kernel(self, served->first, key, Status{}, std::move(served->second),
                  std::move(transfer));
  else if (transfer != inside_message)
    self->state.transfers[key] = std::move(transfer);
}

std::string came_by(RendezvousState& state, const std::string& key) {
  auto transfer = state.transfers.extract(key);
  return transfer.empty() ? inside_message : std::move(transfer.mapped());
}

void pull(Self self, const Setup& setup, WireEdge edge) {
  self->state.pulled.insert(edge.key);
  ask(self, setup->transport, setup->services->timeouts.step, FetchTensor{std::move(edge.tensor)})
      .then(
          [=, key = edge.key, is_dead = edge.is_dead](FetchedTensor& fetched) {
            self->state.pulled.erase(key);
            put_arrived(self, key, EdgeValue{std::move(fetched.tensor), is_dead},
                        to_string(fetched.transfer));
          },
          [=, key = edge.key](caf::error& error) {
            self->state.pulled.erase(key);
            Status why = to_status(error, "fetching a tensor")
                             .with_context(str_cat("a value of ", source_task(key)));
            give_up(self, key, why);
            self->state.failed.emplace(key, why); // for whoever wants it later
          });
}

// Large values stay where they are until the step begins here: one that never does takes no memory
// for them.
void begin(Self self, const Setup& setup) {
  auto& state = self->state;
  if (std::exchange(state.begun, true))
    return;
  for (WireEdge& edge : std::exchange(state.offers, {}))
    pull(self, setup, std::move(edge));
}

void arrived(Self self, const Setup& setup, EdgesArrived& m) {
  auto& state = self->state;
  if (!state.edges.status().ok())
    return;
  for (WireEdge& edge : m.edges)
    if (!edge.tensor.is_ticket())
      put_arrived(self, edge.key, EdgeValue{std::move(edge.tensor.tensor), edge.is_dead},
                  inside_message);
    else if (state.begun)
      pull(self, setup, std::move(edge));
    else
      state.offers.push_back(std::move(edge));
}

void wish(Self self, const std::string& sender, const std::string& key) {
  auto& state = self->state;
  if (!state.asked.insert(key).second)
    return;
  state.wishes[sender].push_back(key);
  post_flush(self);
}

// A kernel of ours wants what another device sends. If that is another task's and it does not send
// unasked, it is asked, with everything else that the kernels that run now want from there.
void take_for_kernel(Self self, const Setup& setup, TakeEdge& m) {
  auto& state = self->state;
  EdgeWaiter waiter{m.done, m.owner};
  auto parsed = parse_rendezvous_key(m.key);
  if (!parsed.ok())
    return refuse(self, waiter, m.key, parsed.status());
  if (!state.edges.status().ok())
    return refuse(self, waiter, m.key, state.edges.status());
  begin(self, setup);
  std::string sender = task_of_device(parsed->src_device);
  bool is_remote = sender != setup->services->task;
  EdgeWaiter kept = waiter;
  if (auto value = state.edges.take(m.key, std::move(kept)))
    return answer_kernel(self, waiter, m.key, Status{}, *std::move(value),
                         is_remote ? came_by(state, m.key) : "");
  if (!is_remote)
    return;
  if (state.pulled.count(m.key))
    return;
  if (auto failed = state.failed.find(m.key); failed != state.failed.end())
    return give_up(self, m.key, failed->second);
  if (auto gone = state.gone.find(sender); gone != state.gone.end())
    return give_up(self, m.key, gone->second);
  if (!setup->peers->senders.count(sender) || state.lost.count(sender))
    wish(self, sender, m.key);
}

// What a peer says that it has sent has arrived before its answer, or was lost with a connection.
void ask_peer(Self self, const Setup& setup, const std::string& task,
              const std::vector<std::string>& keys) {
  const Timeouts& t = setup->services->timeouts;
  ask(self, setup->session, t.dial + 4 * t.request, WantEdges{setup->step_id, task, keys})
      .then(
          [=](const EdgesSent& m) {
            for (const std::string& key : m.keys)
              if (!self->state.pulled.count(key))
                give_up(self, key,
                        aborted(str_cat("a value of ", task,
                                        " was lost with the connection to it; run the step again"))
                            .with_origin({"", "", task, setup->step_id}));
          },
          [=](caf::error& e) {
            Status why = to_status(e, str_cat("RecvTensor from ", task))
                             .with_origin({"", "", task, setup->step_id});
            for (const std::string& key : keys)
              give_up(self, key, why);
          });
}

void flush(Self self, const Setup& setup) {
  auto& state = self->state;
  state.flush_posted = false;
  flush_outbox(self);
  for (auto wishes = std::exchange(state.wishes, {}); auto& [task, keys] : wishes) {
    std::erase_if(keys, [&](const std::string& key) { return !state.edges.is_wanted(key); });
    if (!keys.empty())
      ask_peer(self, setup, task, keys);
  }
}

// A peer's wish: whatever its task receives here is sent to it from now on.
caf::result<EdgesSent> receive(Self self, const Setup& setup, const ReceiveTensors& m) {
  auto& state = self->state;
  if (!state.edges.status().ok())
    return to_error(state.edges.status());
  if (!m.receiver || m.task.empty())
    return to_error(invalid_argument("ReceiveTensors names nobody to send the values to"));
  EdgesSent out;
  for (const std::string& key : m.keys)
    if (state.sent.count(key))
      out.keys.push_back(key);
  state.receivers[m.task] = m.receiver;
  for (auto& [key, value] :
       state.edges.take_if([&](const std::string& key) { return target_task(key) == m.task; }))
    send_to_peer(self, setup, m.receiver, key, std::move(value));
  flush_outbox(self); // what is sent goes in front of the answer that says so
  return out;
}

// What is waited for without having been asked for is asked for now: should the peer not know us
// any more, for whatever reason, the step goes on, or ends with a reason. What is offered is pulled
// even if our part still waits for its feeds, since no peer offers for ever.
void ask_for_late_ones(Self self, const Setup& setup) {
  auto& state = self->state;
  begin(self, setup);
  for (const std::string& key : state.edges.waiting_keys())
    if (std::string sender = source_task(key);
        !sender.empty() && sender != setup->services->task && !state.pulled.count(key))
      wish(self, sender, key);
}

void peer_lost(Self self, const Setup& setup, const PeerLost& m) {
  auto& state = self->state;
  state.lost.insert(m.task);
  std::erase_if(state.offers,
                [&](const WireEdge& edge) { return source_task(edge.key) == m.task; });
  Status why = unavailable(m.sentence).with_origin({"", "", m.task, setup->step_id});
  for (const std::string& key : state.edges.waiting_keys())
    if (source_task(key) == m.task)
      give_up(self, key, why);
}

void edges_lost(Self self, const EdgesLost& m) {
  auto& state = self->state;
  state.gone[m.task] = m.status.status;
  for (const std::string& key : state.edges.waiting_keys())
    if (source_task(key) == m.task && !state.pulled.count(key))
      give_up(self, key, m.status.status);
}

void abort_all(Self self, const Status& why) {
  auto& state = self->state;
  for (auto& [key, waiter] : state.edges.abort(why))
    refuse(self, waiter, key, why);
  state.offers.clear();
  state.outbox.clear();
}

EdgeRecords explain(const RendezvousState& state) {
  EdgeRecords out;
  state.edges.describe(max_described, [&](const std::string& key, const EdgeWaiter* waiter) {
    using State = EdgeRecord::State;
    out.edges.push_back({key, waiter ? State::wanted_here : State::lies_here});
  });
  return out;
}

} // namespace

RendezvousState::~RendezvousState() {
  withdraw(untyped(transport), offered); // what a peer did not come for, nobody will
  Status ended = aborted(str_cat("the rendezvous of ", whose, " was ended before the step"));
  if (setup && edges.status().ok()) { // values that peers wait for are lost with it
    auto peers = setup->peers->receivers;
    for (auto& [task, receiver] : receivers)
      peers[task] = receiver;
    EdgesLost lost{setup->step_id, setup->services->task, {ended}};
    for (const auto& [task, receiver] : peers)
      caf::anon_send(typed<WorkerSessionActor>(receiver), lost);
  }
  for (auto& [key, waiter] : edges.abort(ended))
    refuse(nullptr, waiter, key, edges.status());
}

RendezvousActor::behavior_type rendezvous(Self self, RendezvousSetup plain_setup) {
  keep_exception_text(self);
  auto setup = std::make_shared<const RendezvousSetup>(std::move(plain_setup));
  self->state.setup = setup;
  self->state.whose = str_cat("step ", setup->step_id, " on ", setup->services->task);
  return {
      [=](PutEdge& m) { put(self, setup, m); },
      [=](TakeEdge& m) { take_for_kernel(self, setup, m); },
      [=](const ReceiveTensors& m) { return receive(self, setup, m); },
      [=](EdgesArrived& m) { arrived(self, setup, m); },
      [=](const EdgesLost& m) { edges_lost(self, m); },
      [=](const ExplainPart&) { return explain(self->state); },
      [=](const AbortStep& m) { abort_all(self, m.status.status); },
      [=](const GetActors&) {
        return describe_tree(self,
                             str_cat(self->state.edges.num_values(), " values, ",
                                     self->state.edges.num_waiting(), " waited for"),
                             Children{});
      },
      [=](Continue) { flush(self, setup); },
      [=](caf::tick_atom) { ask_for_late_ones(self, setup); },
      [=](const PeerLost& m) { peer_lost(self, setup, m); },
  };
}

} // namespace troupe
