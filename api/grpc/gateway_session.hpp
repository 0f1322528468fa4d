// The GATEWAY SESSION actor: a gRPC client's session. Protocol: api/grpc/protocol.hpp.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "actors/family/services.hpp"
#include "actors/protocol/local/master.hpp"
#include "api/grpc/call_book.hpp"
#include "api/grpc/callable_table.hpp"
#include "api/grpc/extension_book.hpp"
#include "api/grpc/gateway_actor.hpp"
#include "api/grpc/protocol.hpp"
#include "api/grpc/session_table.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

struct GatewaySessionState {
  static constexpr const char* name = "gateway-session";
  std::string handle;
  MasterSessionActor session;    ///< null while its master makes it again
  std::vector<SessionCall> held; ///< that came meanwhile
  CallBook calls;
  CallableTable callables;
  ExtensionBook<std::shared_ptr<RpcCall>> extensions;
  AbandonedRequests abandoned;
  std::shared_ptr<DirectCalls> direct; ///< or null
  std::int64_t direct_calls = 0;       ///< of those, how many we have seen
  bool splits_devices = false;
  std::int64_t operation_timeout_us = 0; ///< of steps that bring none; 0: none
  std::int64_t heard_us = 0;             ///< the last call came, on the actors' clock
  Counted counted{counter("gateway_sessions")};
};

/// Ends when its master session does, and takes itself out of `sessions` when it is closed. A
/// master session that a fault has ended is made again by `master`: then this one goes on with it.
/// An idle one, without a call for the limits' `idle_session`, closes it: its client has vanished
/// without CloseSession.
GatewaySessionActor::behavior_type
gateway_session(GatewaySessionActor::stateful_pointer<GatewaySessionState> self, Services services,
                std::string handle, MasterActor master, MasterSessionActor session,
                std::shared_ptr<DirectCalls> direct, std::shared_ptr<SessionTable> sessions,
                GatewayLimits limits, std::int64_t operation_timeout_us);

} // namespace troupe
