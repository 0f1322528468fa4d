// Durations as people read them.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/strings.hpp"

namespace troupe {

/// "3.2 ms", "1 min 5 s": about three digits, for people.
inline std::string format_micros(std::int64_t us) {
  auto round = [](double value) {
    double scale = value < 10 ? 100 : value < 100 ? 10 : 1;
    return static_cast<double>(static_cast<std::int64_t>(value * scale + 0.5)) / scale;
  };
  if (us < 1000)
    return str_cat(us, " us");
  if (us < 1000000)
    return str_cat(round(static_cast<double>(us) / 1e3), " ms");
  if (us < 60000000)
    return str_cat(round(static_cast<double>(us) / 1e6), " s");
  std::int64_t s = us / 1000000;
  return s < 3600 ? str_cat(s / 60, " min ", s % 60, " s")
                  : str_cat(s / 3600, " h ", s / 60 % 60, " min");
}

} // namespace troupe
