// ForeignTasks: tasks of the cluster that are TensorFlow's servers, as this node's actors know
// tasks. Each is an actor that speaks the protocols of a worker and its sessions, and hands on what
// it is asked over gRPC; so a master here drives TensorFlow's tasks, and a worker here takes values
// from them, without knowing.
//
//   master ─────────▶ foreign task ──────── GetStatus, CreateWorkerSession ───────▶ TensorFlow's server
//   master session ─▶ foreign session ───── RegisterGraph, RunGraph, CleanupGraph ─▶
//   worker session ─▶ foreign session ───── RecvTensor ──────────────────────────▶
//
// The other way, TensorFlow's tasks come for values to the worker gateway.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include <caf/actor_control_block.hpp>
#include <caf/fwd.hpp>

#include "actors/family/services.hpp"
#include "api/grpc/rpc_peers.hpp"
#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

/// Any thread. Lives as long as the node may dial.
class ForeignTasks {
public:
  /// The node has begun; until then nobody is reached.
  void attach(Services services);
  /// A task at a gRPC address that is no node of troupe: an actor that answers Hello. Blocks for
  /// `budget` at most. UNAVAILABLE naming the address when nobody answers GetStatus; UNIMPLEMENTED
  /// when who answers has no devices.
  Result<caf::strong_actor_ptr> dial(caf::actor_system& system, const Address& address,
                                     std::chrono::milliseconds budget);
  /// The node is about to end: nobody is reached any more, and calls that are under way end.
  void shut_down();

private:
  std::mutex lock_; // guards what follows
  Services services_;
  bool ended_ = false;
  std::shared_ptr<RpcPeers> peers_ = std::make_shared<RpcPeers>();
};

} // namespace troupe
