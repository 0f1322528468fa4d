// How a MASTER SESSION's graph grows: parsed and checked on a compute thread, one addition after
// the other.
#pragma once

#include "actors/master_session/runs.hpp"

namespace troupe {

/// Answers once the nodes are in the session's graph. What needs the graph and comes later waits
/// for it; everything else goes on.
caf::result<GraphExtended> extend_graph(MasterSessionSelf self, const MasterSessionParts& parts,
                                        ExtendGraph& request);
/// An addition came back from its compute thread.
void graph_parsed(MasterSessionSelf self, const MasterSessionParts& parts, GraphParsed& parsed);

} // namespace troupe
