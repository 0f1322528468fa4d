// The family of a master: it finds devices and owns sessions. Master, master session, step.
#pragma once

#include <caf/typed_actor.hpp>

#include "actors/protocol/node.hpp"
#include "actors/protocol/worker.hpp"

namespace troupe {

class Graph;
struct ClientGraphParts;
struct FetchName;
struct StepPlan;

// The master.

/// What a client may ask of a session; ConfigProto's fields that we know.
struct SessionSettings {
  std::vector<std::string>
      device_filters; ///< tasks to use: "/job:ps", "/job:worker/task:0"; none: all
  bool allow_soft_placement = true;
  bool log_device_placement = false;
  bool isolate_session_state = false;
  bool optimize = true;                     ///< graph rewriting
  std::vector<std::string> disabled_passes; ///< by name
  std::int64_t operation_timeout_us = 0;    ///< a step's default deadline; 0: the runtime's
  std::int64_t lease_us = 0; ///< the client promises a word within it; 0: for ever (same process)
};
struct CreateSession {
  SessionSettings settings;
  std::string graph_def; ///< serialised, may be empty
};
struct SessionCreated {
  std::string session_handle;
  caf::strong_actor_ptr session; ///< MasterSessionActor
  std::int64_t graph_version = 0;
  std::vector<DeviceAttributes> devices; ///< that the session may use
};
struct ListDevices {};
struct DeviceList {
  std::vector<DeviceAttributes> devices;
};
/// Clears containers on every worker and closes every session of this master. None: the default
/// containers.
struct ResetContainers {
  std::vector<std::string> containers;
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

/// The MASTER: any task may be one for its clients.
using MasterActor = caf::typed_actor<
    // Reaches every worker that the filters admit and makes a worker session on each. Fails:
    // UNAVAILABLE naming each task that cannot be reached within the deadline; INVALID_ARGUMENT for
    // a filter or graph that is wrong.
    caf::replies_to<CreateSession>::with<SessionCreated>,
    caf::replies_to<ListDevices>::with<DeviceList>,
    caf::replies_to<ResetContainers>::with<caf::ok_atom>,
    caf::replies_to<GetSessions>::with<SessionList>,
    // Fails: ABORTED "Session … is not found."
    caf::replies_to<FindSession>::with<SessionCreated>,
    // Local. Refuses new sessions and steps; answers when no step runs in any session.
    caf::replies_to<Drain>::with<caf::ok_atom>, caf::replies_to<GetActors>::with<ActorTree>>;

// The master session.

/// Adds nodes to the session's graph.
struct ExtendGraph {
  std::string graph_def;
  std::int64_t current_version = -1; ///< must be the session's, unless negative
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
  bool partition_graphs = false; ///< also answer with what each device ran
  std::uint64_t request_id =
      0; ///< names this step for cancelling and for sending it again; 0: neither
};
struct RunMetadataMessage {
  std::vector<DeviceStats> stats;
  std::vector<std::string> partition_graphs; ///< serialised GraphDefs
};
struct RunStepResult {
  std::vector<WireTensor> tensors; ///< in the order of fetches
  std::uint64_t step_id = 0;
  RunMetadataMessage metadata;
};
struct CancelRun {
  std::uint64_t request_id = 0;
};
/// A signature, to be run many times.
struct MakeCallable {
  std::vector<std::string> feeds;
  std::vector<std::string> fetches;
  std::vector<std::string> targets;
};
struct CallableMade {
  std::uint64_t handle = 0;
};
struct RunCallable {
  std::uint64_t handle = 0;
  std::vector<WireTensor> feeds; ///< in the order of MakeCallable
  std::int64_t timeout_us = 0;
  bool trace = false;
  std::uint64_t request_id = 0;
};
struct ReleaseCallable {
  std::uint64_t handle = 0;
};
struct CloseSession {};
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

/// A compute thread has added nodes to a copy of the session's graph. Local only.
struct GraphParsed {
  std::uint64_t ticket = 0;
  std::shared_ptr<const Graph> graph; ///< null: see status
  Status status;
};

/// A step's word to a part on another node goes by way of its master session, which is known there;
/// CAF would make a proxy of each step's actor, at the price of two messages. In the order in which
/// they come. Local only.
struct RunPart {
  caf::strong_actor_ptr part; ///< WorkerSessionActor
  std::size_t index = 0;      ///< of the part; comes back in PartRun
  RunGraph run;
};
/// How it ended. Local only.
struct PartRun {
  std::uint64_t step_id = 0;
  std::size_t index = 0;
  GraphRun run;
  caf::error error; ///< none: it ended well
};
struct CancelPart {
  caf::strong_actor_ptr part;
  CancelStep cancel;
};
/// After a step that has ended well nothing is left there but an empty rendezvous: the part may be
/// told with the next RunGraph that goes there, or in a while.
struct CleanupPart {
  caf::strong_actor_ptr part;
  std::uint64_t step_id = 0;
  bool may_wait = false;
};
/// Internal: the parts that wait are told now. Local only.
struct SendCleanups {};

/// A compute thread has built a client graph. Local only.
struct ClientGraphBuilt {
  std::uint64_t ticket = 0;
  std::shared_ptr<ClientGraphParts> parts; ///< null: see status
  Status status;
};

/// One run of a client graph, for a step actor that runs none. Local: shares memory.
struct BeginStep {
  std::shared_ptr<const StepPlan> plan;
  std::uint64_t step_id = 0;
  std::vector<Tensor> feeds;                             ///< in the plan's order
  std::shared_ptr<const std::vector<FetchName>> fetches; ///< in the plan's order
  std::int64_t started_us = 0;                           ///< on the actors' clock
  std::int64_t timeout_us = 0;
  bool trace = false;
};
/// How it ended. Local: shares memory.
struct StepFinished {
  std::uint64_t step_id = 0;
  Status status;
  std::vector<Tensor> fetched; ///< in the plan's order
  std::vector<DeviceStats> stats;
  bool rests = false; ///< it takes another step now; else it has ended
};

/// The MASTER SESSION: a client's graph and its steps. Steps run concurrently; a signature is
/// compiled once.
using MasterSessionActor = caf::typed_actor<
    // Fails: ABORTED when another extend came first; INVALID_ARGUMENT / ALREADY_EXISTS naming the
    // node.
    caf::replies_to<ExtendGraph>::with<GraphExtended>,
    // Answers when the step has ended everywhere. A request id that is running is joined, one that
    // finished lately is answered again.
    caf::replies_to<RunStep>::with<RunStepResult>,
    // Ends the step with CANCELLED, if it still runs or waits for its feeds or its graph.
    caf::reacts_to<CancelRun>, caf::replies_to<MakeCallable>::with<CallableMade>,
    caf::replies_to<RunCallable>::with<RunStepResult>,
    caf::replies_to<ReleaseCallable>::with<caf::ok_atom>,
    caf::replies_to<ListDevices>::with<DeviceList>, caf::replies_to<GetSteps>::with<StepList>,
    // Describes this one session.
    caf::replies_to<GetSessions>::with<SessionList>,
    caf::replies_to<ExplainGraph>::with<GraphExplained>,
    // Answers within twice the explain budget, steps that end meanwhile left out. A step that does
    // not run is told in a remark.
    caf::replies_to<ExplainStep>::with<StepsExplained>,
    // Cancels running steps, frees the workers, answers, ends.
    caf::replies_to<CloseSession>::with<caf::ok_atom>,
    // The client lives; the answer tells it that we do.
    caf::replies_to<RenewLease>::with<caf::ok_atom>,
    // Local. Refuses new steps; answers when none runs. With an end, that is also what the client
    // is told of the session's end.
    caf::replies_to<Drain>::with<caf::ok_atom>,
    // A worker is gone: fails the steps that run there.
    caf::reacts_to<PeerLost>, caf::replies_to<GetActors>::with<ActorTree>,
    // Of its steps: handed on. PartRun says how a part has ended, as RunGraph is answered.
    caf::reacts_to<RunPart>, caf::reacts_to<CancelPart>, caf::reacts_to<CleanupPart>,
    caf::reacts_to<StepFinished>, caf::reacts_to<SendCleanups>,
    // Internal: leases.
    caf::reacts_to<caf::tick_atom>,
    // Internal: a step's deadline may have passed.
    caf::reacts_to<Continue>,
    // Internal.
    caf::reacts_to<GraphParsed>, caf::reacts_to<ClientGraphBuilt>>;

// The step.

/// The STEP: one run of a client graph over its tasks, at a time. Starts every part, collects, lets
/// the first error win, cancels the rest, sweeps.
///
///   resting ──BeginStep──▶ running ──ended well, nothing of it under way──▶ resting
///                             └──otherwise──▶ ended
using StepActor = caf::typed_actor<
    // Sends StepFinished to the sender, a master session that watches it, when every part has ended
    // or the deadline has passed.
    caf::reacts_to<BeginStep>,
    // A part on another node has ended.
    caf::reacts_to<PartRun>,
    // Ends the step with this status.
    caf::reacts_to<CancelExecutor>,
    // Asks every task that has not ended its part, for at most the explain budget. Fails: NOT_FOUND
    // when the step ends first.
    caf::replies_to<ExplainStep>::with<StepExplained>,
    // A task is gone.
    caf::reacts_to<PeerLost>, caf::replies_to<GetActors>::with<ActorTree>,
    // Of its master session: the deadline has passed.
    caf::reacts_to<Continue>,
    // Internal: cancelled parts have had their time to answer.
    caf::reacts_to<caf::tick_atom>>;

// How they travel.

template <class F>
typename F::result_type inspect(F& f, SessionSettings& x) {
  return f(caf::meta::type_name("SessionSettings"), x.device_filters, x.allow_soft_placement,
           x.log_device_placement, x.isolate_session_state, x.optimize, x.disabled_passes,
           x.operation_timeout_us, x.lease_us);
}
template <class F>
typename F::result_type inspect(F& f, CreateSession& x) {
  return f(caf::meta::type_name("CreateSession"), x.settings, x.graph_def);
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
  return f(caf::meta::type_name("ResetContainers"), x.containers);
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
typename F::result_type inspect(F& f, RunStep& x) {
  return f(caf::meta::type_name("RunStep"), x.feeds, x.fetches, x.targets, x.timeout_us, x.trace,
           x.partition_graphs, x.request_id);
}
template <class F>
typename F::result_type inspect(F& f, RunMetadataMessage& x) {
  return f(caf::meta::type_name("RunMetadataMessage"), x.stats, x.partition_graphs);
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
  return f(caf::meta::type_name("MakeCallable"), x.feeds, x.fetches, x.targets);
}
template <class F>
typename F::result_type inspect(F& f, CallableMade& x) {
  return f(caf::meta::type_name("CallableMade"), x.handle);
}
template <class F>
typename F::result_type inspect(F& f, RunCallable& x) {
  return f(caf::meta::type_name("RunCallable"), x.handle, x.feeds, x.timeout_us, x.trace,
           x.request_id);
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

// Never leaves the process.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::BeginStep)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::StepFinished)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ClientGraphBuilt)

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
TROUPE_LOCAL_MESSAGE(troupe_master, StepExplained)
TROUPE_MESSAGE(troupe_master, StepsExplained)
TROUPE_LOCAL_MESSAGE(troupe_master, GraphParsed)
TROUPE_LOCAL_MESSAGE(troupe_master, RunPart)
TROUPE_LOCAL_MESSAGE(troupe_master, CancelPart)
TROUPE_LOCAL_MESSAGE(troupe_master, CleanupPart)
TROUPE_LOCAL_MESSAGE(troupe_master, SendCleanups)
TROUPE_LOCAL_MESSAGE(troupe_master, PartRun)
CAF_END_TYPE_ID_BLOCK(troupe_master)
