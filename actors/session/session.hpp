// The SESSION actor: a client's end of a master session. Protocol: actors/protocol/session.hpp.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/local/session.hpp"
#include "actors/session/master_watch.hpp"

namespace troupe {

/// How a master that was lost is found again.
struct LostMaster {
  bool is_lost = false;       ///< it may be there again, which makes UNAVAILABLE into ABORTED
  bool is_looked_for = false; ///< it is being dialled
  bool is_found = false;
  Address address;
  std::uint64_t incarnation = 0; ///< of the one that made the session
};

struct SessionState {
  static constexpr const char* name = "session";
  std::string handle;
  MasterActor master;                ///< makes it again
  MasterSessionActor master_session; ///< set while open
  Status closed;                     ///< why requests are refused; ok while open or new
  bool remote = false;
  GuardianActor guardian;  ///< of the master's node, when that is another
  std::string master_task; ///< that it said it is
  bool opening = false;    ///< the master has been asked for a session
  MasterWatch watch;
  bool closing = false; ///< it has been asked to close the session
  std::int64_t operation_timeout_us = 0;
  LostMaster lost;
  /// Its master session was ended by a fault; the master is asked for the one that goes on.
  bool recovers = false;
  struct Waiting {
    std::int64_t due_us = 0;                  ///< on the actors' clock
    std::function<void(const Status&)> go_on; ///< with why it cannot
    std::function<void()> is_late;
  };
  std::vector<Waiting> waiting; ///< requests that came meanwhile, in order
  std::uint64_t next_request = 1;
  /// Requests under way at a master in another process: a lost connection answers them, CAF would
  /// not.
  std::map<std::uint64_t, std::function<void(const Status&)>> pending;

  ~SessionState();
};

/// `local_master` is null for a client without a node of its own. `transport` is this process's.
SessionActor::behavior_type session(SessionActor::stateful_pointer<SessionState> self,
                                    Services services, MasterActor local_master,
                                    TransportActor transport);

} // namespace troupe
