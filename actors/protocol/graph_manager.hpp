// The graph manager: compiled graphs of a worker session.
#pragma once

#include "actors/protocol/tree.hpp"

namespace troupe {

struct CancelStep;
struct DeregisterGraph;
struct DeviceRecords;
struct ExecuteGraph;
struct ExplainPart;
struct GraphCompiled;
struct GraphRegistered;
struct GraphRun;
struct PartExecuted;
struct RegisterGraph;
struct ResumeSession;

/// The GRAPH MANAGER: compiled graphs by handle, and the executors of running steps.
/// Drain: Refuses new steps, ends running ones if the drain says so.
using GraphManagerActor =
    DrainActor::extend<caf::replies_to<RegisterGraph>::with<GraphRegistered>,
                       caf::replies_to<DeregisterGraph>::with<caf::ok_atom>,
                       caf::replies_to<ExecuteGraph>::with<GraphRun>, caf::reacts_to<CancelStep>,
                       // Never fails: a device that is silent is listed as such.
                       caf::replies_to<ExplainPart>::with<DeviceRecords>,
                       // Forgets every graph, cancels every step; answers when none runs.
                       caf::replies_to<ResumeSession>::with<caf::ok_atom>,

                       // Of its executors.
                       caf::reacts_to<PartExecuted>,
                       // Internal.
                       caf::reacts_to<GraphCompiled>>;

} // namespace troupe
