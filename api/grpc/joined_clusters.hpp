// JoinedClusters: clusters that clients bring along (ConfigProto.cluster_def). For each, this
// process runs one more node: the task of that cluster that it is to be, with ports of its own, and
// memory, threads and files of the node that it was started as. Names of devices and jobs are the
// client's that way, down to errors and traces.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/grpc/gateway_actor.hpp"
#include "core/base/status.hpp"
#include "net/cluster/cluster_spec.hpp"

namespace troupe {

class ClusterNode;

/// Nodes of clusters that clients bring along, at once.
inline constexpr std::size_t max_joined_clusters = 16;
/// One that no session uses ends after so long.
inline constexpr std::chrono::seconds joined_cluster_stays{30};

/// Any thread. Nodes are started and ended on a thread of its own, one after the other.
class JoinedClusters {
public:
  struct Joined {
    std::uint16_t port = 0; ///< of the node, for the other tasks
    GatewayActor gateway;   ///< makes sessions there
  };
  /// `node` is the one that clients have started; `listen_host` where the others reach this
  /// process.
  JoinedClusters(const ClusterNode& node, std::string listen_host,
                 std::shared_ptr<SessionTable> sessions, GatewayLimits limits);
  /// Ends every node.
  ~JoinedClusters();
  JoinedClusters(const JoinedClusters&) = delete;
  JoinedClusters& operator=(const JoinedClusters&) = delete;

  using Done = std::function<void(Result<Joined>)>;
  /// Calls `done` with the node of the spec's task, which is started unless it runs. One that
  /// `keeps_state` stays when no session uses it, until another cluster needs the room.
  /// RESOURCE_EXHAUSTED when too many run already and all are in use; what starting a node fails
  /// with.
  void join(ClusterSpec spec, bool keeps_state, Done done);
  /// Running steps have `grace` to end.
  void shut_down(const std::string& reason, std::chrono::milliseconds grace);

private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// The task of a cluster that a client has sent that this server, reached as `target`
/// ("grpc://h:p") and started as `own_task`, is to be. INVALID_ARGUMENT in TensorFlow's words if it
/// is none, several, or the one that it was started as.
Result<ClusterSpec> find_own_task(const std::vector<ClusterTask>& told, const std::string& target,
                                  const std::string& own_task);

} // namespace troupe
