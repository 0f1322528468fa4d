// Reaching a guardian over TCP, with an end.
#pragma once

#include <chrono>

#include <caf/actor_control_block.hpp>
#include <caf/fwd.hpp>

#include "actors/family/network.hpp"
#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"
#include "net/cluster/find_address.hpp"

namespace troupe {

class StopEvent;

struct DialMeans {
  const StopEvent* stop = nullptr; ///< ends the dial; may be null
  FindAddress find = {};           ///< asked where to dial with each attempt; may be empty
  DialForeign foreign = {}; ///< of a task that `find` says to be no node of troupe; may be empty
};

/// Tries until somebody listens at `address`, the patience ends or the stop is set; blocks the
/// calling thread, which must not be one of the scheduler's. The actor is a GuardianActor.
/// UNAVAILABLE naming the address and the whole time waited; UNIMPLEMENTED when what answers there
/// is no node of troupe.
Result<caf::strong_actor_ptr> dial_guardian(caf::actor_system& system, const Address& address,
                                            const DialPatience& patience,
                                            const DialMeans& means = {});

} // namespace troupe
