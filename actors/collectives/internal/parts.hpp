// What the files of COLLECTIVES share: a part of one actor each.
//
//   peers.cpp         the COLLECTIVES of other tasks
//   members.cpp       calls of this task's kernels
//   leader.cpp        groups that this task leads
//   collectives.cpp   messages and time
#pragma once

#include <algorithm>
#include <string>

#include "actors/collectives/collectives.hpp"

namespace troupe::collectives_parts {

using Self = CollectivesActor::stateful_pointer<CollectivesState>;

struct Parts {
  Services services;
  MembershipActor membership;
  TransportActor transport;
};

CollectivesActor own_handle(Self self);
/// Calls `done` with the collectives of `task`, now or later; with why they cannot be had. The task
/// is watched from then on.
void with_peer(Self self, const Parts& parts, const std::string& task, CollectivePeer::Found done);
/// Ends what waits for the collectives of `task`: they are there, or cannot be had. Later calls
/// look anew if `status` is an error.
void found(Self self, const std::string& task, const Status& status, const CollectivesActor& actor);
void send_abort(Self self, const Parts& parts, const std::string& task, std::uint64_t gang,
                const Status& why);

// Calls of our kernels.
void begin(Self self, const Parts& parts, BeginCollective& m);
void withdraw_call(Self self, const Parts& parts, std::uint64_t ticket);
void seat_ended(Self self, const Parts& parts, const SeatEnded& m);
void abort(Self self, const Parts& parts, const AbortCollective& m);
void piece(Self self, const Parts& parts, CollectivePiece& m);
void worked(Self self, const Parts& parts, CollectiveWorked& m);
MemberCall* find_call(Self self, std::uint64_t ticket);
/// Answers the call. `tells`: the other members do not know yet.
void fail_call(Self self, const Parts& parts, std::uint64_t ticket, const Status& why, bool tells);
/// Forgets the piece that has waited longest for its call. That, should it ever form, fails.
void drop_earliest(Self self);
/// Says what each call waits for, for whoever asks.
void write_notes(Self self);

// Groups that we lead.
caf::result<CollectiveFormed> join(Self self, const Parts& parts, JoinCollective& m);
void deliver(Self self, const Parts& parts, CollectiveGroups::Effects effects);
/// Tells members that wait for whom, as far as it is known here.
void tell_waiting(Self self);

/// Sees to it that time_passed is called when something is due.
void schedule(Self self);

} // namespace troupe::collectives_parts
