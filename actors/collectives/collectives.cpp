#include "actors/collectives/collectives.hpp"

#include <algorithm>

#include "actors/collectives/internal/parts.hpp"
#include "actors/family/children.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"

namespace troupe {

CollectivesState::~CollectivesState() {
  for (auto& [waiter, join] : joins)
    join.promise.deliver(
        to_error(unavailable("the leader of a collective group has ended").as_derived()));
}

namespace collectives_parts {
namespace {

/// Waits that last are described so often.
constexpr std::int64_t note_every_us = 1'000'000;

} // namespace

void schedule(Self self) {
  auto& state = self->state;
  const std::int64_t now = now_us(self);
  std::optional<std::int64_t> due = state.groups->next_due_us();
  auto take = [&](std::int64_t at) { due = due ? std::min(*due, at) : at; };
  if (!state.calls.empty() || !state.early.empty() || !state.joins.empty())
    take(now + note_every_us);
  if (!due)
    return;
  // For each call a look at all calls would be dear: deadlines are seen to some milliseconds.
  const std::int64_t at = std::max(*due, now + 1000);
  if (state.due_posted_us != 0 && state.due_posted_us <= at)
    return;
  state.due_posted_us = at;
  self->delayed_send(self, std::chrono::microseconds(at - now), CollectivesDue{});
}
namespace {

void peer_lost(Self self, const Parts& parts, const PeerLost& m) {
  auto& state = self->state;
  const Status why = unavailable(m.sentence).with_origin({"", "", m.task, 0});
  found(self, m.task, why, {});
  deliver(self, parts, state.groups->task_lost(m.task, why, now_us(self)));
  std::vector<std::uint64_t> hit;
  for (const auto& [ticket, call] : state.calls)
    if (call.gang == 0 ? call.leader == m.task
                       : std::ranges::find(call.tasks, m.task) != call.tasks.end())
      hit.push_back(ticket);
  for (std::uint64_t ticket : hit)
    fail_call(self, parts, ticket,
              why.with_context(str_cat("a member or the leader of its collective group is lost")),
              false);
}
void time_passed(Self self, const Parts& parts) {
  auto& state = self->state;
  const std::int64_t now = now_us(self);
  if (state.due_posted_us > now + 1000)
    return; // an earlier one was posted after it
  state.due_posted_us = 0;
  deliver(self, parts, state.groups->time_passed(now));
  std::vector<std::uint64_t> late;
  for (const auto& [ticket, call] : state.calls)
    if (call.due_us != 0 && call.due_us <= now)
      late.push_back(ticket);
  for (std::uint64_t ticket : late) {
    const auto& what = find_call(self, ticket)->pending->call;
    fail_call(self, parts, ticket,
              deadline_exceeded(str_cat("Collective has timed out during execution: instance ",
                                        what.spec.instance_key, " of group ", what.spec.group_key,
                                        " was not over within ",
                                        static_cast<double>(what.timeout_us) / 1e6,
                                        " s; see what its members do, or raise timeout_seconds")),
              true);
  }
  const std::int64_t orphan =
      std::chrono::microseconds(parts.services->timeouts.unclaimed()).count();
  while (!state.early.empty() && state.early.front().first + orphan <= now)
    drop_earliest(self);
  tell_waiting(self);
  write_notes(self);
  schedule(self);
}
} // namespace
} // namespace collectives_parts

CollectivesActor::behavior_type collectives(collectives_parts::Self self, Services services,
                                            MembershipActor membership, TransportActor transport,
                                            std::shared_ptr<CollectiveNotes> notes) {
  using namespace collectives_parts;
  guard_actor(self);
  self->state.groups.emplace(random_id() >> 1);
  self->state.notes = std::move(notes);
  const Parts parts{services, membership, transport};
  return {
      [=](BeginCollective& m) { begin(self, parts, m); },
      [=](const WithdrawCollective& m) { withdraw_call(self, parts, m.ticket); },
      [=](const SeatEnded& m) { seat_ended(self, parts, m); },
      [=](JoinCollective& m) { return join(self, parts, m); },
      [=](const LeaveCollective& m) {
        deliver(self, parts,
                self->state.groups->step_ended(m.session, m.step, m.device, m.status.status,
                                               now_us(self)));
      },
      [=](CollectiveWaits& m) {
        if (MemberCall* call = find_call(self, m.ticket)) {
          call->waits_for = std::move(m.text);
          write_notes(self);
        }
      },
      [=](const AbortCollective& m) { abort(self, parts, m); },
      [=](CollectivePiece& m) { piece(self, parts, m); },
      [=](const PeerLost& m) { peer_lost(self, parts, m); },
      [=](CollectiveWorked& m) { worked(self, parts, m); },
      [=](CollectivesDue) { time_passed(self, parts); },
      [=](const GetActors&) {
        return describe_tree(self,
                             str_cat(self->state.calls.size(), " calls, leads ",
                                     self->state.groups->num_gangs(), " groups of steps"),
                             Children{});
      },
  };
}

} // namespace troupe
