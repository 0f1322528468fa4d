// The MASTER actor: finds the cluster's devices and owns sessions. Protocol:
// actors/protocol/master.hpp.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <caf/typed_response_promise.hpp>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/master/session_life.hpp"
#include "actors/protocol/local/master.hpp"

namespace troupe {

struct MasterState {
  static constexpr const char* name = "master";
  struct Session {
    SessionLife life;
    MasterSessionActor actor;            ///< null while it is being made again
    std::shared_ptr<DirectSteps> direct; ///< steps on their callers' threads
    /// Who wants to know the actor while it is being made again.
    std::vector<caf::typed_response_promise<SessionCreated>> waiting;
  };
  std::map<std::string, Session> sessions; ///< by handle
  Children children;
  /// Sessions that ended by faults once too often, the latest, with what is said of them.
  std::deque<std::pair<std::string, Status>> given_up;
  Status refusal; ///< of new sessions: the node is about to end

  MasterState() = default;
  ~MasterState();
};

MasterActor::behavior_type master(MasterActor::stateful_pointer<MasterState> self,
                                  Services services, WorkerActor own_worker,
                                  MembershipActor membership, TransportActor transport);

/// Tasks of the cluster that the session's device filters admit; the master's own task always is
/// one. A filter without any task part that fits admits none. INVALID_ARGUMENT for a filter that is
/// no device name.
Result<std::vector<std::string>> admitted_tasks(const std::vector<std::string>& tasks,
                                                const std::string& own_task,
                                                const std::vector<std::string>& filters);

} // namespace troupe
