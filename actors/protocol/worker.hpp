// The family of a worker: what one task can do for any master. Worker, worker session, graph
// manager, executor, rendezvous.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>

#include "actors/protocol/node.hpp"
#include "actors/protocol/step_records.hpp"
#include "core/trace/step_stats.hpp"

namespace troupe {

struct Completion;
struct CompiledGraph;
class Executable;
class Graph;

// The worker.

struct GetWorkerStatus {};
struct WorkerStatus {
  std::string task;
  std::vector<DeviceAttributes> devices;
};
/// Makes the worker's half of a session. `lease_us` without a word from the master ends it.
struct CreateWorkerSession {
  std::string session_handle;
  std::string master_task;   ///< "" for a master without task (a client's own)
  bool isolate = false;      ///< own variables instead of the task's
  std::int64_t lease_us = 0; ///< 0: for ever (master in the same process)
};
struct WorkerSessionCreated {
  caf::strong_actor_ptr session; ///< WorkerSessionActor
  std::vector<DeviceAttributes> devices;
};
struct DeleteWorkerSession {
  std::string session_handle;
};
struct FindWorkerSession {
  std::string session_handle;
};
/// Forgets the variables and other resources in these containers; none means the default one.
struct ClearContainers {
  std::vector<std::string> containers;
};

/// The WORKER: lends the task's devices to sessions.
using WorkerActor = caf::typed_actor<
    caf::replies_to<GetWorkerStatus>::with<WorkerStatus>,
    // Asked again by the same master, it answers with the session that is there. Fails:
    // ALREADY_EXISTS for a handle in use.
    caf::replies_to<CreateWorkerSession>::with<WorkerSessionCreated>,
    // Cancels its steps and frees everything; answers when done. Unknown handles are fine.
    caf::replies_to<DeleteWorkerSession>::with<caf::ok_atom>,
    // Fails: ABORTED "Session handle is not found: … Possibly this worker just restarted."
    caf::replies_to<FindWorkerSession>::with<WorkerSessionCreated>,
    caf::replies_to<ClearContainers>::with<caf::ok_atom>,
    // Local. Refuses new sessions and steps; answers when no step runs in any session.
    caf::replies_to<Drain>::with<caf::ok_atom>, caf::replies_to<GetActors>::with<ActorTree>>;

// The worker session.

/// Hands over this task's part of a client graph.
struct RegisterGraph {
  std::string graph_def; ///< serialised GraphDef; fed values are _Arg nodes, fetched ones _Retval
                         ///< nodes, by index
  std::vector<std::string> disabled_passes; ///< names of optimisation passes not to run
  bool optimize = true;
  /// Within one process, instead of `graph_def`; does not travel. Never written while it is shared:
  /// who holds it alone may take it.
  std::shared_ptr<Graph> graph = nullptr;
};
struct GraphRegistered {
  std::string graph_handle;
  bool has_cut_edges = false;    ///< its parts exchange values: a step needs a rendezvous
  bool has_remote_edges = false; ///< also with other tasks: the step must be cleaned up afterwards
  /// Within one process, for a graph without cut edges: the GraphManagerActor, which runs it
  /// without the session's help. Does not travel.
  caf::strong_actor_ptr manager = nullptr;
};
struct DeregisterGraph {
  std::string graph_handle;
};
/// Runs a registered graph once.
struct RunGraph {
  std::string graph_handle;
  std::uint64_t step_id = 0;
  std::vector<WireTensor> args;          ///< by _Arg index
  bool trace = false;                    ///< record each node
  std::vector<std::uint64_t> ended = {}; ///< earlier steps, to be forgotten first: as CleanupStep
};
struct GraphRun {
  std::vector<WireTensor> retvals; ///< by _Retval index
  std::vector<DeviceStats> stats;  ///< empty unless traced
};
/// Ends a step's executors and fails its rendezvous with `status`.
struct CancelStep {
  std::uint64_t step_id = 0;
  StatusMessage status;
};
/// Forgets steps that have ended everywhere: their rendezvous and values nobody took.
struct CleanupStep {
  std::vector<std::uint64_t> step_ids;
};
/// A peer asks for values of a step. From now on whatever its task receives in this step, in the
/// other ones that run and in later ones is sent to it as soon as it is there, without being asked
/// for again, until the connection to it is lost.
struct ReceiveTensors {
  std::uint64_t step_id = 0;
  std::vector<std::string> keys;
  caf::strong_actor_ptr receiver; ///< WorkerSessionActor of the asking worker
  std::string task;               ///< its task
};
/// The answer: the wish is noted. What has been sent before is in front of this answer on the same
/// connection, or lost with another one.
struct EdgesSent {
  std::vector<std::string> keys; ///< of those asked for: sent before
};
/// A value that crosses a cut edge between two tasks.
struct WireEdge {
  std::string key;
  WireTensor tensor; ///< a large one as a ticket: pulled when a kernel wants it
  bool is_dead = false;
};
/// Values of a step that a peer's rendezvous sends. They may come before the step has begun here,
/// and after it has ended.
struct EdgesArrived {
  std::uint64_t step_id = 0;
  std::vector<WireEdge> edges;
};
/// The step's rendezvous on `task` has ended before the step, and what it held with it.
struct EdgesLost {
  std::uint64_t step_id = 0;
  std::string task;
  StatusMessage status;
};
/// Keeps the session's lease from running out. Whoever has one with another says so by itself, not
/// by answers alone: an answer waits until the question has come through a slow link. The first is
/// sent before any long message can stand in its way.
struct RenewLease {};
/// Asks what a step still waits for here. What does not answer in time is said to be silent.
struct ExplainPart {
  std::uint64_t step_id = 0;
};
/// A graph manager's answer to ExplainPart; of an executor, with one device.
struct DeviceRecords {
  bool has_begun = false; ///< the step is known
  std::vector<DeviceRecord> devices;
};
/// A rendezvous' answer to ExplainPart.
struct EdgeRecords {
  std::vector<EdgeRecord> edges;
};
/// A worker session asks itself for the same session on another task. Answered from a cache after
/// the first time.
struct FindPeerSession {
  std::string task;
};
/// A rendezvous asks its own worker session for values of another task.
struct WantEdges {
  std::uint64_t step_id = 0;
  std::string task;
  std::vector<std::string> keys;
};

/// The WORKER SESSION: one master session's graphs and steps on one worker.
using WorkerSessionActor = caf::typed_actor<
    // Compiles on a compute thread. Fails: INVALID_ARGUMENT and others from compilation, naming the
    // node.
    caf::replies_to<RegisterGraph>::with<GraphRegistered>,
    caf::replies_to<DeregisterGraph>::with<caf::ok_atom>,
    // Answers when every device's part has ended. Fails with the step's first error; ABORTED for an
    // unknown graph handle.
    caf::replies_to<RunGraph>::with<GraphRun>, caf::reacts_to<CancelStep>,
    caf::reacts_to<CleanupStep>,
    // What its devices and its rendezvous say, within the explain budget. A step that is not known
    // here is no error.
    caf::replies_to<ExplainPart>::with<TaskRecord>,
    // A step not yet known here gets its rendezvous now, and loses it again if no RunGraph follows
    // within a minute. Fails: ABORTED for a step that has ended here, or whose rendezvous has.
    caf::replies_to<ReceiveTensors>::with<EdgesSent>,
    // Values for the step's rendezvous, which it gets now if it has none, as above. Dropped if the
    // step has ended here.
    caf::reacts_to<EdgesArrived>, caf::reacts_to<EdgesLost>, caf::reacts_to<RenewLease>,
    // Local. Fails: UNAVAILABLE when the task cannot be reached; ABORTED when it has no such
    // session.
    caf::replies_to<FindPeerSession>::with<WorkerSessionCreated>,
    // Local. The peer's answer; fails like FindPeerSession, or when the peer has ended.
    caf::replies_to<WantEdges>::with<EdgesSent>,
    // Local. Refuses new steps; answers when none runs and no peer waits for values of one.
    caf::replies_to<Drain>::with<caf::ok_atom>,
    // A task is gone: handed on to every step's rendezvous.
    caf::reacts_to<PeerLost>, caf::replies_to<GetActors>::with<ActorTree>,
    // Internal: leases.
    caf::reacts_to<caf::tick_atom>>;

// The graph manager.

/// RunGraph with what the session adds to it.
struct ExecuteGraph {
  RunGraph run;
  caf::strong_actor_ptr rendezvous; ///< RendezvousActor; null when the graph has no cut edges
  caf::strong_actor_ptr receiver = nullptr; ///< whom the values are for; null: in this process
};

/// A compute thread has compiled a graph. Local only.
struct GraphCompiled {
  std::uint64_t ticket = 0;
  std::shared_ptr<const CompiledGraph> graph; ///< null: see status
  Status status;
};

/// One device's part of a step, for an executor that runs none. Local: shares memory.
struct ExecutePart {
  std::shared_ptr<const Executable> executable;
  std::uint64_t step_id = 0;
  std::size_t index = 0;            ///< of the part; comes back in PartExecuted
  std::vector<Tensor> args;         ///< of the whole task, by _Arg index
  caf::strong_actor_ptr rendezvous; ///< RendezvousActor; null: no cut edges
  bool trace = false;
};
/// How it ended. Local: shares memory.
struct PartExecuted {
  std::uint64_t step_id = 0;
  std::size_t index = 0;
  Status status;
  std::vector<Tensor> retvals;    ///< in the order of Executable::retval_indices
  std::vector<DeviceStats> stats; ///< empty unless traced
  bool rests = false;             ///< it takes another part now; else it has ended
};

/// The GRAPH MANAGER: compiled graphs by handle, and the executors of running steps.
using GraphManagerActor =
    caf::typed_actor<caf::replies_to<RegisterGraph>::with<GraphRegistered>,
                     caf::replies_to<DeregisterGraph>::with<caf::ok_atom>,
                     caf::replies_to<ExecuteGraph>::with<GraphRun>, caf::reacts_to<CancelStep>,
                     // Refuses new steps, ends running ones if the drain says so.
                     caf::replies_to<Drain>::with<caf::ok_atom>,
                     // Never fails: a device that is silent is listed as such.
                     caf::replies_to<ExplainPart>::with<DeviceRecords>,
                     caf::replies_to<GetActors>::with<ActorTree>,
                     // Of its executors.
                     caf::reacts_to<PartExecuted>,
                     // Internal.
                     caf::reacts_to<GraphCompiled>>;

// The executor.

/// A kernel that ran elsewhere has finished. Local only.
struct KernelCompleted {
  std::shared_ptr<const Completion> completion;
};
/// A kernel's receive that has no answer yet (actors/executor/kernel_rendezvous.hpp).
class PendingReceive;
/// The answer to a kernel's receive: the executor gives it to `receive`. Local only.
struct EdgeTaken {
  std::shared_ptr<PendingReceive> receive;
  Status status;
  Tensor tensor;
  bool is_dead = false;
  std::string key;
  std::string transfer; ///< how it came from another node, for people; empty when it did not
};
struct Continue {};
struct CancelExecutor {
  StatusMessage status;
};

/// The EXECUTOR: runs one (step, device partition) at a time; owns its state alone.
///
///   resting ──ExecutePart──▶ running ──ended well──▶ resting
///                               └──error──▶ ended
using ExecutorActor = caf::typed_actor<
    // Sends PartExecuted to the sender, a graph manager that watches it, when the part has ended,
    // well or not.
    caf::reacts_to<ExecutePart>,
    // Internal: the next time slice.
    caf::reacts_to<Continue>, caf::reacts_to<KernelCompleted>, caf::reacts_to<EdgeTaken>,
    // One bounded scan.
    caf::replies_to<ExplainPart>::with<DeviceRecords>, caf::reacts_to<CancelExecutor>,
    caf::replies_to<GetActors>::with<ActorTree>>;

// The rendezvous.

/// What a worker session knows of its session on other tasks when a step begins. Not written once
/// it is shared.
struct EdgePeers {
  /// By task, WorkerSessionActor: these have asked us for values before, so what their tasks
  /// receive is sent to them as soon as it is there.
  std::map<std::string, caf::strong_actor_ptr> receivers;
  /// Tasks that have acknowledged our asking: they send us what is ours unasked.
  std::set<std::string> senders;
};
/// A step for a rendezvous that serves none. Local only.
struct BeginExchange {
  std::uint64_t step_id = 0;
  std::shared_ptr<const EdgePeers> peers; ///< never null
};
/// The step has ended everywhere: whoever still waits gets ABORTED, values that nobody took are
/// forgotten. Local only.
struct EndExchange {};
/// A kernel's send. Local only: shares the buffer.
struct PutEdge {
  std::uint64_t step_id = 0;
  std::string key;
  Tensor tensor;
  bool is_dead = false;
};
/// A kernel's receive. Local only; `receive` comes back with the answer. Dropped without one, it
/// ends the kernel with CANCELLED.
struct TakeEdge {
  std::uint64_t step_id = 0;
  std::string key;
  caf::actor_addr owner; ///< ExecutorActor whose kernel it is; gets EdgeTaken
  std::shared_ptr<PendingReceive> receive;
};
struct AbortStep {
  StatusMessage status;
};

/// The RENDEZVOUS: the mailbox of one step at a time on one worker, where the two halves of a cut
/// edge meet. What a peer has asked for once it is sent unasked in later steps, all values that are
/// there in one message; a peer that does not know us yet is asked, for all keys in one message.
/// What another step sends is dropped, what it wants is refused with ABORTED.
///
///   resting ──BeginExchange──▶ serving a step ──EndExchange──▶ resting
using RendezvousActor =
    caf::typed_actor<caf::reacts_to<BeginExchange>, caf::reacts_to<EndExchange>,
                     // Hands the value to the kernel that waits for it, sends it to the peer whose
                     // it is, or keeps it.
                     caf::reacts_to<PutEdge>, caf::reacts_to<TakeEdge>,
                     // A peer's wish, handed on by the worker session: what lies here for the
                     // peer's task is sent now. Fails with the abort's status after an abort.
                     caf::replies_to<ReceiveTensors>::with<EdgesSent>, caf::reacts_to<EdgesArrived>,
                     // Fails the waiters for values of that task, now and later.
                     caf::reacts_to<EdgesLost>, caf::replies_to<ExplainPart>::with<EdgeRecords>,
                     // Fails every waiter, now and later, with the first abort's status.
                     caf::reacts_to<AbortStep>, caf::replies_to<GetActors>::with<ActorTree>,
                     // Internal: sends the collected values and wishes to the peers.
                     caf::reacts_to<Continue>,
                     // From the worker session, at times: asks for what has been waited for without
                     // asking.
                     caf::reacts_to<caf::tick_atom>,
                     // A task that values were asked of is gone: its waiters fail.
                     caf::reacts_to<PeerLost>>;

// How they travel.

template <class F>
typename F::result_type inspect(F& f, GetWorkerStatus&) {
  return f(caf::meta::type_name("GetWorkerStatus"));
}
template <class F>
typename F::result_type inspect(F& f, WorkerStatus& x) {
  return f(caf::meta::type_name("WorkerStatus"), x.task, x.devices);
}
template <class F>
typename F::result_type inspect(F& f, CreateWorkerSession& x) {
  return f(caf::meta::type_name("CreateWorkerSession"), x.session_handle, x.master_task, x.isolate,
           x.lease_us);
}
template <class F>
typename F::result_type inspect(F& f, WorkerSessionCreated& x) {
  return f(caf::meta::type_name("WorkerSessionCreated"), x.session, x.devices);
}
template <class F>
typename F::result_type inspect(F& f, DeleteWorkerSession& x) {
  return f(caf::meta::type_name("DeleteWorkerSession"), x.session_handle);
}
template <class F>
typename F::result_type inspect(F& f, FindWorkerSession& x) {
  return f(caf::meta::type_name("FindWorkerSession"), x.session_handle);
}
template <class F>
typename F::result_type inspect(F& f, ClearContainers& x) {
  return f(caf::meta::type_name("ClearContainers"), x.containers);
}
template <class F>
typename F::result_type inspect(F& f, RegisterGraph& x) {
  return f(caf::meta::type_name("RegisterGraph"), x.graph_def, x.disabled_passes, x.optimize);
}
template <class F>
typename F::result_type inspect(F& f, GraphRegistered& x) {
  return f(caf::meta::type_name("GraphRegistered"), x.graph_handle, x.has_cut_edges,
           x.has_remote_edges);
}
template <class F>
typename F::result_type inspect(F& f, DeregisterGraph& x) {
  return f(caf::meta::type_name("DeregisterGraph"), x.graph_handle);
}
template <class F>
typename F::result_type inspect(F& f, RunGraph& x) {
  return f(caf::meta::type_name("RunGraph"), x.graph_handle, x.step_id, x.args, x.trace, x.ended);
}
template <class F>
typename F::result_type inspect(F& f, NodeStats& x) {
  return f(caf::meta::type_name("NodeStats"), x.node, x.op, x.start_us, x.end_us, x.thread_id,
           x.bytes, x.detail);
}
template <class F>
typename F::result_type inspect(F& f, DeviceStats& x) {
  return f(caf::meta::type_name("DeviceStats"), x.device, x.nodes);
}
template <class F>
typename F::result_type inspect(F& f, GraphRun& x) {
  return f(caf::meta::type_name("GraphRun"), x.retvals, x.stats);
}
template <class F>
typename F::result_type inspect(F& f, CancelStep& x) {
  return f(caf::meta::type_name("CancelStep"), x.step_id, x.status);
}
template <class F>
typename F::result_type inspect(F& f, CleanupStep& x) {
  return f(caf::meta::type_name("CleanupStep"), x.step_ids);
}
template <class F>
typename F::result_type inspect(F& f, ReceiveTensors& x) {
  return f(caf::meta::type_name("ReceiveTensors"), x.step_id, x.keys, x.receiver, x.task);
}
template <class F>
typename F::result_type inspect(F& f, EdgesSent& x) {
  return f(caf::meta::type_name("EdgesSent"), x.keys);
}
template <class F>
typename F::result_type inspect(F& f, RenewLease&) {
  return f(caf::meta::type_name("RenewLease"));
}
template <class F>
typename F::result_type inspect(F& f, ExplainPart& x) {
  return f(caf::meta::type_name("ExplainPart"), x.step_id);
}
template <class F>
typename F::result_type inspect(F& f, NodeRecord& x) {
  return f(caf::meta::type_name("NodeRecord"), x.node, x.op, x.end, x.state, x.is_async,
           x.running_us, x.edge, x.peer, x.frame, x.iteration, x.missing, x.more_missing,
           x.skipped);
}
template <class F>
typename F::result_type inspect(F& f, DeviceRecord& x) {
  return f(caf::meta::type_name("DeviceRecord"), x.device, x.answered, x.unfinished, x.nodes);
}
template <class F>
typename F::result_type inspect(F& f, DeviceRecords& x) {
  return f(caf::meta::type_name("DeviceRecords"), x.has_begun, x.devices);
}
template <class F>
typename F::result_type inspect(F& f, EdgeRecord& x) {
  return f(caf::meta::type_name("EdgeRecord"), x.key, x.state);
}
template <class F>
typename F::result_type inspect(F& f, TaskRecord& x) {
  return f(caf::meta::type_name("TaskRecord"), x.task, x.answered, x.remark, x.has_ended,
           x.has_begun, x.devices, x.edges);
}
template <class F>
typename F::result_type inspect(F& f, WireEdge& x) {
  return f(caf::meta::type_name("WireEdge"), x.key, x.tensor, x.is_dead);
}
template <class F>
typename F::result_type inspect(F& f, EdgesLost& x) {
  return f(caf::meta::type_name("EdgesLost"), x.step_id, x.task, x.status);
}
template <class F>
typename F::result_type inspect(F& f, EdgesArrived& x) {
  return f(caf::meta::type_name("EdgesArrived"), x.step_id, x.edges);
}

} // namespace troupe

// These never leave the process: they share memory or carry callbacks.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ExecuteGraph)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::GraphCompiled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ExecutePart)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PartExecuted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::KernelCompleted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PutEdge)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::TakeEdge)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::EdgeTaken)

CAF_BEGIN_TYPE_ID_BLOCK(troupe_worker, troupe::type_block::worker)
TROUPE_MESSAGE(troupe_worker, GetWorkerStatus)
TROUPE_MESSAGE(troupe_worker, WorkerStatus)
TROUPE_MESSAGE(troupe_worker, CreateWorkerSession)
TROUPE_MESSAGE(troupe_worker, WorkerSessionCreated)
TROUPE_MESSAGE(troupe_worker, DeleteWorkerSession)
TROUPE_MESSAGE(troupe_worker, FindWorkerSession)
TROUPE_MESSAGE(troupe_worker, ClearContainers)
TROUPE_MESSAGE(troupe_worker, RegisterGraph)
TROUPE_MESSAGE(troupe_worker, GraphRegistered)
TROUPE_MESSAGE(troupe_worker, DeregisterGraph)
TROUPE_MESSAGE(troupe_worker, RunGraph)
TROUPE_MESSAGE(troupe_worker, GraphRun)
TROUPE_MESSAGE(troupe_worker, CancelStep)
TROUPE_MESSAGE(troupe_worker, CleanupStep)
TROUPE_MESSAGE(troupe_worker, ReceiveTensors)
TROUPE_MESSAGE(troupe_worker, RenewLease)
TROUPE_LOCAL_MESSAGE(troupe_worker, Continue)
TROUPE_LOCAL_MESSAGE(troupe_worker, CancelExecutor)
TROUPE_MESSAGE(troupe_worker, EdgesArrived)
TROUPE_LOCAL_MESSAGE(troupe_worker, AbortStep)
TROUPE_LOCAL_MESSAGE(troupe_worker, BeginExchange)
TROUPE_LOCAL_MESSAGE(troupe_worker, EndExchange)
TROUPE_LOCAL_MESSAGE(troupe_worker, FindPeerSession)
TROUPE_MESSAGE(troupe_worker, ExplainPart)
TROUPE_LOCAL_MESSAGE(troupe_worker, DeviceRecords)
TROUPE_LOCAL_MESSAGE(troupe_worker, EdgeRecords)
TROUPE_MESSAGE(troupe_worker, TaskRecord)
TROUPE_MESSAGE(troupe_worker, EdgesSent)
TROUPE_LOCAL_MESSAGE(troupe_worker, WantEdges)
TROUPE_MESSAGE(troupe_worker, EdgesLost)
CAF_END_TYPE_ID_BLOCK(troupe_worker)
