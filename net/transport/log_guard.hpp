// LogGuard: takes back what CAF leaves in a thread that is not its own.
#pragma once

#include <caf/logger.hpp>

namespace troupe {

/// To be held while a user's thread spawns actors or makes a scoped_actor; the thread then keeps
/// nothing of CAF's.
///
/// CAF gives such a thread a reference to its system's log, which stays until the thread ends. The
/// system's end waits for the last such reference, and so for a thread that may live longer. The
/// main thread gives its own back before static objects end, without forgetting it: a system that
/// such an object owns would give it back a second time.
class LogGuard {
public:
  LogGuard() = default;
  LogGuard(const LogGuard&) = delete;
  LogGuard& operator=(const LogGuard&) = delete;
  ~LogGuard() { caf::logger::set_current_actor_system(nullptr); }
};

} // namespace troupe
