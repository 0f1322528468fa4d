// Collectives: what devices of several tasks compute together.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct AbortCollective;
struct BeginCollective;
struct CollectiveFormed;
struct CollectivePiece;
struct CollectivesDue;
struct CollectiveWaits;
struct CollectiveWorked;
struct JoinCollective;
struct LeaveCollective;
struct SeatEnded;
struct WithdrawCollective;

/// COLLECTIVES: the collectives of a task's devices, and the groups that this task leads.
///
/// A member joins at its group's leader, and is answered when all members have joined. Small values
/// travel with the join and its answer. Larger ones go from member to member in pieces.
using CollectivesActor = TreeActor::extend<
    // Of our own kernels. The call is answered once, whatever happens.
    caf::reacts_to<BeginCollective>, caf::reacts_to<WithdrawCollective>, caf::reacts_to<SeatEnded>,

    // Of a member, to its leader. Answers when the group has formed. Fails: what members disagree
    // about; DEADLINE_EXCEEDED when it has not formed in the member's time; UNAVAILABLE when a
    // member's task is lost; ABORTED when a member's step has ended.
    caf::replies_to<JoinCollective>::with<CollectiveFormed>,
    // Of a member, to its leader: its step has ended, or no longer waits.
    caf::reacts_to<LeaveCollective>,
    // Of a leader to a member that waits long.
    caf::reacts_to<CollectiveWaits>,
    // Of a leader or a member to the other members: their calls in these steps fail.
    caf::reacts_to<AbortCollective>,
    // Of a member. Kept for a while if its call has not formed here yet.
    caf::reacts_to<CollectivePiece>, caf::reacts_to<PeerLost>,

    // Internal: a compute thread is done with a piece; deadlines.
    caf::reacts_to<CollectiveWorked>, caf::reacts_to<CollectivesDue>>;

} // namespace troupe
