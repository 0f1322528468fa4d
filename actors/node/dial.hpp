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

/// Tries until somebody listens at `address`, the patience ends or `stop` (may be null) is set; blocks
/// the calling thread, which must not be one of the scheduler's. With `find`, which may be empty, each
/// attempt asks it where to dial. The actor is a GuardianActor.
/// UNAVAILABLE naming the address and the whole time waited; UNIMPLEMENTED when what answers there is
/// no node of troupe.
Result<caf::strong_actor_ptr> dial_guardian(caf::actor_system& system, const Address& address,
                                            const DialPatience& patience,
                                            const StopEvent* stop = nullptr,
                                            const FindAddress& find = {});

} // namespace troupe
