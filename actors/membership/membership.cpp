#include "actors/membership/membership.hpp"

#include <algorithm>

#include <caf/actor_proxy.hpp>
#include <caf/stateful_actor.hpp>

#include "actors/family/dialer.hpp"
#include "actors/family/wire.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

namespace {

using Self = MembershipActor::stateful_pointer<MembershipState>;

/// Of a heartbeat: as long a peer that is given up has to take in that it is.
constexpr int part_for_farewell = 5;

void answer(Self self, const std::string& task, const Result<Peer>& peer) {
  auto waiting = self->state.dialling.extract(task);
  if (waiting.empty())
    return;
  counter("dials").add(-1);
  for (auto& promise : waiting.mapped().waiters)
    if (peer.ok())
      promise.deliver(*peer);
    else
      promise.deliver(to_error(peer.status()));
}

// One that was lost is told of by how it was lost.
void answer_unreached(Self self, const std::string& task, const Status& why) {
  auto verdict = self->state.verdicts.find(task);
  if (verdict == self->state.verdicts.end() || why.code() != Code::unavailable)
    return answer(self, task, why);
  answer(self, task,
         unavailable(str_cat(verdict->second.sentence, " (dialled again: ", why.message(), ")"))
             .with_origin({"", "", task, 0}));
}

// Of another node: that the connection to it is gone.
bool has_ended(const TreeActor& actor) {
  return actor && actor->getf(caf::abstract_actor::is_cleaned_up_flag);
}

std::string address_text(const Services& services, const std::string& task) {
  auto address = services->cluster.address_of(task);
  return address.ok() ? address->to_string() : "?";
}

MembershipState::Losses& losses_of(Self self, const std::string& task, std::uint64_t incarnation) {
  auto& losses = self->state.losses[task];
  if (losses.incarnation != incarnation)
    losses = {incarnation, 0, losses.dials, false, 0};
  return losses;
}

void count_loss(Self self, const std::string& task, std::uint64_t incarnation, LossReason reason,
                std::int64_t silent_us) {
  auto& losses = losses_of(self, task, incarnation);
  ++losses.count;
  const bool was_silent = reason == LossReason::frozen || reason == LossReason::cut_off;
  losses.silent_us = was_silent ? silent_us : 0;
}

// Who waits for an answer of a lost peer is told now. When another connection has taken the place
// of the one that carried the requests, nothing else would tell. The peer's membership is left
// alone: it goes on talking to us.
void end_handles(Self self, const Peer& peer) {
  for (const TreeActor& actor :
       {TreeActor(peer.worker), TreeActor(peer.master), TreeActor(peer.transport)})
    if (actor && actor->node() != self->node() && !has_ended(actor))
      static_cast<caf::actor_proxy*>(caf::actor_cast<caf::abstract_actor*>(actor))
          ->kill_proxy(self->context(), caf::exit_reason::remote_link_unreachable);
}

void tell_loss(Self self, const Services& services, const std::string& task, LossReason reason,
               std::int64_t silent_us) {
  auto& state = self->state;
  auto it = state.peers.find(task);
  if (it == state.peers.end())
    return;
  PeerLost lost{
      task, it->second.incarnation, reason,
      loss_sentence(task, address_text(services, task), reason, silent_us, services->task)};
  count_loss(self, task, lost.incarnation, reason, silent_us);
  Peer peer = std::move(it->second);
  state.peers.erase(it);
  state.leases.lost(task);
  state.listeners.erase(task);
  state.cut.erase(task);
  state.verdicts[task] = lost;
  std::erase_if(state.guardians, [&](auto& entry) { return entry.second == task; });
  log_warning(lost.sentence);
  auto watchers = state.watchers.extract(task);
  if (!watchers.empty())
    for (const caf::actor_addr& address : watchers.mapped())
      if (auto watcher = caf::actor_cast<caf::strong_actor_ptr>(address))
        caf::anon_send(caf::actor_cast<caf::actor>(watcher), lost);
  end_handles(self, peer); // after the watchers, whose words are better
}

Heartbeat heartbeat(Self self, const Services& services, const std::string& task) {
  auto known = self->state.losses.find(task);
  const auto losses = known == self->state.losses.end() ? MembershipState::Losses{} : known->second;
  return {services->task,
          services->incarnation,
          losses.count,
          losses.incarnation,
          services->cluster.identity().digest,
          losses.silent_us};
}

// Only tasks of the cluster may say that they live or leave. What others say would be kept by name,
// and a task of the same name in another cluster would be taken for ours, started again.
Status admit(const Services& services, const std::string& task, std::uint64_t cluster) {
  if (services->cluster.contains(task) && services->cluster.identity().digest == cluster)
    return {};
  return failed_precondition(str_cat("task ", str_quote(task.substr(0, 200)), " is not of ",
                                     services->cluster.identity().to_string(), ", as ",
                                     services->task, " is; give all tasks the same config file"));
}

// Says that it is a process that is known at another node: one process has one identity.
bool is_impostor(Self self, const Heartbeat& m, const caf::strong_actor_ptr& sender) {
  const auto& state = self->state;
  auto differs = [&](std::uint64_t incarnation, const MembershipActor& membership) {
    return incarnation == m.incarnation && membership && membership->node() != sender->node();
  };
  auto peer = state.peers.find(m.from);
  auto listener = state.listeners.find(m.from);
  return (peer != state.peers.end() &&
          differs(peer->second.incarnation, peer->second.membership)) ||
         (listener != state.listeners.end() &&
          differs(listener->second.incarnation, listener->second.membership));
}

// A sign of life. Another incarnation than the one that we know says that ours is gone. A peer that
// has lost us more often than we have lost it knows of a connection that ended unseen by us: a new
// one took its place first, and what was under way is lost.
void heard(Self self, const Services& services, const Heartbeat& m) {
  auto& state = self->state;
  auto it = state.peers.find(m.from);
  if (it != state.peers.end() && it->second.incarnation != m.incarnation)
    return tell_loss(self, services, m.from, LossReason::restarted, 0);
  state.leases.heard(m.from, now_us(self));
  state.cut.erase(m.from);
  if (m.lost_incarnation != services->incarnation)
    return;
  auto& ours = losses_of(self, m.from, m.incarnation);
  if (ours.agreed && m.losses > ours.count)
    tell_loss(self, services, m.from, m.silent_us > 0 ? LossReason::gave_up : LossReason::cut_off,
              m.silent_us);
  if (ours.agreed)
    ours.count = std::max(ours.count, m.losses);
}

// It also tells the peer that we know it: then it says farewell to us, and counts the end of our
// connection.
void beat_to(Self self, const Services& services, const std::string& task,
             const MembershipActor& membership) {
  ask_watched(self, membership, services->timeouts.lease, heartbeat(self, services, task))
      .then([=](const Heartbeat& m) { heard(self, services, m); },
            [](caf::error&) {}); // silence is judged by the lease
}

// The first word on a new connection: both ends agree on how often they have lost each other. If no
// answer comes, the connection has ended again, and perhaps another has taken its place.
void agree(Self self, const Services& services, const std::string& task, const Peer& peer) {
  auto& losses = losses_of(self, task, peer.incarnation);
  losses.agreed = false;
  std::uint64_t dial = ++losses.dials;
  auto is_current = [=, incarnation = peer.incarnation] {
    auto& losses = self->state.losses[task];
    auto it = self->state.peers.find(task);
    return losses.incarnation == incarnation && losses.dials == dial && !losses.agreed &&
           it != self->state.peers.end() && it->second.incarnation == incarnation;
  };
  ask_watched(self, peer.membership, services->timeouts.lease, heartbeat(self, services, task))
      .then(
          [=](const Heartbeat& m) {
            if (is_current()) {
              auto& losses = self->state.losses[task];
              if (m.lost_incarnation == services->incarnation)
                losses.count = std::max(losses.count, m.losses);
              losses.agreed = true;
            }
            heard(self, services, m);
          },
          [=](caf::error& error) {
            if (!is_current())
              return;
            if (error != caf::sec::request_timeout)
              return tell_loss(self, services, task, LossReason::cut_off, 0);
            // The answer may wait behind others on a slow link.
            ask_wire(self, services, peer.membership->node(), [=](std::optional<Wire> wire) {
              if (!is_current())
                return;
              if (wire && wire->state.lives(services->timeouts.lease))
                return agree(self, services, task, peer);
              tell_loss(self, services, task, LossReason::cut_off, 0);
            });
          });
}

void welcome(Self self, const Services& services, const std::string& task,
             const std::string& address, const caf::strong_actor_ptr& guardian, Welcome& w) {
  // Before a word of ours reaches its membership, which may have a task of our name.
  if (auto own = services->cluster.identity(); w.cluster.digest != own.digest)
    return answer(
        self, task,
        failed_precondition(
            str_cat("at ", address, " runs ", w.task.substr(0, 200), " of ", w.cluster.to_string(),
                    ", but ", services->task, " is of ", own.to_string(),
                    "; give all tasks of a cluster the same config file, or the same "
                    "cluster-name where each sees the others at other addresses"))
            .with_origin({"", "", task, 0}));
  if (w.task != task)
    return answer(self, task,
                  failed_precondition(str_cat("at ", address, " runs ", w.task, ", not ", task,
                                              "; the nodes' config files differ")));
  if (!w.worker || !w.master || !w.transport || !w.membership) // it has let go of its actors
    return answer(self, task,
                  unavailable(loss_sentence(task, address, LossReason::left, 0))
                      .with_origin({"", "", task, 0}));
  Peer peer{w.task, w.incarnation, w.worker, w.master, w.transport, w.membership};
  if (self->state.leases.joined(task, w.incarnation, now_us(self))) {
    tell_loss(self, services, task, LossReason::restarted, 0);
    self->state.leases.joined(task, w.incarnation, now_us(self));
  }
  self->state.peers[task] = peer;
  self->state.guardians[guardian->get()->address()] = task;
  agree(self, services, task, peer);
  answer(self, task, peer);
}

// A task that ends between the dial and its answer is dialled again, three times: another may have
// taken its place.
constexpr int most_attempts = 3;

void dial(Self self, const Services& services, const std::string& task, const Address& address,
          int attempt);

std::chrono::microseconds time_left(Self self, const std::string& task) {
  auto dialling = self->state.dialling.find(task);
  return dialling == self->state.dialling.end()
             ? std::chrono::microseconds(0)
             : std::chrono::microseconds(dialling->second.due_us - now_us(self));
}

// For the answer on a fresh connection: its other end may still take one that was cut for the one
// to us, which takes a new attempt; or it is slow, which takes more time with each.
std::chrono::milliseconds patience(Self self, const Services& services, const std::string& task,
                                   int attempt) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(time_left(self, task));
  return std::max(std::min(left, attempt * services->timeouts.lease / 2),
                  std::chrono::milliseconds(1));
}

// Nobody answers on a fresh connection. If no byte has come, it is closed, which is the signal to
// dial again; else the other side is busy, or has just taken another connection for this one, and
// is asked again.
void hello_failed(Self self, const Services& services, const std::string& task,
                  const caf::strong_actor_ptr& guardian, std::chrono::milliseconds waited,
                  const Status& why) {
  caf::actor_addr name = guardian->get()->address();
  ask_wire(self, services, guardian->node(), [=](std::optional<Wire> wire) {
    auto greeting = self->state.greetings.find(name);
    if (greeting == self->state.greetings.end())
      return;
    int attempt = greeting->second.attempt;
    bool again = why.code() == Code::deadline_exceeded && attempt < most_attempts &&
                 time_left(self, task).count() > 0;
    bool dead = wire && !wire->state.lives(waited / 2);
    if (dead && again) {
      close_wire(wire->host, wire->port);
      return;
    }
    self->state.greetings.erase(greeting);
    auto address = services->cluster.address_of(task);
    if (again && address.ok())
      return dial(self, services, task, *address, attempt + 1);
    answer_unreached(
        self, task,
        why.code() == Code::deadline_exceeded
            ? unavailable(str_cat("task ", task, " at ", address_text(services, task),
                                  " does not say who it is: it is frozen or overloaded"))
            : why);
  });
}

void greet(Self self, const Services& services, const std::string& task, const Address& address,
           const caf::strong_actor_ptr& guardian, int attempt) {
  caf::actor_addr name = guardian->get()->address();
  self->state.greetings[name] = {task, attempt};
  self->monitor(caf::actor_cast<caf::actor>(guardian));
  const auto limit = patience(self, services, task, attempt);
  ask_watched(self, typed<GuardianActor>(guardian), limit, Hello{protocol_version, services->task})
      .then(
          [=](Welcome& w) {
            if (self->state.greetings.erase(name))
              welcome(self, services, task, address.to_string(), guardian, w);
          },
          [=](caf::error& error) {
            hello_failed(self, services, task, guardian, limit,
                         to_status(error, str_cat("hello to ", task, " at ", address)));
          });
}

void dial(Self self, const Services& services, const std::string& task, const Address& address,
          int attempt) {
  const auto known = self->state.dialling.find(task);
  if (known == self->state.dialling.end())
    return; // nobody waits for it any more
  const auto& dialling = known->second;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(time_left(self, task));
  const DialPatience patience{std::max(left, std::chrono::milliseconds(1)), dialling.may_start};
  dial_apart(self, services, address, patience,
             [=, due_us = dialling.due_us](const Result<caf::strong_actor_ptr>& guardian) {
               if (guardian.ok())
                 return greet(self, services, task, address, *guardian, attempt);
               // Who came meanwhile may have more patience than this dial had.
               auto now = self->state.dialling.find(task);
               if (now != self->state.dialling.end() && time_left(self, task).count() > 0 &&
                   (now->second.due_us > due_us || now->second.may_start != patience.may_start))
                 return dial(self, services, task, address, attempt);
               answer_unreached(self, task, guardian.status().with_context(str_cat("task ", task)));
             });
}

void dial_again(Self self, const Services& services, const std::string& task) {
  auto redial = self->state.redials.extract(task);
  auto address = services->cluster.address_of(task);
  if (!redial.empty() && address.ok())
    dial(self, services, task, *address, redial.mapped());
}

// The process of a silent peer, which acknowledged nothing, need not have ended: it may have given us
// up, and have said so in vain.
void connection_ended(Self self, const Services& services, const std::string& task,
                      LossReason reason) {
  if (reason == LossReason::crashed && self->state.cut.count(task))
    return tell_loss(self, services, task, LossReason::cut_off,
                     self->state.leases.silent_us(task, now_us(self)));
  tell_loss(self, services, task, reason, 0);
}

void guardian_ended(Self self, const Services& services, const caf::down_msg& down) {
  auto& state = self->state;
  if (auto greeting = state.greetings.extract(down.source); !greeting.empty()) {
    const auto& [task, attempt] = greeting.mapped();
    // Two that have dialled each other at the same moment close both connections. One of them
    // dials again at once, the other one when it has heard of the first, or with the next beat.
    if (attempt < most_attempts) {
      state.redials[task] = attempt + 1;
      if (services->task < task)
        dial_again(self, services, task);
      return;
    }
    return answer_unreached(
        self, task,
        unavailable(loss_sentence(task, address_text(services, task), LossReason::crashed, 0)));
  }
  bool in_order = down.reason == caf::exit_reason::user_shutdown || !down.reason;
  LossReason reason = in_order ? LossReason::left : LossReason::crashed;
  auto listener = std::find_if(state.listeners.begin(), state.listeners.end(),
                               [&](auto& entry) { return entry.second.membership == down.source; });
  if (listener != state.listeners.end()) {
    auto [task, entry] = *listener;
    state.listeners.erase(listener);
    if (state.peers.count(task))
      return connection_ended(self, services, task, reason);
    count_loss(self, task, entry.incarnation, reason, 0);
    return;
  }
  auto it = state.guardians.find(down.source);
  if (it == state.guardians.end())
    return;
  std::string task = it->second;
  connection_ended(self, services, task, reason);
}

caf::result<Peer> get_peer(Self self, const Services& services, const GetPeer& m) {
  auto& state = self->state;
  const std::string& task = m.task;
  if (task == services->task)
    return state.own;
  if (auto it = state.peers.find(task); it != state.peers.end()) {
    if (!has_ended(it->second.worker))
      return it->second;
    // Whoever asks has been told already; our own DOWN waits in the mailbox.
    connection_ended(self, services, task, LossReason::crashed);
  }
  auto address = services->cluster.address_of(task);
  if (!address.ok())
    return to_error(address.status());
  auto promise = self->make_response_promise<Peer>();
  auto& dialling = state.dialling[task];
  dialling.waiters.push_back(promise);
  auto budget = m.budget_us > 0 ? std::chrono::microseconds(m.budget_us)
                                : std::chrono::microseconds(services->timeouts.dial);
  dialling.due_us = std::max(dialling.due_us, now_us(self) + budget.count());
  dialling.may_start = dialling.may_start || m.may_start;
  if (dialling.waiters.size() > 1)
    return promise;
  counter("dials").add(1);
  dial(self, services, task, *address, 1);
  return promise;
}

// Says to a peer that it is given up, as far as it can be told, and closes its connection.
void give_up(Self self, const Services& services, const MembershipActor& membership,
             std::int64_t silent_us, const std::optional<Wire>& wire) {
  auto close = [=] {
    if (wire)
      close_wire(wire->host, wire->port);
  };
  ask_watched(self, membership, services->timeouts.heartbeat / part_for_farewell,
              Farewell{services->task, services->incarnation, services->cluster.identity().digest,
                       silent_us})
      .then([=](caf::ok_atom) { close(); }, [=](caf::error&) { close(); });
}

// No message has come for the lease. If bytes have, a long one is on its way, or we were stopped
// ourselves; else the verdict is final: the connection is closed, so that a zombie learns of it.
void suspect(Self self, const Services& services, const LeaseTable::Expired& expired) {
  auto& state = self->state;
  auto it = state.peers.find(expired.task);
  if (it == state.peers.end())
    return;
  auto node = it->second.membership->node();
  ask_wire(self, services, node, [=](std::optional<Wire> wire) {
    auto peer = self->state.peers.find(expired.task);
    if (peer == self->state.peers.end() || peer->second.incarnation != expired.incarnation)
      return;
    // Tensors that come from it, on a connection of their own, are signs of life too.
    std::int64_t tensors_us = services->path_book->silent_us(expired.task, steady_micros());
    if (tensors_us >= 0 && std::chrono::microseconds(tensors_us) < services->timeouts.lease) {
      self->state.leases.joined(expired.task, expired.incarnation, now_us(self) - tensors_us);
      return;
    }
    if (wire && wire->state.lives(services->timeouts.lease)) {
      self->state.leases.joined(expired.task, expired.incarnation,
                                now_us(self) -
                                    std::chrono::microseconds(wire->state.silent).count());
      return;
    }
    bool is_cut = wire && wire->state.is_cut;
    MembershipActor membership = peer->second.membership;
    tell_loss(self, services, expired.task, is_cut ? LossReason::cut_off : LossReason::frozen,
              expired.silent_us);
    give_up(self, services, membership, expired.silent_us, wire);
  });
}

// Nobody here waits for it, so nobody is told; but its end of a connection that was cut must not
// stand in the way of the next one.
void forget_listener(Self self, const Services& services, const std::string& task,
                     const MembershipActor& membership) {
  ask_wire(self, services, membership->node(), [=](std::optional<Wire> wire) {
    auto it = self->state.listeners.find(task);
    if (it == self->state.listeners.end() || it->second.membership != membership)
      return;
    if (wire && wire->state.lives(services->timeouts.lease)) {
      it->second.heard_us = now_us(self) - std::chrono::microseconds(wire->state.silent).count();
      return;
    }
    const std::int64_t silent_us = now_us(self) - it->second.heard_us;
    log_info(task, ", which had dialled this task, has not been heard of for ", silent_us / 1000,
             " ms: its connection is closed");
    self->state.listeners.erase(it);
    give_up(self, services, membership, silent_us, wire);
  });
}

// Tells every node that knows us; answers when all have heard it, or after their time to do so.
caf::result<caf::ok_atom> say_farewell(Self self, const Services& services) {
  std::map<std::string, MembershipActor> all;
  for (const auto& [task, listener] : self->state.listeners)
    all[task] = listener.membership;
  for (const auto& [task, peer] : self->state.peers)
    all[task] = peer.membership;
  auto promise = self->make_response_promise<caf::ok_atom>();
  auto answered = gather(all.size(), [promise]() mutable { promise.deliver(caf::ok_atom::value); });
  for (const auto& [task, membership] : all)
    ask(self, membership, services->timeouts.cancel,
        Farewell{services->task, services->incarnation, services->cluster.identity().digest, 0})
        .then([=](caf::ok_atom) mutable { answered(); },
              [=](caf::error&) mutable { answered(); }); // its lease tells it, if this does not
  return promise;
}

void beat(Self self, const Services& services) {
  auto& state = self->state;
  for (const auto& [task, attempt] : std::map(state.redials))
    dial_again(self, services, task);
  for (const auto& expired : state.leases.expire(now_us(self)))
    suspect(self, services, expired);
  std::int64_t lease_us = std::chrono::microseconds(services->timeouts.lease).count();
  for (const auto& [task, listener] : std::map(state.listeners)) // the table changes meanwhile
    if (now_us(self) - listener.heard_us > lease_us && !state.peers.count(task))
      forget_listener(self, services, task, listener.membership);
  // A connection that was looked at before is judged better when it is suspected.
  auto look = [=](const std::string& task, const MembershipActor& membership,
                  std::int64_t silent_us) {
    if (silent_us > lease_us / 2)
      ask_wire(self, services, membership->node(), [=](const std::optional<Wire>& wire) {
        if (wire && wire->state.is_cut && self->state.peers.count(task))
          self->state.cut.insert(task);
      });
  };
  for (const auto& [task, peer] : state.peers) {
    beat_to(self, services, task, peer.membership);
    look(task, peer.membership, state.leases.silent_us(task, now_us(self)));
  }
  for (const auto& [task, listener] : state.listeners)
    if (!state.peers.count(task)) {
      beat_to(self, services, task, listener.membership);
      look(task, listener.membership, now_us(self) - listener.heard_us);
    }
  self->delayed_send(self, services->timeouts.heartbeat, HeartbeatDue{});
}

} // namespace

MembershipActor::behavior_type membership(Self self, Services services) {
  guard_actor(self);
  self->state.leases = LeaseTable(std::chrono::microseconds(services->timeouts.lease).count());
  self->set_down_handler([=](caf::down_msg& down) { guardian_ended(self, services, down); });
  if (services->cluster.size() > 1)
    self->delayed_send(self, services->timeouts.heartbeat, HeartbeatDue{});
  return {
      [=](const GetPeer& m) { return get_peer(self, services, m); },
      [=](const WatchPeer& m) {
        auto& watchers = self->state.watchers[m.task];
        std::erase_if(watchers, [](const caf::actor_addr& watcher) {
          return caf::actor_cast<caf::strong_actor_ptr>(watcher) == nullptr;
        });
        auto address = m.watcher.address();
        if (std::find(watchers.begin(), watchers.end(), address) == watchers.end())
          watchers.push_back(address);
        // Lost between the dial and now: told at once rather than never.
        if (m.task != services->task && !self->state.peers.count(m.task)) {
          auto verdict = self->state.verdicts.find(m.task);
          PeerLost lost = verdict != self->state.verdicts.end()
                              ? verdict->second
                              : PeerLost{m.task, 0, LossReason::cut_off,
                                         loss_sentence(m.task, address_text(services, m.task),
                                                       LossReason::cut_off, 0)};
          caf::anon_send(m.watcher, lost);
          self->state.watchers.erase(m.task);
        }
        return caf::ok_atom::value;
      },
      [=](Peer& m) { self->state.own = std::move(m); },
      [=](const Heartbeat& m) -> caf::result<Heartbeat> {
        if (Status stranger = admit(services, m.from, m.cluster); !stranger.ok())
          return to_error(stranger);
        auto sender = self->current_sender();
        if (sender && is_impostor(self, m, sender))
          return to_error(
              failed_precondition(str_cat("what beats for ", m.from, " is another process than ",
                                          services->task, " knows under that name")));
        heard(self, services, m);
        if (sender && m.from != services->task) {
          auto& listener = self->state.listeners[m.from];
          if (listener.membership != sender)
            self->monitor(caf::actor_cast<caf::actor>(sender));
          listener = {typed<MembershipActor>(sender), now_us(self), m.incarnation};
          dial_again(self, services, m.from);
        }
        return heartbeat(self, services, m.from);
      },
      [=](const Farewell& m) -> caf::result<caf::ok_atom> {
        if (Status stranger = admit(services, m.from, m.cluster); !stranger.ok())
          return to_error(stranger);
        auto it = self->state.peers.find(m.from);
        if (it != self->state.peers.end() && it->second.incarnation == m.incarnation)
          tell_loss(self, services, m.from,
                    m.silent_us > 0 ? LossReason::gave_up : LossReason::left, m.silent_us);
        self->state.listeners.erase(m.from);
        return caf::ok_atom::value;
      },
      [=](const Drain& m) -> caf::result<caf::ok_atom> {
        if (m.end.ok())
          return caf::ok_atom::value;
        return say_farewell(self, services);
      },
      [=](const GetPeers&) {
        PeerList out;
        for (const std::string& task : services->cluster.tasks()) {
          if (task == services->task)
            continue;
          std::int64_t silent = self->state.leases.silent_us(task, now_us(self));
          auto verdict = self->state.verdicts.find(task);
          out.peers.push_back({task, address_text(services, task), silent >= 0,
                               std::max<std::int64_t>(silent, 0), std::nullopt});
          if (verdict != self->state.verdicts.end())
            out.peers.back().last_loss = verdict->second.reason;
        }
        return out;
      },
      [=](const GetActors&) {
        return describe_tree(self, str_cat(self->state.peers.size(), " peers"), Children{});
      },
      [=](HeartbeatDue) { beat(self, services); },
  };
}

} // namespace troupe
