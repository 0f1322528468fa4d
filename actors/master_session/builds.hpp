// The part of the MASTER SESSION that makes client graphs: build on a compute thread, register with
// every task, once for each signature.
#pragma once

#include "actors/master_session/runs.hpp"

namespace troupe {

/// Begins the next build, unless one is under way or the session's graph is being extended.
void build_next(MasterSessionSelf self, const MasterSessionParts& parts);
/// Nobody waits for the graph under way: its build need not go on.
void stop_unwanted_build(MasterSessionState& state);
/// The task is lost: graphs that it was asked to register fail.
void lose_registering(MasterSessionSelf self, const MasterSessionParts& parts,
                      const std::string& task);
/// The session's graph is not being extended any more: what waits for it may go on.
void graph_is_settled(MasterSessionSelf self, const MasterSessionParts& parts);
/// A client graph came back from its compute thread.
void client_graph_built(MasterSessionSelf self, const MasterSessionParts& parts,
                        ClientGraphBuilt& built);

} // namespace troupe
