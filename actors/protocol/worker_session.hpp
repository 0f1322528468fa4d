// The worker session: a master session's half on one task.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct CancelStep;
struct CheckLeases;
struct CleanupStep;
struct DeregisterGraph;
struct EdgesArrived;
struct EdgesLost;
struct EdgesSent;
struct ExplainPart;
struct FindPeerSession;
struct GraphRegistered;
struct GraphRun;
struct PeerLost;
struct GraphPiece;
struct PutEdge;
struct ReceiveTensors;
struct RegisterGraph;
struct RenewLease;
struct ResumeSession;
struct RunGraph;
struct TakeEdge;
struct TaskRecord;
struct WantEdges;
struct WorkerSessionCreated;

/// The WORKER SESSION: one master session's graphs and steps on one worker.
/// Drain: Refuses new steps; answers when none runs and no peer waits for values of one.
using WorkerSessionActor = DrainActor::extend<
    // Compiles on a compute thread. Fails: INVALID_ARGUMENT and others from compilation, naming the
    // node.
    caf::replies_to<RegisterGraph>::with<GraphRegistered>,
    // The first bytes of the graph of the RegisterGraph that follows.
    caf::reacts_to<GraphPiece>, caf::replies_to<DeregisterGraph>::with<caf::ok_atom>,
    // Answers when every device's part has ended. Fails with the step's first error; ABORTED for an
    // unknown graph handle.
    caf::replies_to<RunGraph>::with<GraphRun>, caf::reacts_to<CancelStep>,
    caf::reacts_to<CleanupStep>,
    // What its devices and its rendezvous say, within the explain budget. A step that is not known
    // here is no error.
    caf::replies_to<ExplainPart>::with<TaskRecord>,
    // A step not yet known here gets its rendezvous now, and loses it again if no RunGraph follows
    // within a minute. Fails: ABORTED for a step that has ended here, or whose rendezvous has.
    caf::replies_to<ReceiveTensors>::with<EdgesSent>,
    // Values for the step's rendezvous, which it gets now if it has none, as above. Dropped if the
    // step has ended here.
    caf::reacts_to<EdgesArrived>, caf::reacts_to<EdgesLost>, caf::reacts_to<RenewLease>,
    // Local. The client's end of a partial run: handed to the step's rendezvous, which it gets now
    // if it has none. Dropped if the step has ended here.
    caf::reacts_to<PutEdge>, caf::reacts_to<TakeEdge>,
    // Local. Fails: UNAVAILABLE when the task cannot be reached; ABORTED when it has no such
    // session.
    caf::replies_to<FindPeerSession>::with<WorkerSessionCreated>,
    // Local. The peer's answer; fails like FindPeerSession, or when the peer has ended.
    caf::replies_to<WantEdges>::with<EdgesSent>,
    // A task is gone: handed on to every step's rendezvous.
    caf::reacts_to<PeerLost>,
    // Ends every step and forgets every graph; variables stay. Answers when no step runs, or when
    // cancelled ones have had their time; new ones are refused until then.
    caf::replies_to<ResumeSession>::with<caf::ok_atom>,
    // Internal: leases.
    caf::reacts_to<CheckLeases>>;

} // namespace troupe
