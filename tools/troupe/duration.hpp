// Durations on a command line: "500ms", "2s", "1.5min" or "1.5m"; a bare number is seconds.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/duration_text.hpp"
#include "core/base/strings.hpp"

namespace troupe {

/// Nothing for other text, for less than a millisecond (which would mean "no limit" to whoever gets
/// it) and for more than a year.
inline std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"ms", 1}, {"min", 60e3}, {"m", 60e3}, {"h", 3600e3}, {"s", 1e3}};
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

} // namespace troupe
