// The part of the MASTER SESSION that runs steps in pieces.
#pragma once

#include "actors/master_session/runs.hpp"

namespace troupe {

caf::result<PartialRunSetUp> set_up_partial_run(MasterSessionSelf self,
                                                const MasterSessionParts& parts,
                                                SetUpPartialRun& request);
/// A call of one that was set up: RunStep with its handle.
caf::result<RunStepResult> run_partially(MasterSessionSelf self, const MasterSessionParts& parts,
                                         RunStep& request);
/// Whether its step is to begin: it has not failed while it waited for its graph.
bool is_wanted(MasterSessionSelf self, std::uint64_t step_id);
/// Its step runs from now on: it is given the feeds that have come.
void partial_step_began(MasterSessionSelf self, const RunningStep& running);
void step_fetched(MasterSessionSelf self, const MasterSessionParts& parts, StepFetched& fetched);
/// Its step is over, or could not begin; `error` is none if all went well.
void partial_step_ended(MasterSessionSelf self, const MasterSessionParts& parts,
                        std::uint64_t step_id, const caf::error& error);
/// The call of this request id that waits; null: there is none.
PartialCall* find_partial_call(MasterSessionSelf self, std::uint64_t request_id);
/// Ends the partial run whose call has this request id; false if there is none.
bool cancel_partial_run(MasterSessionSelf self, const MasterSessionParts& parts,
                        std::uint64_t request_id);
/// Ends those whose call takes too long, or whose next one does not come. When the next one is due;
/// 0: none.
std::int64_t end_late_partial_runs(MasterSessionSelf self, const MasterSessionParts& parts,
                                   std::int64_t now_us);
void end_partial_runs(MasterSessionSelf self, const MasterSessionParts& parts, const Status& why);

} // namespace troupe
