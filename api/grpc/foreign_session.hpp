// The FOREIGN SESSION actor: a worker session on a task that is TensorFlow's. Protocol:
// actors/protocol/worker_session.hpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/family/services.hpp"
#include "actors/protocol/local/worker.hpp"
#include "api/grpc/peer_calls.hpp"
#include "api/grpc/peer_edges.hpp"

namespace troupe {

using ForeignSessionActor = WorkerSessionActor::extend<caf::reacts_to<PeerAnswered>>;

/// The task, as both of its actors know it.
struct ForeignTaskInfo {
  std::string task;
  Address address;
  std::uint64_t incarnation = 0; ///< of its first device
  std::vector<DeviceAttributes> devices;
};

struct ForeignSessionSetup {
  Services services;
  std::shared_ptr<RpcPeers> peers;
  std::shared_ptr<const ForeignTaskInfo> info;
  std::string handle;
  /// The worker session of ours that takes values, and with which this ends; null: it was made
  /// there by a master of ours, and goes with this.
  caf::actor_addr reader;
  bool is_masters() const { return !reader; }
};

struct ForeignSessionState {
  static constexpr const char* name = "foreign-session";
  struct Graph {
    std::vector<std::string> feed_keys, fetch_keys;
  };
  struct Run {
    std::uint64_t call = 0; ///< its RunGraph
    Status cancelled;       ///< not OK: why we have ended it
  };
  std::map<std::string, Graph> graphs; ///< by handle
  std::map<std::uint64_t, Run> runs;   ///< by step
  std::shared_ptr<PeerEdges> edges;
  PeerCalls calls;
};

ForeignSessionActor::behavior_type
foreign_session(ForeignSessionActor::stateful_pointer<ForeignSessionState> self,
                ForeignSessionSetup setup);

/// The failure of a call of a task: its own words if it has answered, else that it cannot be
/// reached; with the task, and the node where it names one, as its origin.
Status of_task(const Status& status, const ForeignTaskInfo& info, std::uint64_t step_id = 0);

} // namespace troupe
