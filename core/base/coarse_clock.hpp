// The time as of the system's last tick: for a fraction of the price of the exact one.
#pragma once

#include <ctime>

#include <cstdint>

#include "core/base/clock.hpp"

namespace troupe {

/// The steady clock as of its last tick, some milliseconds ago.
inline Duration coarse_time() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec);
}

/// From one tick to the next: coarse_time() lags by less.
inline Duration coarse_tick() {
  static const Duration tick = [] {
    timespec resolution{};
    clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
    return std::chrono::seconds(resolution.tv_sec) + Duration(resolution.tv_nsec);
  }();
  return tick;
}

/// steady_micros() as of the last tick.
inline std::int64_t coarse_micros() {
  return coarse_time() / std::chrono::microseconds(1);
}

} // namespace troupe
