// The network's thread runs actors too (see StepScheduler), but nothing that takes long: every
// connection of the process waits meanwhile.
#pragma once

#include <caf/fwd.hpp>

namespace troupe {

/// Whether the calling thread is the one that serves this system's connections. False in a process
/// without a network.
bool on_network_thread(caf::actor_system& system);

} // namespace troupe
