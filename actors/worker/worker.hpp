// The WORKER actor: sessions by handle. Protocol: actors/protocol/worker.hpp.
#pragma once

#include <map>
#include <string>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/local/worker.hpp"

namespace troupe {

struct WorkerState {
  static constexpr const char* name = "worker";
  struct Session {
    WorkerSessionActor actor; ///< the same as in children
    std::string master;       ///< the task that asked for it
  };
  std::map<std::string, Session> sessions; ///< by handle
  Children children;
  Status refusal; ///< of new sessions: the node is about to end

  ~WorkerState() { children.stop_all(); } ///< a kill does not pass the exit handler
};

WorkerActor::behavior_type worker(WorkerActor::stateful_pointer<WorkerState> self,
                                  Services services, MembershipActor membership,
                                  TransportActor transport);

} // namespace troupe
