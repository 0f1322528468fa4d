// To a client's own session.
#pragma once

#include "actors/protocol/guardian.hpp"
#include "actors/protocol/local/master.hpp"
#include "actors/protocol/session.hpp"

namespace troupe {

/// Connects to a master and makes a session there.
struct OpenSession {
  GuardianActor guardian; ///< of the master's node; null when the master is in this process
  CreateSession request;
  std::int64_t timeout_us = 0; ///< of opening; 0: the lease and one and a half heartbeats
  /// Of every call that has no time of its own; 0: what the runtime gives it.
  std::int64_t operation_timeout_us = 0;
  Address master; ///< where the master is dialled again after a loss; none: it is not
};

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_session_local, troupe::type_block::session_local)
TROUPE_LOCAL_MESSAGE(troupe_session_local, OpenSession)
CAF_END_TYPE_ID_BLOCK(troupe_session_local)
