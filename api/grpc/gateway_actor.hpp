// The GATEWAY actor: makes sessions for gRPC clients. Protocol: api/grpc/protocol.hpp.
#pragma once

#include <chrono>
#include <memory>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "api/grpc/protocol.hpp"
#include "api/grpc/session_table.hpp"

namespace troupe {

struct GatewayLimits {
  std::int64_t max_sessions = 0; ///< open at once; 0: any number
  std::chrono::milliseconds idle_session{0};
  /// A session's first device is listed as local and the others as remote, as TensorFlow does where
  /// the client has sent the cluster; else all are local.
  bool splits_devices = false;
};

struct GatewayState {
  static constexpr const char* name = "gateway";
  Children children;
  std::size_t opening = 0; ///< sessions that the master makes just now
  Status refusal;          ///< of new sessions: the node is about to end
};

GatewayActor::behavior_type gateway(GatewayActor::stateful_pointer<GatewayState> self,
                                    Services services, MasterActor master,
                                    std::shared_ptr<SessionTable> sessions, GatewayLimits limits);

} // namespace troupe
