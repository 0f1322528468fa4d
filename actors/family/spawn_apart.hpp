// Actors that block, on threads of their own, which the system may refuse.
#pragma once

#include <string_view>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/spawn_options.hpp>

#include "core/base/no_thread.hpp"

namespace troupe {

/// Spawns `behavior`, on a thread of its own if asked. RESOURCE_EXHAUSTED with what the thread is
/// for ("to dial 127.0.0.1:7000") if the system refuses it; the caller goes on.
template <class Self, class Behavior, class... Args>
auto spawn_apart(Self* self, bool on_own_thread, std::string_view what_for, Behavior behavior,
                 Args&&... args)
    -> Result<decltype(self->spawn(behavior, std::forward<Args>(args)...))> {
  if (!on_own_thread)
    return self->spawn(behavior, std::forward<Args>(args)...);
  try {
    return self->template spawn<caf::detached>(behavior, std::forward<Args>(args)...);
  } catch (const std::system_error& refused) {
    // CAF has counted the thread before it made it, and would wait for its end.
    self->system().dec_detached_threads();
    return no_thread(refused, what_for);
  }
}

} // namespace troupe
