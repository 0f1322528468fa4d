// Durations on a command line: "500ms", "2s", "1.5min"; a bare number is seconds.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/strings.hpp"

namespace troupe {

/// Nothing for other text, for less than a millisecond (which would mean "no limit" to whoever gets
/// it) and for more than a year.
inline std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"ms", 1}, {"min", 60e3}, {"h", 3600e3}, {"s", 1e3}};
  double factor = 1e3;
  for (auto [unit, ms] : units)
    if (text.ends_with(unit)) {
      text.remove_suffix(unit.size());
      factor = ms;
      break;
    }
  auto count = parse_double(text);
  if (!count || !(*count * factor >= 1) || *count * factor > 366.0 * 24 * 3600e3)
    return {};
  return std::chrono::milliseconds(static_cast<std::int64_t>(*count * factor));
}

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
