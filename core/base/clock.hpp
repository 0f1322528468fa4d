// Time as the runtime measures it: microseconds on the steady clock for durations, on the wall
// clock for traces.
#pragma once

#include <chrono>
#include <cstdint>

namespace troupe {

using Duration = std::chrono::nanoseconds;

/// Microseconds since an arbitrary start; never goes back.
inline std::int64_t steady_micros() {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

/// Microseconds since 1970.
inline std::int64_t wall_micros() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

/// Cheap tick counter for measuring kernels; not comparable between machines.
inline std::uint64_t cpu_ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

} // namespace troupe
