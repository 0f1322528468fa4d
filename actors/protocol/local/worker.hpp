// Within a task: compiled graphs, a device's part of a step, edges of a rendezvous.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "actors/protocol/executor.hpp"
#include "actors/protocol/local/node.hpp"
#include "actors/protocol/rendezvous.hpp"
#include "actors/protocol/wire/worker.hpp"

namespace troupe {

struct BegunPart;
class Cancellation;
struct Completion;
struct CompiledGraph;
class Executable;
class PendingReceive;

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
/// RunGraph with what the session adds to it.
struct ExecuteGraph {
  RunGraph run;
  RendezvousActor rendezvous; ///< null when the graph has no cut edges
  /// The other node's actor that will get the values; null: a master in this process.
  caf::strong_actor_ptr receiver = nullptr;
  std::shared_ptr<BegunPart> begun = nullptr; ///< it runs already, and has its args; null: not yet
};
/// A compute thread has compiled a graph.
struct GraphCompiled {
  std::uint64_t ticket = 0;
  std::shared_ptr<const CompiledGraph> graph; ///< null: see status
  Status status;
};
/// One device's part of a step, for an executor that runs none. Local: shares memory.
struct ExecutePart {
  std::shared_ptr<const Executable> executable;
  std::uint64_t step_id = 0;
  std::size_t index = 0;      ///< of the part; comes back in PartExecuted
  std::vector<Tensor> args;   ///< of the whole task, by _Arg index
  RendezvousActor rendezvous; ///< null: no cut edges
  bool trace = false;
  bool report_allocations = false;
  /// Of this part; whoever sends this may set it at any time. Null: the executor's own.
  std::shared_ptr<Cancellation> cancellation = nullptr;
  std::shared_ptr<BegunPart> begun = nullptr; ///< to go on with, as ExecuteGraph::begun
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
/// A kernel that ran elsewhere has finished.
struct KernelCompleted {
  std::shared_ptr<const Completion> completion;
};
/// The answer to TakeEdge: the executor gives it to `receive`.
struct EdgeTaken {
  std::shared_ptr<PendingReceive> receive;
  Status status;
  Tensor tensor;
  bool is_dead = false;
  std::string key;
  std::string transfer; ///< how it came from another node, for people; empty when it did not
};
struct CancelExecutor {
  StatusMessage status;
};
/// What a worker session knows of its session on other tasks when a step begins. Not written once
/// it is shared.
struct EdgePeers {
  /// By task: these have asked us for values before, so what their tasks
  /// receive is sent to them as soon as it is there.
  std::map<std::string, WorkerSessionActor> receivers;
  /// Tasks that have acknowledged our asking: they send us what is ours unasked.
  std::set<std::string> senders;
};
/// A step for a rendezvous that serves none.
struct BeginExchange {
  std::uint64_t step_id = 0;
  std::shared_ptr<const EdgePeers> peers; ///< never null
};
/// The step has ended everywhere: whoever still waits gets ABORTED, values that nobody took are
/// forgotten.
struct EndExchange {};
/// A kernel's send, or a feed of a partial run. Local only: shares the buffer.
struct PutEdge {
  std::uint64_t step_id = 0;
  std::string key;
  Tensor tensor;
  bool is_dead = false;
};
/// A kernel's receive, or a fetch of a partial run. Local only; `receive` comes back with the
/// answer. Dropped without one, it ends the kernel with CANCELLED.
struct TakeEdge {
  std::uint64_t step_id = 0;
  std::string key;
  caf::actor_addr owner; ///< ExecutorActor whose kernel it is, or a StepActor; gets EdgeTaken
  std::shared_ptr<PendingReceive> receive; ///< null when the owner is a StepActor
};
struct AbortStep {
  StatusMessage status;
};
/// Of an executor to itself: the next time slice of its step.
struct NextSlice {};
/// A rendezvous to itself: send the collected values and requests to peers now.
struct FlushEdges {};
/// From a worker session to its rendezvous, from time to time: ask for values that are overdue
/// although their sender sends unasked.
struct AskForMissing {};

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_worker_local, troupe::type_block::worker_local)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, CancelExecutor)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, AbortStep)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, BeginExchange)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, EndExchange)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, FindPeerSession)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, DeviceRecords)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, EdgeRecords)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, WantEdges)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, ExecuteGraph)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, GraphCompiled)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, ExecutePart)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, PartExecuted)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, KernelCompleted)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, PutEdge)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, TakeEdge)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, EdgeTaken)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, NextSlice)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, FlushEdges)
TROUPE_LOCAL_MESSAGE(troupe_worker_local, AskForMissing)
CAF_END_TYPE_ID_BLOCK(troupe_worker_local)
