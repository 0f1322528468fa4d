// What clients send: sessions, graphs, steps, and questions why a step goes on.
#pragma once

#include <utility>

#include "actors/protocol/master_session.hpp"
#include "actors/protocol/session_settings.hpp"
#include "actors/protocol/wire/worker.hpp"
#include "graph/passes/prune.hpp"

namespace troupe {

struct BegunStep;
class DirectSteps;
struct DirectGraph;

struct CreateSession {
  SessionSettings settings;
  std::string graph_def; ///< serialised, may be empty
  std::int64_t timeout_us =
      0; ///< how long the client waits; 0: until silent tasks have been judged
};
struct SessionCreated {
  std::string session_handle;
  MasterSessionActor session;
  std::int64_t graph_version = 0;
  std::vector<DeviceAttributes> devices; ///< that the session may use
  /// Within one process: where the callers' threads run steps themselves. Does not travel.
  std::shared_ptr<DirectSteps> direct = nullptr;
};
struct ListDevices {};
struct DeviceList {
  std::vector<DeviceAttributes> devices;
};
/// Clears containers on every worker and closes every session of this master. None: the default
/// containers.
struct ResetContainers {
  std::vector<std::string> containers;
  std::int64_t timeout_us = 0; ///< as in CreateSession
};
/// A session, for people.
struct SessionInfo {
  std::string session_handle;
  std::int64_t nodes = 0;
  std::int64_t client_graphs = 0;
  std::int64_t running_steps = 0;
  std::int64_t finished_steps = 0;
  std::int64_t age_us = 0;
};
struct GetSessions {};
struct SessionList {
  std::vector<SessionInfo> sessions;
};
/// Finds a session by its handle, for a prompt that watches somebody else's.
struct FindSession {
  std::string session_handle;
};
/// Adds nodes to the session's graph.
struct ExtendGraph {
  std::string graph_def;
  std::int64_t current_version = -1; ///< must be the session's, unless negative
  bool begins = false; ///< with this graph a session begins: its version stays 0. Does not travel
};
struct GraphExtended {
  std::int64_t graph_version = 0;
};
/// One run of one signature.
struct RunStep {
  std::vector<std::pair<std::string, WireTensor>> feeds; ///< "name:slot"
  std::vector<std::string> fetches; ///< "name:slot", in the order of the answer
  std::vector<std::string> targets; ///< node names
  std::int64_t timeout_us = 0;      ///< 0: the session's
  bool trace = false;
  bool partition_graphs = false;   ///< also answer with what each device ran
  bool report_allocations = false; ///< if memory runs out, say what the step has
  DebugOptions debug = {};         ///< tensors to be watched, and what stands with them
  std::uint64_t request_id =
      0; ///< names this step for cancelling and for sending it again; 0: neither
  /// Of a step that was set up: some of its feeds and fetches. No targets, nothing to be recorded.
  std::string partial_run_handle;
  /// Of a gateway's client, does not travel: it may lose the answer, however large that is, and
  /// come again.
  bool may_come_again = false;
  /// Within one process, do not travel: the caller would run the next step itself; and the step has
  /// been begun by its caller, so there are no feeds and no names, but of a request id.
  bool wants_direct = false;
  std::shared_ptr<BegunStep> begun = nullptr;
};
/// A step whose feeds and fetches will come in several calls; it begins with the first.
struct SetUpPartialRun {
  std::vector<std::string> feeds;
  std::vector<std::string> fetches;
  std::vector<std::string> targets;
};
struct PartialRunSetUp {
  std::string handle;
};
struct RunMetadataMessage {
  std::vector<DeviceStats> stats;
  std::vector<std::string> partition_graphs; ///< serialised GraphDefs
  std::vector<CostNode> costs; ///< of all tasks, as ids count; none: no cost model was due
};
struct RunStepResult {
  std::vector<WireTensor> tensors; ///< in the order of fetches
  std::uint64_t step_id = 0;
  RunMetadataMessage metadata;
  std::shared_ptr<const DirectGraph> direct = nullptr; ///< if wanted and possible; does not travel
};
struct CancelRun {
  std::uint64_t request_id = 0;
};
/// A signature, to be run many times.
struct MakeCallable {
  std::vector<std::string> feeds;
  std::vector<std::string> fetches;
  std::vector<std::string> targets;
  std::vector<TensorConnection> connections = {};
  std::vector<DebugWatch> watches = {};
  bool partition_graphs = false; ///< each run answers with what each device ran
};
struct CallableMade {
  std::uint64_t handle = 0;
};
struct RunCallable {
  std::uint64_t handle = 0;
  std::vector<WireTensor> feeds; ///< in the order of MakeCallable
  std::int64_t timeout_us = 0;
  bool trace = false;
  bool report_allocations = false;
  std::uint64_t request_id = 0;
  bool may_come_again = false; ///< as in RunStep
  bool wants_direct = false;   ///< as in RunStep
};
struct ReleaseCallable {
  std::uint64_t handle = 0;
};
struct CloseSession {};
/// A master ends the session for a reason that its client cannot see; so much that the connection
/// may be closed next.
struct SessionEnded {
  StatusMessage status;
};
/// Asks what a session's graph looks like after placement, or cut up for one signature.
struct ExplainGraph {
  std::vector<std::string> feeds;
  std::vector<std::string> fetches;
  std::vector<std::string> targets;
};
struct GraphExplained {
  std::vector<std::pair<std::string, std::string>> placement;  ///< node → device, in graph order
  std::vector<std::pair<std::string, std::string>> partitions; ///< task → text graph
};
/// A running or recent step, for people.
struct StepInfo {
  std::uint64_t step_id = 0;
  std::string signature;
  std::string state;         ///< "running", "done", or the error's code
  std::int64_t start_us = 0; ///< since 1970
  std::int64_t duration_us = 0;
  std::vector<std::string> waiting_for; ///< tasks whose part has not ended
};
struct GetSteps {};
struct StepList {
  std::vector<StepInfo> steps;
};
/// Asks why steps go on for so long. 0: every running step of the session.
struct ExplainStep {
  std::uint64_t step_id = 0;
};
/// Why one step has not ended.
struct StepExplained {
  std::uint64_t step_id = 0;
  std::string signature;
  std::int64_t running_us = 0;
  std::vector<std::string> tree; ///< lines; the last one is the cause
  std::string cause;             ///< a clause: "waiting for 'a:0' from … : its op …"
};
struct StepsExplained {
  std::vector<StepExplained> steps; ///< the longest running ones
  std::vector<std::string> remarks; ///< "step 7 has ended: done", "2 runs wait for their graph …"
};

// How they travel.

template <class F>
typename F::result_type inspect(F& f, SessionSettings& x) {
  return f(caf::meta::type_name("SessionSettings"), x.device_filters, x.allow_soft_placement,
           x.log_device_placement, x.isolate_session_state, x.optimize, x.disabled_passes,
           x.enabled_passes, x.infer_shapes, x.place_pruned, x.bfloat16_sendrecv, x.recv_scheduling,
           x.static_graph, x.hides_partition_graphs, x.any_feed_shape, x.cost_model_every,
           x.cost_model_after, x.timeline_every, x.operation_timeout_us, x.lease_us);
}
template <class F>
typename F::result_type inspect(F& f, CreateSession& x) {
  return f(caf::meta::type_name("CreateSession"), x.settings, x.graph_def, x.timeout_us);
}
template <class F>
typename F::result_type inspect(F& f, SessionCreated& x) {
  return f(caf::meta::type_name("SessionCreated"), x.session_handle, x.session, x.graph_version,
           x.devices);
}
template <class F>
typename F::result_type inspect(F& f, ListDevices&) {
  return f(caf::meta::type_name("ListDevices"));
}
template <class F>
typename F::result_type inspect(F& f, DeviceList& x) {
  return f(caf::meta::type_name("DeviceList"), x.devices);
}
template <class F>
typename F::result_type inspect(F& f, ResetContainers& x) {
  return f(caf::meta::type_name("ResetContainers"), x.containers, x.timeout_us);
}
template <class F>
typename F::result_type inspect(F& f, SessionInfo& x) {
  return f(caf::meta::type_name("SessionInfo"), x.session_handle, x.nodes, x.client_graphs,
           x.running_steps, x.finished_steps, x.age_us);
}
template <class F>
typename F::result_type inspect(F& f, GetSessions&) {
  return f(caf::meta::type_name("GetSessions"));
}
template <class F>
typename F::result_type inspect(F& f, SessionList& x) {
  return f(caf::meta::type_name("SessionList"), x.sessions);
}
template <class F>
typename F::result_type inspect(F& f, FindSession& x) {
  return f(caf::meta::type_name("FindSession"), x.session_handle);
}
template <class F>
typename F::result_type inspect(F& f, ExtendGraph& x) {
  return f(caf::meta::type_name("ExtendGraph"), x.graph_def, x.current_version);
}
template <class F>
typename F::result_type inspect(F& f, GraphExtended& x) {
  return f(caf::meta::type_name("GraphExtended"), x.graph_version);
}
template <class F>
typename F::result_type inspect(F& f, DebugOptions& x) {
  return f(caf::meta::type_name("DebugOptions"), x.watches, x.global_step, x.reset_disk_usage);
}
template <class F>
typename F::result_type inspect(F& f, TensorConnection& x) {
  return f(caf::meta::type_name("TensorConnection"), x.from, x.to);
}
template <class F>
typename F::result_type inspect(F& f, RunStep& x) {
  return f(caf::meta::type_name("RunStep"), x.feeds, x.fetches, x.targets, x.timeout_us, x.trace,
           x.partition_graphs, x.report_allocations, x.debug, x.request_id, x.partial_run_handle);
}
template <class F>
typename F::result_type inspect(F& f, SetUpPartialRun& x) {
  return f(caf::meta::type_name("SetUpPartialRun"), x.feeds, x.fetches, x.targets);
}
template <class F>
typename F::result_type inspect(F& f, PartialRunSetUp& x) {
  return f(caf::meta::type_name("PartialRunSetUp"), x.handle);
}
template <class F>
typename F::result_type inspect(F& f, RunMetadataMessage& x) {
  return f(caf::meta::type_name("RunMetadataMessage"), x.stats, x.partition_graphs, x.costs);
}
template <class F>
typename F::result_type inspect(F& f, RunStepResult& x) {
  return f(caf::meta::type_name("RunStepResult"), x.tensors, x.step_id, x.metadata);
}
template <class F>
typename F::result_type inspect(F& f, CancelRun& x) {
  return f(caf::meta::type_name("CancelRun"), x.request_id);
}
template <class F>
typename F::result_type inspect(F& f, MakeCallable& x) {
  return f(caf::meta::type_name("MakeCallable"), x.feeds, x.fetches, x.targets, x.connections,
           x.watches, x.partition_graphs);
}
template <class F>
typename F::result_type inspect(F& f, CallableMade& x) {
  return f(caf::meta::type_name("CallableMade"), x.handle);
}
template <class F>
typename F::result_type inspect(F& f, RunCallable& x) {
  return f(caf::meta::type_name("RunCallable"), x.handle, x.feeds, x.timeout_us, x.trace,
           x.report_allocations, x.request_id);
}
template <class F>
typename F::result_type inspect(F& f, ReleaseCallable& x) {
  return f(caf::meta::type_name("ReleaseCallable"), x.handle);
}
template <class F>
typename F::result_type inspect(F& f, CloseSession&) {
  return f(caf::meta::type_name("CloseSession"));
}
template <class F>
typename F::result_type inspect(F& f, SessionEnded& x) {
  return f(caf::meta::type_name("SessionEnded"), x.status);
}
template <class F>
typename F::result_type inspect(F& f, ExplainGraph& x) {
  return f(caf::meta::type_name("ExplainGraph"), x.feeds, x.fetches, x.targets);
}
template <class F>
typename F::result_type inspect(F& f, GraphExplained& x) {
  return f(caf::meta::type_name("GraphExplained"), x.placement, x.partitions);
}
template <class F>
typename F::result_type inspect(F& f, StepInfo& x) {
  return f(caf::meta::type_name("StepInfo"), x.step_id, x.signature, x.state, x.start_us,
           x.duration_us, x.waiting_for);
}
template <class F>
typename F::result_type inspect(F& f, GetSteps&) {
  return f(caf::meta::type_name("GetSteps"));
}
template <class F>
typename F::result_type inspect(F& f, StepList& x) {
  return f(caf::meta::type_name("StepList"), x.steps);
}
template <class F>
typename F::result_type inspect(F& f, ExplainStep& x) {
  return f(caf::meta::type_name("ExplainStep"), x.step_id);
}
template <class F>
typename F::result_type inspect(F& f, StepExplained& x) {
  return f(caf::meta::type_name("StepExplained"), x.step_id, x.signature, x.running_us, x.tree,
           x.cause);
}
template <class F>
typename F::result_type inspect(F& f, StepsExplained& x) {
  return f(caf::meta::type_name("StepsExplained"), x.steps, x.remarks);
}

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_master, troupe::type_block::master)
TROUPE_MESSAGE(troupe_master, CreateSession)
TROUPE_MESSAGE(troupe_master, SessionCreated)
TROUPE_MESSAGE(troupe_master, ListDevices)
TROUPE_MESSAGE(troupe_master, DeviceList)
TROUPE_MESSAGE(troupe_master, ResetContainers)
TROUPE_MESSAGE(troupe_master, GetSessions)
TROUPE_MESSAGE(troupe_master, SessionList)
TROUPE_MESSAGE(troupe_master, FindSession)
TROUPE_MESSAGE(troupe_master, ExtendGraph)
TROUPE_MESSAGE(troupe_master, GraphExtended)
TROUPE_MESSAGE(troupe_master, RunStep)
TROUPE_MESSAGE(troupe_master, RunStepResult)
TROUPE_MESSAGE(troupe_master, CancelRun)
TROUPE_MESSAGE(troupe_master, MakeCallable)
TROUPE_MESSAGE(troupe_master, CallableMade)
TROUPE_MESSAGE(troupe_master, RunCallable)
TROUPE_MESSAGE(troupe_master, ReleaseCallable)
TROUPE_MESSAGE(troupe_master, CloseSession)
TROUPE_MESSAGE(troupe_master, ExplainGraph)
TROUPE_MESSAGE(troupe_master, GraphExplained)
TROUPE_MESSAGE(troupe_master, GetSteps)
TROUPE_MESSAGE(troupe_master, StepList)
TROUPE_MESSAGE(troupe_master, ExplainStep)
TROUPE_MESSAGE(troupe_master, StepsExplained)
TROUPE_MESSAGE(troupe_master, SessionEnded)
TROUPE_MESSAGE(troupe_master, SetUpPartialRun)
TROUPE_MESSAGE(troupe_master, PartialRunSetUp)
CAF_END_TYPE_ID_BLOCK(troupe_master)
