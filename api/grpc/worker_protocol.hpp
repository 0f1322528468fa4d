// The worker gateway: what masters and tasks that are TensorFlow's ask of this task. Nothing here
// leaves the process.
#pragma once

#include <memory>
#include <variant>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>

#include "actors/protocol/tree.hpp"
#include "api/grpc/rpc_server.hpp"
#include "api/grpc/worker_codec.hpp"

namespace troupe {

struct EdgeTaken;
class ForeignRun;

/// One call of tensorflow.WorkerService, decoded.
struct WorkerCall {
  struct GetStatus {};
  std::shared_ptr<RpcCall> call;
  std::variant<GetStatus, worker_codec::CreateWorkerSession, worker_codec::DeleteWorkerSession,
               worker_codec::RegisterGraph, worker_codec::DeregisterGraph, worker_codec::RunGraph,
               worker_codec::CleanupGraph, worker_codec::CleanupAll, worker_codec::RecvTensor,
               worker_codec::Logging>
      request;
};
/// The master no longer waits for its RunGraph.
struct ForeignStepGone {
  std::uint64_t step_id = 0;
};
/// Of the worker gateway to itself: the graph has run, and what it has sent has come by now.
struct ForeignRunOverdue {
  std::shared_ptr<ForeignRun> run;
};
/// Of the worker gateway to itself: what waits for too long?
struct LookForOverdue {};

/// The WORKER GATEWAY: a master that is TensorFlow's drives this task through it. It makes no
/// second runtime: each session is one of the node's worker. Drain: Refuses new sessions and
/// graphs; answers at once, since the worker waits for the steps.
using WorkerGatewayActor =
    DrainActor::extend<caf::reacts_to<WorkerCall>,
                       // A value that a peer has come for, or that RunGraph is to answer.
                       caf::reacts_to<EdgeTaken>, caf::reacts_to<ForeignStepGone>,
                       caf::reacts_to<ForeignRunOverdue>, caf::reacts_to<LookForOverdue>>;

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::WorkerCall)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ForeignStepGone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ForeignRunOverdue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::LookForOverdue)
