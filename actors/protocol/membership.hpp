// Membership: who is alive.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct Farewell;
struct GetPeer;
struct GetPeers;
struct Heartbeat;
struct HeartbeatDue;
struct Peer;
struct PeerList;
struct WatchPeer;

/// MEMBERSHIP: dials peers, keeps one connection to each, and says who is alive.
/// Drain: With an end: says farewell to every peer, and answers when they have heard it.
using MembershipActor = DrainActor::extend<
    // Answers with the peer once it has said welcome. Fails: NOT_FOUND for a task that is not in
    // the cluster; UNAVAILABLE when it cannot be reached within the budget, naming its address, and
    // why it was lost if it was.
    caf::replies_to<GetPeer>::with<Peer>,
    // Answers once the watch stands; the watcher gets at most one PeerLost for it.
    caf::replies_to<WatchPeer>::with<caf::ok_atom>,
    // Local, once at start: our own handles, the answer to GetPeer for our own task.
    caf::reacts_to<Peer>,
    // Answers with our own heartbeat. Fails, as Farewell: FAILED_PRECONDITION for one that is no
    // task of our cluster.
    caf::replies_to<Heartbeat>::with<Heartbeat>,
    // A task leaves, or gives us up: whoever watches it is told so.
    caf::replies_to<Farewell>::with<caf::ok_atom>,
    // Every other task of the cluster.
    caf::replies_to<GetPeers>::with<PeerList>,
    // Internal: the next round of heartbeats.
    caf::reacts_to<HeartbeatDue>>;

} // namespace troupe
