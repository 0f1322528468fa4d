// The master session: a client's graph and its steps.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct CallableMade;
struct CancelPart;
struct CancelRun;
struct CheckLeases;
struct CleanupPart;
struct ClientGraphBuilt;
struct CloseSession;
struct DebugNoteWritten;
struct DeviceList;
struct EndLateSteps;
struct ExplainGraph;
struct ExplainStep;
struct ExtendGraph;
struct ConfirmLease;
struct GetSessions;
struct GetSteps;
struct GraphExplained;
struct GraphExtended;
struct GraphParsed;
struct GraphPiece;
struct ListDevices;
struct MakeCallable;
struct PartialRunSetUp;
struct PeerLost;
struct ReleaseCallable;
struct RenewLease;
struct RunCallable;
struct RunPart;
struct RunStep;
struct RunStepResult;
struct SendCleanups;
struct SessionList;
struct SetUpPartialRun;
struct StepFetched;
struct StepFinished;
struct StepList;
struct StepsExplained;

/// The MASTER SESSION: a client's graph and its steps. Steps run concurrently; a signature is
/// compiled once.
/// Drain: Refuses new steps; answers when none runs. With an end, that is also what the client is
/// told of the session's end.
using MasterSessionActor = DrainActor::extend<
    // Fails: ABORTED when another extend came first; INVALID_ARGUMENT / ALREADY_EXISTS naming the
    // node.
    caf::replies_to<ExtendGraph>::with<GraphExtended>,
    // The first bytes of the graph of the ExtendGraph that follows.
    caf::reacts_to<GraphPiece>,
    // Answers when the step has ended everywhere. A request id that is running is joined, one that
    // finished lately is answered again.
    caf::replies_to<RunStep>::with<RunStepResult>,
    // Names a step that RunStep then runs in pieces. Its feeds and fetches may be given once each;
    // it ends when all are, with an error, or with DEADLINE_EXCEEDED when no call comes for long.
    // Fails: INVALID_ARGUMENT, NOT_FOUND for names.
    caf::replies_to<SetUpPartialRun>::with<PartialRunSetUp>,
    // Ends the step with CANCELLED, if it still runs or waits for its feeds or its graph.
    caf::reacts_to<CancelRun>, caf::replies_to<MakeCallable>::with<CallableMade>,
    caf::replies_to<RunCallable>::with<RunStepResult>,
    caf::replies_to<ReleaseCallable>::with<caf::ok_atom>,
    caf::replies_to<ListDevices>::with<DeviceList>, caf::replies_to<GetSteps>::with<StepList>,
    // Describes this one session.
    caf::replies_to<GetSessions>::with<SessionList>,
    caf::replies_to<ExplainGraph>::with<GraphExplained>,
    // Answers within twice the explain budget, steps that end meanwhile left out. A step that does
    // not run is told in a remark.
    caf::replies_to<ExplainStep>::with<StepsExplained>,
    // Cancels running steps, frees the workers, answers, ends.
    caf::replies_to<CloseSession>::with<caf::ok_atom>,
    // The client lives; the answer tells it that we do.
    caf::replies_to<RenewLease>::with<caf::ok_atom>,
    // A task's part of the session is still wanted. Fails: ABORTED for a task that was given up, or
    // when the session is closing.
    caf::replies_to<ConfirmLease>::with<caf::ok_atom>,
    // A worker is gone: fails the steps that run there.
    caf::reacts_to<PeerLost>,
    // Of its steps: handed on. PartRun says how a part has ended, as RunGraph is answered.
    caf::reacts_to<RunPart>, caf::reacts_to<CancelPart>, caf::reacts_to<CleanupPart>,
    caf::reacts_to<StepFetched>, caf::reacts_to<StepFinished>, caf::reacts_to<SendCleanups>,
    // Internal: leases.
    caf::reacts_to<CheckLeases>,
    // Internal: a step's deadline may have passed.
    caf::reacts_to<EndLateSteps>,
    // Internal.
    caf::reacts_to<GraphParsed>, caf::reacts_to<ClientGraphBuilt>,
    caf::reacts_to<DebugNoteWritten>>;

} // namespace troupe
