// Waiting for what comes soon without giving the core away.
#pragma once

#include <chrono>

namespace troupe {

/// Tells the core that its thread only waits.
inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits for `ready()`, `limit` at most; tells whether it came.
template <class F>
bool spin_until(F&& ready, std::chrono::nanoseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready())
        return true;
      pause_core();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

} // namespace troupe
