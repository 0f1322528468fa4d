#include "net/transport/network_thread.hpp"

#include <thread>

#include <caf/actor_system.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/multiplexer.hpp>

namespace troupe {

bool on_network_thread(caf::actor_system& system) {
  return system.has_middleman() &&
         system.middleman().backend().thread_id() == std::this_thread::get_id();
}

} // namespace troupe
