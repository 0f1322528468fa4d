// The half of the MASTER that makes a session again after a fault has ended its master session.
#pragma once

#include <memory>
#include <vector>

#include "actors/master/ask_task.hpp"
#include "actors/master_session/master_session.hpp"

namespace troupe {

/// A master session of this record, watched, as a child of the master.
MasterSessionActor spawn_session(MasterSelf self, const MasterParts& parts, SessionRecord record,
                                 std::vector<SessionWorker> workers,
                                 std::shared_ptr<DirectSteps> direct);
/// If it was one of the sessions: forgets it, or begins to make it again.
void session_ended(MasterSelf self, const MasterParts& parts, const caf::down_msg& down);
/// Sessions that are being made again are not wanted any more; who waits for one is told why.
void give_up_remakes(MasterSelf self, const MasterParts& parts, const Status& why);
/// Waits for one that is being made again.
caf::result<SessionCreated> find_session(MasterSelf self, const std::string& handle);
std::vector<MasterSessionActor> living_sessions(const MasterState& state);

} // namespace troupe
