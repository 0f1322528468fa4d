// The GUARDIAN actor: root of a node's tree. Protocol: actors/protocol/guardian.hpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/services.hpp"
#include "actors/guardian/node_end.hpp"
#include "actors/protocol/local/master.hpp"
#include "actors/protocol/local/worker.hpp"

namespace troupe {

/// Starts in the order of its fields and stops in reverse. NodeEnd says when.
struct GuardianState {
  static constexpr const char* name = "guardian";
  GuardianState() = default; // no aggregate: CAF would try to make one from the actor's pointer
  GuardianState(const GuardianState&) = delete;
  GuardianState& operator=(const GuardianState&) = delete;
  ~GuardianState(); ///< a kill passes no handler: the children are stopped and the end is told here
  TransportActor transport;
  MembershipActor membership;
  WorkerActor worker;
  MasterActor master;
  /// Actors that the node's owner added; they end before the others, which they use.
  std::vector<DrainActor> adopted;
  Children children;
  NodeEnd end;
  std::function<void(std::string, bool)> on_end; ///< null once it was called
};

/// `on_end` is called once when the tree has stopped, with the reason and whether it was asked to.
GuardianActor::behavior_type guardian(GuardianActor::stateful_pointer<GuardianState> self,
                                      Services services,
                                      std::function<void(std::string, bool)> on_end);

} // namespace troupe
