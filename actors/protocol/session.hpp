// The family of a client: the session behind the C++ API.
#pragma once

#include <caf/typed_actor.hpp>

#include "actors/protocol/master.hpp"

namespace troupe {

/// Connects to a master and makes a session there.
struct OpenSession {
  caf::strong_actor_ptr guardian; ///< GuardianActor of the master's node, dialled by the caller;
                                  ///< null: the master in this process
  CreateSession request;
  std::int64_t timeout_us = 0;
};
/// The client's own requests to its session take RunStep, ExtendGraph, … unchanged: only large
/// tensors are put up for pulling on the way out and fetched on the way in.
///
/// The SESSION: a client's end of a master session.
///
///   new ──OpenSession──▶ opening ──ok──▶ open ──CloseSession / master lost──▶ closed
///                           └──error──▶ closed
///
/// In `closed` every request is answered at once: FAILED_PRECONDITION after a close, ABORTED (once
/// UNAVAILABLE with the reason) after a loss.
using SessionActor = caf::typed_actor<
    // Fails as CreateSession, or UNAVAILABLE when the master does not answer.
    caf::replies_to<OpenSession>::with<SessionCreated>,
    caf::replies_to<ExtendGraph>::with<GraphExtended>,
    caf::replies_to<RunStep>::with<RunStepResult>, caf::reacts_to<CancelRun>,
    caf::replies_to<MakeCallable>::with<CallableMade>,
    caf::replies_to<RunCallable>::with<RunStepResult>,
    caf::replies_to<ReleaseCallable>::with<caf::ok_atom>,
    caf::replies_to<ListDevices>::with<DeviceList>, caf::replies_to<GetSteps>::with<StepList>,
    caf::replies_to<ExplainGraph>::with<GraphExplained>,
    caf::replies_to<ExplainStep>::with<StepsExplained>,
    caf::replies_to<CloseSession>::with<caf::ok_atom>,
    // The master lives.
    caf::reacts_to<RenewLease>,
    // Internal: renews the lease.
    caf::reacts_to<caf::tick_atom>>;

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_session, troupe::type_block::session)
TROUPE_LOCAL_MESSAGE(troupe_session, OpenSession)
CAF_END_TYPE_ID_BLOCK(troupe_session)
