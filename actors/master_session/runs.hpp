// The part of the MASTER SESSION that runs steps: bind, wait for feeds and graph, start, answer.
#pragma once

#include "actors/master_session/master_session.hpp"

namespace troupe {

using MasterSessionSelf = MasterSessionActor::stateful_pointer<MasterSessionState>;

/// The record has changed: the master is told, before anybody who may rely on the change.
void keep_record(MasterSessionSelf self, const MasterSessionParts& parts);
caf::result<RunStepResult> run_step(MasterSessionSelf self, const MasterSessionParts& parts,
                                    RunStep& request);
caf::result<RunStepResult> run_callable(MasterSessionSelf self, const MasterSessionParts& parts,
                                        RunCallable& request);
/// The graph that these runs waited for is registered everywhere, or cannot be.
void graph_is_ready(MasterSessionSelf self, const MasterSessionParts& parts,
                    std::vector<WaitingRun>& runs, const Status& status);
void step_finished(MasterSessionSelf self, const MasterSessionParts& parts, StepFinished& finished);
/// If it was one of its steps that has ended, by a kill say, its run fails; what ends in order has
/// said so before.
void step_lost(MasterSessionSelf self, const MasterSessionParts& parts, const caf::down_msg& down);
/// The task is lost: runs that wait for their graph and are known to need the task fail.
void lose_waiting(MasterSessionSelf self, const MasterSessionParts& parts, const std::string& task);
/// Asks whether lost tasks are there again; of one that a dial is under way to only once.
void look_for_lost_tasks(MasterSessionSelf self, const MasterSessionParts& parts);
/// Ends the runs whose deadline has passed, whatever they wait for.
void end_late_steps(MasterSessionSelf self, const MasterSessionParts& parts);
Counter& running_master_steps();
/// Ends the run of this request id with CANCELLED, whatever it waits for; nothing if there is none.
void cancel_run(MasterSessionSelf self, const MasterSessionParts& parts, std::uint64_t request_id);
/// Refuses new steps, ends running ones if asked to; answers when none is left.
caf::result<caf::ok_atom> drain(MasterSessionSelf self, const MasterSessionParts& parts,
                                const Drain& request);

} // namespace troupe
