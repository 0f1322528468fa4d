// The WORKER actor: sessions by handle. Protocol: actors/protocol/worker.hpp.
#pragma once

#include "actors/collectives/collectives.hpp"
#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/local/worker.hpp"
#include "actors/worker/session_book.hpp"

namespace troupe {

struct WorkerState {
  static constexpr const char* name = "worker";
  SessionBook<WorkerSessionActor> sessions; ///< the same as in children
  CollectivesActor collectives;             ///< likewise in children
  std::shared_ptr<CollectiveNotes> notes = std::make_shared<CollectiveNotes>(); ///< of its calls
  Children children;

  WorkerState() = default;
  ~WorkerState() { children.stop_all(); } ///< a kill does not pass the exit handler
};

WorkerActor::behavior_type worker(WorkerActor::stateful_pointer<WorkerState> self,
                                  Services services, MembershipActor membership,
                                  TransportActor transport);

} // namespace troupe
