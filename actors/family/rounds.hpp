// What actors do every so often they do at the same moments: so that what many of them have to do takes
// one wake-up of each process, and leaves in one piece.
#pragma once

#include <chrono>

namespace troupe {

/// The time until the next multiple of `period` on the actors' clock, which on one machine is the same
/// for all processes. Within 1 tick of that clock and `period`.
template <class Self>
std::chrono::nanoseconds until_next_round(Self* self, std::chrono::nanoseconds period) {
  auto now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(self->clock().now().time_since_epoch());
  return period - now % period;
}

} // namespace troupe
