// The worker: what one task can do for any master.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct ClearContainers;
struct CollectivesFound;
struct CreateWorkerSession;
struct DeleteWorkerSession;
struct FindCollectives;
struct FindWorkerSession;
struct GetWorkerStatus;
struct WorkerSessionCreated;
struct WorkerStatus;

/// The WORKER: lends the task's devices to sessions.
/// Drain: Refuses new sessions and steps; answers when no step runs in any session.
using WorkerActor = DrainActor::extend<
    caf::replies_to<GetWorkerStatus>::with<WorkerStatus>,
    // Asked again by the same master, it answers with the session that is there. Fails:
    // ALREADY_EXISTS for a handle in use.
    caf::replies_to<CreateWorkerSession>::with<WorkerSessionCreated>,
    // Cancels its steps and frees everything; answers when done. Unknown handles are fine.
    caf::replies_to<DeleteWorkerSession>::with<caf::ok_atom>,
    // Fails: ABORTED "Session handle is not found: … Possibly this worker just restarted."
    caf::replies_to<FindWorkerSession>::with<WorkerSessionCreated>,
    caf::replies_to<ClearContainers>::with<caf::ok_atom>,
    caf::replies_to<FindCollectives>::with<CollectivesFound>>;

} // namespace troupe
