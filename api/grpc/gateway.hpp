// Gateway: the face of a node for TensorFlow's clients, tensorflow.MasterService over gRPC. A
// `tf.compat.v1.Session("grpc://host:port")` speaks to it as to a tf.train.Server. Sessions are
// those of the node's own master: `status`, `why` and KillActor see them as all others.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

class ClusterNode;

/// As a config file and `troupe serve` set it; GatewaySettings has the same defaults.
struct GatewayOptions {
  Address address;                    ///< port 0: a free one
  std::int64_t max_request = 0;       ///< bytes of one request; 0: 2 GiB less one
  std::int64_t max_calls = 100'000;   ///< that wait at once; 0: any number
  std::int64_t max_pending = 0;       ///< bytes of all requests that wait at once; 0: any number
  std::int64_t max_sessions = 10'000; ///< open at once; 0: any number
  /// A session without a call for so long is closed: its client has vanished without CloseSession.
  std::chrono::milliseconds idle_session{std::chrono::hours(24)};
  /// The tasks' gRPC addresses, for values of tasks that are TensorFlow's servers; empty: not
  /// known.
  Cluster cluster = {};
  /// Bytes of a ConfigProto: what sessions get where their clients' own says nothing.
  std::string session_config = {};
};

class Gateway {
public:
  /// Listens; `node` outlives the gateway. UNAVAILABLE naming an address that cannot be bound, or a
  /// node that has stopped.
  static Result<std::unique_ptr<Gateway>> start(ClusterNode& node, const GatewayOptions& options);
  /// Takes no more calls, answers those that wait UNAVAILABLE, closes the clients' sessions.
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;
  std::uint16_t port() const;
  /// The node is about to leave: so do the tasks of clusters that clients have sent.
  void shut_down(const std::string& reason, std::chrono::milliseconds grace);

private:
  Gateway();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
