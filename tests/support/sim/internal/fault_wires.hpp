// What the files of FaultCluster share.
#pragma once

#include <cstdint>

#include <caf/abstract_actor.hpp>
#include <caf/actor_control_block.hpp>

namespace troupe::testing {

/// The first node listens there, the others at the next ones.
inline constexpr std::uint16_t first_port = 4201;

/// Known to have ended, or behind a connection that has closed.
inline bool is_gone(const caf::strong_actor_ptr& actor) {
  return actor->get()->getf(caf::abstract_actor::is_cleaned_up_flag);
}

} // namespace troupe::testing
