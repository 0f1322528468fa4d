#include "actors/rendezvous/rendezvous.hpp"

#include "actors/transport/transport.hpp"
#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using Self = RendezvousActor::stateful_pointer<RendezvousState>;
using Setup = std::shared_ptr<const RendezvousSetup>;

/// Keys that an explanation names.
constexpr std::size_t max_described = 1000;

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
  if (waiter.kernel)
    answer_kernel(self, waiter, key, why, {}, {});
  else if (waiter.peer)
    caf::anon_send(typed<RendezvousActor>(waiter.peer), EdgeArrived{key, {}, false, {why}});
}

void hand_over(Self self, const Setup& setup, EdgeWaiter& waiter, const std::string& key,
               EdgeValue value) {
  if (waiter.kernel)
    return answer_kernel(self, waiter, key, Status{}, std::move(value),
                         std::exchange(self->state.transfer, {}));
  EdgeArrived arrived;
  arrived.key = key;
  arrived.is_dead = value.is_dead;
  arrived.tensor =
      to_wire(std::move(value.tensor), self->node(), waiter.peer, untyped(setup->transport));
  if (arrived.tensor.is_ticket()) {
    self->state.transport = setup->transport;
    self->state.offered.push_back(arrived.tensor.ticket->id);
  }
  self->send(typed<RendezvousActor>(waiter.peer), std::move(arrived));
}

void put(Self self, const Setup& setup, const std::string& key, EdgeValue value) {
  if (auto served = self->state.edges.put(key, std::move(value)))
    hand_over(self, setup, served->first, key, std::move(served->second));
}

// A value of another node; `transfer` says how it came, for the kernel that waits for it.
void put_arrived(Self self, const Setup& setup, const std::string& key, EdgeValue value,
                 std::string transfer) {
  self->state.transfer = std::move(transfer);
  put(self, setup, key, std::move(value));
  self->state.transfer.clear();
}

void abort_all(Self self, const Status& why) {
  for (auto& [key, waiter] : self->state.edges.abort(why))
    refuse(self, waiter, key, why);
}

// Takes a value, or waits for it.
void take(Self self, const Setup& setup, const std::string& key, EdgeWaiter waiter) {
  auto& edges = self->state.edges;
  if (!edges.status().ok())
    return refuse(self, waiter, key, edges.status());
  EdgeWaiter kept = waiter;
  if (auto value = edges.take(key, std::move(kept)))
    hand_over(self, setup, waiter, key, *std::move(value));
}

// A kernel of ours wants what another task sends: asked for with everything else that the kernels
// that are running now want from there.
void take_for_kernel(Self self, const Setup& setup, TakeEdge& m) {
  auto& state = self->state;
  auto parsed = parse_rendezvous_key(m.key);
  EdgeWaiter waiter{m.done, m.owner, nullptr};
  if (!parsed.ok())
    return refuse(self, waiter, m.key, parsed.status());
  std::string sender = task_of_device(parsed->src_device);
  take(self, setup, m.key, std::move(waiter));
  if (sender == setup->services->task || !state.edges.status().ok())
    return;
  state.wishes[sender].push_back(m.key);
  if (!std::exchange(state.flush_posted, true))
    self->send(self, Continue{}); // behind the receives that wait in the mailbox already
}

Status unreachable(const std::string& task, const caf::error& error, std::string_view what) {
  return to_status(error, str_cat(what, " ", task)).with_origin({"", "", task, 0});
}

void ask_peer(Self self, const Setup& setup, const std::string& task,
              std::vector<std::string> keys) {
  auto give_up = [=](const Status& why) {
    for (const std::string& key : keys)
      for (EdgeWaiter& waiter : self->state.edges.give_up(key))
        refuse(self, waiter, key, why);
  };
  const Timeouts& t = setup->services->timeouts;
  caf::strong_actor_ptr own = caf::actor_cast<caf::strong_actor_ptr>(self);
  ask(self, setup->session, t.dial + 3 * t.request, FindPeerSession{task})
      .then(
          [=](const WorkerSessionCreated& found) {
            ask_watched(self, typed<WorkerSessionActor>(found.session),
                        setup->services->timeouts.request,
                        ReceiveTensors{setup->step_id, keys, own})
                .then([](caf::ok_atom) {},
                      [=](caf::error& e) { give_up(unreachable(task, e, "RecvTensor from")); });
          },
          [=](caf::error& e) { give_up(unreachable(task, e, "finding the session on")); });
}

void arrived(Self self, const Setup& setup, EdgeArrived& m) {
  if (!m.status.status.ok()) {
    for (EdgeWaiter& waiter : self->state.edges.give_up(m.key))
      refuse(self, waiter, m.key, m.status.status);
    return;
  }
  if (!m.tensor.is_ticket())
    return put_arrived(self, setup, m.key, EdgeValue{std::move(m.tensor.tensor), m.is_dead},
                       "inside the message");
  ask(self, setup->transport, setup->services->timeouts.step, FetchTensor{std::move(m.tensor)})
      .then(
          [=, key = m.key, is_dead = m.is_dead](FetchedTensor& fetched) {
            put_arrived(self, setup, key, EdgeValue{std::move(fetched.tensor), is_dead},
                        to_string(fetched.transfer));
          },
          [=, key = m.key](caf::error& error) {
            Status why = to_status(error, "fetching a tensor");
            if (auto parsed = parse_rendezvous_key(key); parsed.ok())
              why = why.with_context(str_cat("a value of ", task_of_device(parsed->src_device)));
            for (EdgeWaiter& waiter : self->state.edges.give_up(key))
              refuse(self, waiter, key, why);
          });
}

} // namespace

RendezvousState::~RendezvousState() {
  withdraw(untyped(transport), offered); // what a peer did not come for, nobody will
  Status ended = aborted(str_cat("the rendezvous of ", whose, " was ended before the step"));
  for (auto& [key, waiter] : edges.abort(ended))
    refuse(nullptr, waiter, key, edges.status());
}

RendezvousActor::behavior_type rendezvous(Self self, RendezvousSetup plain_setup) {
  keep_exception_text(self);
  auto setup = std::make_shared<const RendezvousSetup>(std::move(plain_setup));
  self->state.whose = str_cat("step ", setup->step_id, " on ", setup->services->task);
  return {
      [=](PutEdge& m) {
        put(self, setup, m.key, EdgeValue{std::move(m.tensor), m.is_dead});
      },
      [=](TakeEdge& m) { take_for_kernel(self, setup, m); },
      [=](ReceiveTensors& m) {
        for (const std::string& key : m.keys)
          take(self, setup, key, EdgeWaiter{nullptr, {}, m.receiver});
        return caf::ok_atom::value;
      },
      [=](EdgeArrived& m) { arrived(self, setup, m); },
      [=](const ExplainPart&) {
        EdgeRecords out;
        self->state.edges.describe(
            max_described, [&](const std::string& key, const EdgeWaiter* waiter) {
              using State = EdgeRecord::State;
              out.edges.push_back({key, !waiter          ? State::lies_here
                                        : waiter->kernel ? State::wanted_here
                                                         : State::wanted_by_peer});
            });
        return out;
      },
      [=](const AbortStep& m) { abort_all(self, m.status.status); },
      [=](const GetActors&) {
        return describe_tree(self,
                             str_cat(self->state.edges.num_values(), " values, ",
                                     self->state.edges.num_waiting(), " waited for"),
                             Children{});
      },
      [=](Continue) {
        self->state.flush_posted = false;
        for (auto wishes = std::move(self->state.wishes); auto& [task, keys] : wishes)
          ask_peer(self, setup, task, std::move(keys));
        self->state.wishes.clear();
      },
      [=](const PeerLost& m) {
        for (const std::string& key : self->state.edges.waiting_keys()) {
          auto parsed = parse_rendezvous_key(key);
          if (parsed.ok() && task_of_device(parsed->src_device) == m.task)
            for (EdgeWaiter& waiter : self->state.edges.give_up(key))
              refuse(self, waiter, key,
                     unavailable(m.sentence).with_origin({"", "", m.task, setup->step_id}));
        }
      },
  };
}

} // namespace troupe
