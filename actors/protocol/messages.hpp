// Registers every message of the protocol that travels with an actor system; the list of families,
// and nothing else to edit for a new message. What is registered is what a port lets through.
#pragma once

#include <caf/fwd.hpp>

namespace troupe {
void add_protocol_messages(caf::actor_system_config& config);
}
