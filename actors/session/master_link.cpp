#include "actors/session/master_link.hpp"

#include "actors/family/dialer.hpp"
#include "actors/family/rounds.hpp"
#include "actors/family/wire.hpp"
#include "actors/protocol/error_text.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe {

using Self = SessionSelf;

Status refusal(const SessionState& state) {
  if (!state.closed.ok())
    return state.closed;
  if (!state.master_session)
    return failed_precondition("the session is not open yet");
  return {};
}

std::string master_name(const SessionState& state) {
  std::string task = state.master_task.empty() ? "the master" : "task " + state.master_task;
  return state.handle.empty() ? str_cat(task, ", asked for a session,")
                              : str_cat(task, ", the master of session ", state.handle, ",");
}

void master_lost(Self self, const Status& why) {
  auto& state = self->state;
  if (!state.master_session && !state.opening && !state.recovers)
    return;
  const bool was_open = state.master_session || state.recovers;
  // What is asked again after a loss may find the master there again; not what was refused, or
  // closed.
  state.lost.is_lost = was_open && !state.closing && why.code() == Code::unavailable;
  state.master_session = nullptr;
  state.opening = state.recovers = false;
  if (!state.closing)
    state.closed = why;
  for (auto waiting = std::move(state.waiting); auto& request : waiting)
    request.go_on(why);
  for (auto pending = std::move(state.pending); auto& [id, fail] : pending)
    fail(why);
}

namespace {

// The one that the master has made goes on.
void recovered(Self self, const Services& services, const MasterSessionActor& session) {
  auto& state = self->state;
  if (!std::exchange(state.recovers, false))
    return; // lost meanwhile
  state.master_session = session;
  self->monitor(caf::actor_cast<caf::actor>(session));
  if (state.remote)
    speak(self, services);
  for (auto waiting = std::exchange(state.waiting, {}); auto& request : waiting)
    request.go_on({});
}

// The master lives, and makes the session again. Nothing that was under way is sent again: how far
// it came is not known.
void recover(Self self, const Services& services, const caf::error& reason) {
  auto& state = self->state;
  state.recovers = true;
  state.master_session = nullptr;
  if (std::exchange(state.closing, false))
    state.closed = {};
  const Status why =
      aborted(str_cat("the master session of session ", state.handle, ", on ",
                      state.master_task.empty() ? "this task" : "task " + state.master_task,
                      ", ended (", error_text(reason),
                      ") while the request was under way: what was done of it is not "
                      "known. The session goes on, its variables stay as they are: ask "
                      "again if it may be done twice"));
  for (auto pending = std::move(state.pending); auto& [id, fail] : pending)
    fail(why);
  const auto budget = 2 * services->timeouts.lease; // the master takes less than one
  ask_watched(self, state.master, budget, FindSession{state.handle})
      .then([=](const SessionCreated& found) { recovered(self, services, found.session); },
            [=](caf::error& error) {
              if (self->state.recovers)
                master_lost(self, to_status(error, str_cat(master_name(self->state),
                                                           " which was asked to go on with it,")));
            });
}

} // namespace

void master_ended(Self self, const Services& services, const caf::down_msg& down) {
  const auto& state = self->state;
  const caf::error& reason = down.reason;
  if (state.master_session && down.source == state.master_session && state.master &&
      is_fault(reason))
    return recover(self, services, reason);
  bool in_order = !reason || reason == caf::exit_reason::user_shutdown;
  // Its guardian's end may overtake the master session's, which would say the same.
  if (in_order && state.guardian && down.source == state.guardian.address())
    return master_lost(
        self, unavailable(str_cat(master_name(state), " has left the cluster in order; make a new "
                                                      "session when it is back")));
  if (in_order)
    return master_lost(self,
                       aborted(str_cat(master_name(state), " has closed it; make a new session")));
  // The process of a silent master, which acknowledged nothing, need not have ended.
  if (reason == caf::exit_reason::remote_link_unreachable && state.watch.is_cut())
    return master_lost(
        self, unavailable(str_cat(master_name(state), " had not been heard of for ",
                                  state.watch.silent_us(now_us(self)) / 1000,
                                  " ms and is cut off: what was sent to it was not acknowledged; "
                                  "check the network, then make a new session")));
  if (reason == caf::exit_reason::remote_link_unreachable)
    return master_lost(self, unavailable(str_cat(master_name(state),
                                                 " closed its connection: its process has ended; "
                                                 "make a new session when it is back")));
  master_lost(self, to_status(reason, master_name(state))); // it says why it left
}

namespace {

// The master has not been heard of for half its lease, when its connection is only looked at, or
// for longer than it. If bytes have come since, a long message is on its way; else it is taken for
// lost, and the connection closed, so that both ends agree.
void look_at_master(Self self, const Services& services) {
  auto session = self->state.master_session;
  ask_wire(self, services, self->state.guardian->node(), [=](std::optional<Wire> wire) {
    using Verdict = MasterWatch::Verdict;
    auto& state = self->state;
    const std::int64_t now = now_us(self);
    const Verdict verdict =
        state.watch.judge(wire ? std::optional(wire->state) : std::nullopt, now,
                          std::chrono::microseconds(services->timeouts.lease).count(),
                          state.master_session == session);
    if (verdict == Verdict::lives)
      return;
    const std::string who = str_cat(master_name(state), " has not been heard of for ",
                                    state.watch.silent_us(now) / 1000, " ms");
    master_lost(self, unavailable(verdict == Verdict::cut_off
                                      ? who + " and is cut off: what is sent to it is not "
                                              "acknowledged; check the network, then make a new "
                                              "session"
                                      : who + " though its connection is open: it is frozen or "
                                              "overloaded; look at that machine, then make a new "
                                              "session"));
    if (wire)
      close_wire(wire->host, wire->port);
  });
}

} // namespace

void speak(Self self, const Services& services) {
  auto& state = self->state;
  const auto& lease = services->timeouts.lease;
  auto heard = [=] { self->state.watch.heard(now_us(self)); };
  auto silent = [](caf::error&) {}; // judged by the lease
  if (state.master_session)
    ask(self, state.master_session, lease, RenewLease{})
        .then([=](caf::ok_atom) { heard(); }, silent);
  else
    ask(self, state.guardian, lease, Hello{protocol_version, "client"})
        .then([=](const Welcome&) { heard(); }, silent);
}

namespace {

// A master that is there again knows nothing of the session: whoever asks is told to make a new
// one.
void master_found(Self self, const Status& lost, const Welcome& w) {
  auto& state = self->state;
  if (!state.lost.is_lost || w.task != state.master_task)
    return;
  state.lost.is_lost = false;
  state.lost.is_found = true;
  const bool is_same = w.incarnation == state.lost.incarnation;
  state.closed = aborted(
      str_cat("Session ", state.handle, " is not found. ",
              is_same ? "Its master, task " : "Possibly, this master has restarted: task ", w.task,
              " is there again after it was lost (", lost.message(), "); make a new session"));
}

} // namespace

void look_for_master(Self self, const Services& services) {
  auto& state = self->state;
  if (!state.lost.is_lost || state.lost.is_looked_for || state.lost.address.port == 0 ||
      !services->network->reaches_others())
    return;
  state.lost.is_looked_for = true;
  const auto limit = services->timeouts.lease / 4;
  auto seen = [self] { self->state.lost.is_looked_for = false; };
  dial_apart(self, services, state.lost.address, {limit, false},
             [=, lost = state.closed](const Result<caf::strong_actor_ptr>& guardian) {
               if (!guardian.ok())
                 return seen();
               self->state.guardian = typed<GuardianActor>(*guardian);
               ask(self, self->state.guardian, limit, Hello{protocol_version, "client"})
                   .then(
                       [=](const Welcome& w) {
                         seen();
                         master_found(self, lost, w);
                       },
                       [=](caf::error&) { seen(); }); // it is looked for again
             });
}

void renew(Self self, const Services& services) {
  auto& state = self->state;
  const bool has_master = state.master_session || state.opening || state.recovers;
  if (!has_master && !state.lost.is_lost && !state.lost.is_found)
    return;
  if (state.lost.is_lost)
    look_for_master(self, services);
  else
    speak(self, services); // to one that was found, lest it takes the connection for a dead one
  const std::int64_t lease_us = std::chrono::microseconds(services->timeouts.lease).count();
  if (has_master && state.watch.takes_look(now_us(self), lease_us))
    look_at_master(self, services);
  self->delayed_send(self, until_next_round(self, services->timeouts.lease / 4), CheckLeases{});
}

} // namespace troupe
