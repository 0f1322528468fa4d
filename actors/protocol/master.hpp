// The master: it finds devices and owns sessions.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct CreateSession;
struct DeviceList;
struct FindSession;
struct GetSessions;
struct ListDevices;
struct RenewOpening;
struct ResetContainers;
struct SessionChanged;
struct SessionCreated;
struct SessionList;

/// The MASTER: any task may be one for its clients.
/// Drain: Refuses new sessions and steps; answers when no step runs in any session.
using MasterActor = DrainActor::extend<
    // Reaches every worker that the filters admit and makes a worker session on each. Fails:
    // UNAVAILABLE naming each task that cannot be reached within the client's time, with the
    // reason; at once when one ends under the request; INVALID_ARGUMENT for a filter or graph that
    // is wrong.
    caf::replies_to<CreateSession>::with<SessionCreated>,
    // Of the tasks that answer before silent ones have been judged.
    caf::replies_to<ListDevices>::with<DeviceList>,
    // Fails: UNAVAILABLE naming a task that was not reached in time; the others are cleared.
    caf::replies_to<ResetContainers>::with<caf::ok_atom>,
    caf::replies_to<GetSessions>::with<SessionList>,
    // Of a session whose actor has ended by a fault: answers once it was made again. Fails: ABORTED
    // "Session … is not found.", with the reason where it is known.
    caf::replies_to<FindSession>::with<SessionCreated>,
    // Of its sessions: what one of them is made again from. Before the answer that tells of the
    // change.
    caf::reacts_to<SessionChanged>,
    // Of itself.
    caf::reacts_to<RenewOpening>>;

} // namespace troupe
