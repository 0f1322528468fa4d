// The WORKER GATEWAY actor. Protocol: api/grpc/worker_protocol.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "actors/family/services.hpp"
#include "actors/protocol/local/worker.hpp"
#include "api/grpc/foreign_run.hpp"
#include "api/grpc/foreign_steps.hpp"
#include "api/grpc/rpc_peers.hpp"
#include "api/grpc/transfer_log.hpp"
#include "api/grpc/worker_protocol.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

/// A session of a master that is TensorFlow's.
struct ForeignSession {
  WorkerSessionActor actor;
  std::string master_task; ///< empty: it does not say
  std::int64_t master_incarnation = 0;
  std::int64_t heard_us = 0; ///< the last call came, on the actors' clock
};
/// A peer that waits for a value.
struct ForeignPull {
  std::shared_ptr<RpcCall> call;
  std::string key;
};
/// A step whose graph runs, and the calls that wait for its end: one, or those of a partial run.
struct ForeignStep {
  std::vector<std::shared_ptr<ForeignRun>> runs;
  bool has_run = false;
  Status status;
  StepStats stats;
};

struct WorkerGatewayState {
  static constexpr const char* name = "worker-gateway";
  std::map<std::string, ForeignSession> sessions; ///< by handle
  /// Of our own masters, by handle: those that a task which is TensorFlow's has come to for values.
  std::map<std::string, WorkerSessionActor> marked;
  ForeignSteps<WorkerSessionActor, ForeignPull> steps;
  std::map<std::uint64_t, ForeignStep> graphs; ///< that run, and those of partial runs
  std::deque<std::uint64_t> ran; ///< steps whose graph has run, oldest first, cleaned up or not
  std::shared_ptr<TransferLog> log = std::make_shared<TransferLog>(); ///< of all sessions
  Status refusal; ///< of new sessions: the node is about to end
  Counted counted{counter("worker_gateways")};
};

/// What it needs besides the node's services.
struct WorkerGatewayParts {
  Services services;
  WorkerActor worker;
  std::shared_ptr<RpcPeers> peers;
  /// gRPC addresses of the cluster's tasks; empty where they are not known.
  Cluster cluster;
  /// A session whose master has not been heard of for so long is closed.
  std::chrono::milliseconds idle_session{0};
  std::int64_t max_sessions = 0; ///< open at once; 0: any number
};

WorkerGatewayActor::behavior_type
worker_gateway(WorkerGatewayActor::stateful_pointer<WorkerGatewayState> self,
               WorkerGatewayParts parts);

} // namespace troupe
