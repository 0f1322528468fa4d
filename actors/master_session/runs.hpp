// The part of the MASTER SESSION that runs steps: bind, wait for feeds and graph, start, answer.
#pragma once

#include "actors/master_session/master_session.hpp"

namespace troupe {

using MasterSessionSelf = MasterSessionActor::stateful_pointer<MasterSessionState>;

std::uint64_t new_step_id();
/// Whoever has sent the request at hand.
Client client_of(MasterSessionSelf self);
void deliver(MasterSessionSelf self, const MasterSessionParts& parts, StepOutcome outcome,
             Client& client);
/// Its feeds are there: starts it, or has its graph built.
void admit(MasterSessionSelf self, const MasterSessionParts& parts, WaitingRun run);
/// A client that may not have got a large answer has so long to ask for it again.
void keep_large_answers_for_a_while(MasterSessionSelf self);
/// It ends before it has begun.
void refuse_run(MasterSessionSelf self, const MasterSessionParts& parts, WaitingRun& run,
                const Status& why);
Status feed_lost(const MasterSessionParts& parts, const Status& why);
/// The dtype and shape of the graph's feed `i`. `may_be_handle`: what the session keeps under a
/// handle may be fed by that.
Status check_feed(const ClientGraph& graph, std::size_t i, const Tensor& feed,
                  bool may_be_handle = false);
/// The timeout (µs; 0: none) of a run that came with `wanted_us`, else the session's.
std::int64_t timeout_of(const MasterSessionParts& parts, const MasterSessionState& state,
                        std::int64_t wanted_us);
/// end_late_steps is called at that time; 0: for this one at no time.
void look_at(MasterSessionSelf self, std::int64_t due_us);
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
