// The session: a client's end.
#pragma once

#include <caf/typed_actor.hpp>

namespace troupe {

struct CallableMade;
struct CancelRun;
struct CheckLeases;
struct CloseSession;
struct DeviceList;
struct EndLateSteps;
struct ExplainGraph;
struct ExplainStep;
struct ExtendGraph;
struct GetSteps;
struct GraphExplained;
struct GraphExtended;
struct ListDevices;
struct MakeCallable;
struct OpenSession;
struct PartialRunSetUp;
struct ReleaseCallable;
struct RenewLease;
struct RunCallable;
struct RunStep;
struct RunStepResult;
struct SessionEnded;
struct SessionCreated;
struct SetUpPartialRun;
struct StepList;
struct StepsExplained;

/// The client's own requests to its session take RunStep, ExtendGraph, … unchanged: only large
/// tensors are put up for pulling on the way out and fetched on the way in.
///
/// The SESSION: a client's end of a master session.
///
///   new ──OpenSession──▶ opening ──ok──▶ open ──CloseSession / master lost──▶ closed
///                           └──error──▶ closed
///
/// When a fault has ended the master session, and the master lives, requests that were under way
/// end ABORTED, which says that the session goes on; new ones wait until the master has made it
/// again, or for their time.
///
/// In `closed` every request is answered at once: FAILED_PRECONDITION after a close; after a loss
/// UNAVAILABLE with the reason, and ABORTED once the master has been found again, which knows
/// nothing of the session.
using SessionActor = caf::typed_actor<
    // Fails as CreateSession, or UNAVAILABLE when the master does not answer.
    caf::replies_to<OpenSession>::with<SessionCreated>,
    caf::replies_to<ExtendGraph>::with<GraphExtended>,
    caf::replies_to<RunStep>::with<RunStepResult>, caf::reacts_to<CancelRun>,
    caf::replies_to<SetUpPartialRun>::with<PartialRunSetUp>,
    caf::replies_to<MakeCallable>::with<CallableMade>,
    caf::replies_to<RunCallable>::with<RunStepResult>,
    caf::replies_to<ReleaseCallable>::with<caf::ok_atom>,
    caf::replies_to<ListDevices>::with<DeviceList>, caf::replies_to<GetSteps>::with<StepList>,
    caf::replies_to<ExplainGraph>::with<GraphExplained>,
    caf::replies_to<ExplainStep>::with<StepsExplained>,
    caf::replies_to<CloseSession>::with<caf::ok_atom>,
    // The master lives.
    caf::reacts_to<RenewLease>,
    // The master gives the session up.
    caf::replies_to<SessionEnded>::with<caf::ok_atom>,
    // Internal: renews the lease.
    caf::reacts_to<CheckLeases>,
    // Internal: the time of a request that waits for the master session may be over.
    caf::reacts_to<EndLateSteps>>;

} // namespace troupe
