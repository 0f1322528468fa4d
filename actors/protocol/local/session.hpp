// To a client's own session.
#pragma once

#include "actors/protocol/guardian.hpp"
#include "actors/protocol/local/master.hpp"
#include "actors/protocol/session.hpp"

namespace troupe {

/// Connects to a master and makes a session there.
struct OpenSession {
  GuardianActor guardian; ///< of the master's node, dialled by the caller;
                          ///< null: the master in this process
  CreateSession request;
  std::int64_t timeout_us = 0; ///< of opening; 0: until silent tasks have been judged
  /// Of every call that has no time of its own; 0: what the runtime gives it.
  std::int64_t operation_timeout_us = 0;
  Address master; ///< where it is looked for once it is lost; none: nowhere
};

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_session_local, troupe::type_block::session_local)
TROUPE_LOCAL_MESSAGE(troupe_session_local, OpenSession)
CAF_END_TYPE_ID_BLOCK(troupe_session_local)
