// The MASTER actor: finds the cluster's devices and owns sessions. Protocol:
// actors/protocol/master.hpp.
#pragma once

#include <map>
#include <string>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/local/master.hpp"

namespace troupe {

struct MasterState {
  static constexpr const char* name = "master";
  std::map<std::string, MasterSessionActor> sessions; ///< by handle
  Children children;
  Status refusal; ///< of new sessions: the node is about to end
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
