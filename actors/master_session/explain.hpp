// Why the steps of a MASTER SESSION go on.
#pragma once

#include "actors/master_session/runs.hpp"

namespace troupe {

/// Asks the running steps, the longest first; steps that end meanwhile are left out. Runs that wait
/// for their graph, and a step that does not run, are told in remarks.
caf::result<StepsExplained> explain_steps(MasterSessionSelf self, const MasterSessionParts& parts,
                                          const ExplainStep& request);

} // namespace troupe
