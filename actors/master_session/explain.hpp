// What a MASTER SESSION tells of itself: why its steps go on, and where its graph's nodes are.
#pragma once

#include "actors/master_session/runs.hpp"

namespace troupe {

/// Running steps, then the latest that have ended: those of its actors and of its callers' threads.
std::vector<StepInfo> known_steps(MasterSessionSelf self);

/// Asks the running steps, the longest first; steps that end meanwhile are left out. Runs that wait
/// for their graph, and a step that does not run, are told in remarks.
caf::result<StepsExplained> explain_steps(MasterSessionSelf self, const MasterSessionParts& parts,
                                          const ExplainStep& request);

/// Places and cuts the graph on a thread of its own. Asked while the graph is being extended, it
/// waits for that.
caf::result<GraphExplained> explain_graph(MasterSessionSelf self, const MasterSessionParts& parts,
                                          ExplainGraph& request);
/// Begins with those that have waited.
void start_explanations(MasterSessionSelf self, const MasterSessionParts& parts);

} // namespace troupe
