// The rendezvous: where the halves of a cut edge meet.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct AbortStep;
struct AskForMissing;
struct BeginExchange;
struct EdgeRecords;
struct EdgesArrived;
struct EdgesLost;
struct EdgesSent;
struct EndExchange;
struct ExplainPart;
struct FlushEdges;
struct PeerLost;
struct PutEdge;
struct ReceiveTensors;
struct TakeEdge;

/// The RENDEZVOUS: the mailbox of one step at a time on one worker, where the two halves of a cut
/// edge meet. What a peer has asked for once it is sent unasked in later steps, all values that are
/// there in one message; a peer that does not know us yet is asked, for all keys in one message.
/// What another step sends is dropped, what it wants is refused with ABORTED.
///
///   resting ──BeginExchange──▶ serving a step ──EndExchange──▶ resting
using RendezvousActor = TreeActor::extend<
    caf::reacts_to<BeginExchange>, caf::reacts_to<EndExchange>,
    // Hands the value to the kernel that waits for it, sends it to the peer whose
    // it is, or keeps it.
    caf::reacts_to<PutEdge>, caf::reacts_to<TakeEdge>,
    // A peer's wish, handed on by the worker session: what lies here for the
    // peer's task is sent now. Fails with the abort's status after an abort.
    caf::replies_to<ReceiveTensors>::with<EdgesSent>, caf::reacts_to<EdgesArrived>,
    // Fails the waiters for values of that task, now and later.
    caf::reacts_to<EdgesLost>, caf::replies_to<ExplainPart>::with<EdgeRecords>,
    // Fails every waiter, now and later, with the first abort's status.
    caf::reacts_to<AbortStep>,
    // Internal: sends the collected values and wishes to the peers.
    caf::reacts_to<FlushEdges>,
    // From the worker session, at times: asks for what has been waited for without
    // asking.
    caf::reacts_to<AskForMissing>,
    // A task that values were asked of is gone: its waiters fail.
    caf::reacts_to<PeerLost>>;

} // namespace troupe
