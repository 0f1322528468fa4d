// The actors at the root of a node, for whoever owns it.
#pragma once

#include "actors/protocol/local/master.hpp"
#include "actors/protocol/local/worker.hpp"

namespace troupe {

struct NodeHandles {
  GuardianActor guardian;
  MasterActor master;
  WorkerActor worker;
  TransportActor transport;
  MembershipActor membership;
};

} // namespace troupe
