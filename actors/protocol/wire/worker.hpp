// What a master and other tasks send to a task: its half of a session, graphs, steps, values of cut
// edges.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/protocol/graph_manager.hpp"
#include "actors/protocol/step_records.hpp"
#include "actors/protocol/wire/node.hpp"
#include "actors/protocol/worker_session.hpp"
#include "core/trace/cost_graph.hpp"
#include "core/trace/step_stats.hpp"
#include "graph/convert/options.hpp"

namespace troupe {

class Executable;
class NodeStates;
class Graph;
class RemoteEdges;

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
  /// Set when the master is TensorFlow's: values of other tasks come from `remote_edges`, and each
  /// step stays until it is cleaned up. Local only: does not travel.
  std::shared_ptr<RemoteEdges> remote_edges = nullptr;
};
struct WorkerSessionCreated {
  WorkerSessionActor session;
  std::vector<DeviceAttributes> devices;
  /// Within one process: the task is TensorFlow's, and the session stands for one there. Does not
  /// travel.
  bool is_foreign = false;
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
/// A piece of the GraphDef that the next RegisterGraph or ExtendGraph of the same sender ends: a
/// graph may be longer than a message.
struct GraphPiece {
  std::string bytes;
};
/// Registers this task's part of a client graph.
struct RegisterGraph {
  std::string graph_def; ///< serialised GraphDef; fed values are _Arg nodes, fetched ones _Retval
                         ///< nodes, by index
  std::vector<std::string> disabled_passes; ///< names of optimisation passes not to run
  bool optimize = true;
  bool wants_costs = false;             ///< answer with `cost_nodes`
  std::vector<DebugWatch> watches = {}; ///< tensors of it that a debugger watches
  /// Local only, in place of `graph_def`; does not travel. Immutable while it is shared; the sole
  /// holder may move from it.
  std::shared_ptr<Graph> graph = nullptr;
};
struct GraphRegistered {
  std::string graph_handle;
  bool has_cut_edges = false;    ///< its parts exchange values: a step needs a rendezvous
  bool has_remote_edges = false; ///< also with other tasks: the step must be cleaned up afterwards
  std::vector<CostNode> cost_nodes = {}; ///< if wanted: its nodes, without times
  /// Within one process, for a graph without cut edges: the graph manager, which runs it without
  /// the session's help. Does not travel.
  GraphManagerActor manager = {};
  /// Within one process, for a graph of one device without cut edges: what a thread needs to run it
  /// without any actor's help. Do not travel.
  std::shared_ptr<NodeStates> node_states = nullptr;
  std::shared_ptr<const Executable> executable = nullptr;
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
  bool report_allocations = false;       ///< if memory runs out, say what the step has
  std::vector<std::uint64_t> ended = {}; ///< earlier steps, to be forgotten first: as CleanupStep
  std::int64_t timeout_us = 0;           ///< for kernels that ask; its master watches it. 0: none
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
  WorkerSessionActor receiver; ///< the asking task's worker session
  std::string task;            ///< the asking task
};
/// The answer. Values that were sent earlier over this connection arrive before it; if one has not,
/// it was lost with an older connection.
struct EdgesSent {
  std::vector<std::string> keys; ///< of those asked for: sent before
  /// Within one process, false: what was asked for comes, and nothing else. Does not travel.
  bool sends_unasked = true;
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
  bool is_unreadable = false; ///< as it came here: then there are no edges, and the step fails
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
/// A worker session that has heard nothing of its master session for its lease, though their
/// connection works, asks whether it is still part of it.
struct ConfirmLease {
  std::string task; ///< the worker session's
};
/// A master session was made again after it had ended: what the one before left here goes, its
/// steps with `why`. What its steps have written stays.
struct ResumeSession {
  StatusMessage why;
};
/// Asks what a step still waits for here. What does not answer in time is said to be silent.
struct ExplainPart {
  std::uint64_t step_id = 0;
};

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
typename F::result_type inspect(F& f, DebugWatch& x) {
  return f(caf::meta::type_name("DebugWatch"), x.node, x.slot, x.ops, x.urls, x.tolerates_failures);
}
template <class F>
typename F::result_type inspect(F& f, CostNode::Input& x) {
  return f(caf::meta::type_name("CostInput"), x.node, x.slot);
}
template <class F>
typename F::result_type inspect(F& f, CostNode::Output& x) {
  return f(caf::meta::type_name("CostOutput"), x.bytes, x.dtype, x.dims);
}
template <class F>
typename F::result_type inspect(F& f, CostNode& x) {
  return f(caf::meta::type_name("CostNode"), x.name, x.device, x.inputs, x.control_inputs,
           x.outputs, x.compute_us, x.is_final);
}
template <class F>
typename F::result_type inspect(F& f, GraphPiece& x) {
  return f(caf::meta::type_name("GraphPiece"), x.bytes);
}
template <class F>
typename F::result_type inspect(F& f, RegisterGraph& x) {
  return f(caf::meta::type_name("RegisterGraph"), x.graph_def, x.disabled_passes, x.optimize,
           x.wants_costs, x.watches);
}
template <class F>
typename F::result_type inspect(F& f, GraphRegistered& x) {
  return f(caf::meta::type_name("GraphRegistered"), x.graph_handle, x.has_cut_edges,
           x.has_remote_edges, x.cost_nodes);
}
template <class F>
typename F::result_type inspect(F& f, DeregisterGraph& x) {
  return f(caf::meta::type_name("DeregisterGraph"), x.graph_handle);
}
template <class F>
typename F::result_type inspect(F& f, RunGraph& x) {
  return f(caf::meta::type_name("RunGraph"), x.graph_handle, x.step_id, x.args, x.trace,
           x.report_allocations, x.ended, x.timeout_us);
}
template <class F>
typename F::result_type inspect(F& f, OutputStats& x) {
  return f(caf::meta::type_name("OutputStats"), x.slot, x.dtype, x.dims, x.bytes, x.allocated,
           x.address, x.is_alone);
}
template <class F>
typename F::result_type inspect(F& f, NodeStats& x) {
  return f(caf::meta::type_name("NodeStats"), x.node, x.op, x.start_us, x.end_us, x.thread_id,
           x.bytes, x.detail, x.outputs, x.inputs);
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
typename F::result_type inspect(F& f, ConfirmLease& x) {
  return f(caf::meta::type_name("ConfirmLease"), x.task);
}
template <class F>
typename F::result_type inspect(F& f, ResumeSession& x) {
  return f(caf::meta::type_name("ResumeSession"), x.why);
}
template <class F>
typename F::result_type inspect(F& f, ExplainPart& x) {
  return f(caf::meta::type_name("ExplainPart"), x.step_id);
}
template <class F>
typename F::result_type inspect(F& f, NodeRecord& x) {
  return f(caf::meta::type_name("NodeRecord"), x.node, x.op, x.end, x.state, x.is_async,
           x.running_us, x.waits_for, x.edge, x.peer, x.frame, x.iteration, x.missing,
           x.more_missing, x.skipped);
}
template <class F>
typename F::result_type inspect(F& f, DeviceRecord& x) {
  return f(caf::meta::type_name("DeviceRecord"), x.device, x.answered, x.unfinished, x.nodes);
}
template <class F>
typename F::result_type inspect(F& f, EdgeRecord& x) {
  return f(caf::meta::type_name("EdgeRecord"), x.key, x.state);
}
template <class F>
typename F::result_type inspect(F& f, SilenceRecord& x) {
  return f(caf::meta::type_name("SilenceRecord"), x.kind, x.silent_us, x.loss);
}
template <class F>
typename F::result_type inspect(F& f, TaskRecord& x) {
  return f(caf::meta::type_name("TaskRecord"), x.task, x.answered, x.silence, x.has_ended,
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
  if constexpr (F::writes_state) {
    // Nobody waits for an answer to it: dropped, it would leave its step waiting.
    if (auto error = f(caf::meta::type_name("EdgesArrived"), x.step_id, x.edges)) {
      x.edges.clear();
      x.is_unreadable = true;
    }
    return {};
  } else {
    return f(caf::meta::type_name("EdgesArrived"), x.step_id, x.edges);
  }
}

} // namespace troupe

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
TROUPE_MESSAGE(troupe_worker, GraphPiece)
TROUPE_MESSAGE(troupe_worker, ConfirmLease)
TROUPE_MESSAGE(troupe_worker, EdgesArrived)
TROUPE_MESSAGE(troupe_worker, ExplainPart)
TROUPE_MESSAGE(troupe_worker, TaskRecord)
TROUPE_MESSAGE(troupe_worker, EdgesSent)
TROUPE_MESSAGE(troupe_worker, EdgesLost)
TROUPE_MESSAGE(troupe_worker, ResumeSession)
CAF_END_TYPE_ID_BLOCK(troupe_worker)
