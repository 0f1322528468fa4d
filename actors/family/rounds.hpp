// What actors do every so often they do at the same moments: so that what many of them have to do
// takes one wake-up of each process, and leaves in one piece.
#pragma once

#include <chrono>

namespace troupe {

/// The time until the next multiple of `period` on the actors' clock, which on one machine is the
/// same for all processes; until the one after it if that is nearer than an eighth of `period`. A
/// timer may end while that clock still shows a moment before the round: without the eighth it
/// would be set for the same round again, many times in a row.
template <class Self>
std::chrono::nanoseconds until_next_round(Self* self, std::chrono::nanoseconds period) {
  auto now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(self->clock().now().time_since_epoch());
  const std::chrono::nanoseconds rest = period - now % period;
  return rest < period / 8 ? rest + period : rest;
}

} // namespace troupe
