// What a task says about a step that has not ended.
#pragma once

#include "actors/worker_session/worker_session.hpp"

namespace troupe {

/// Asks the graph manager and the step's rendezvous; answers with what has come within three
/// eighths of the explain budget.
caf::result<TaskRecord> explain_part(WorkerSessionActor::stateful_pointer<WorkerSessionState> self,
                                     const Services& services, std::uint64_t step_id);

} // namespace troupe
