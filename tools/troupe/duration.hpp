// Durations on a command line: "500ms", "2s", "1.5min" or "1.5m"; a bare number is seconds.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/duration_text.hpp"
#include "core/base/status.hpp"
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

/// INVALID_ARGUMENT with the flag's name and what it takes.
inline Result<std::chrono::milliseconds> read_duration(std::string_view flag,
                                                       std::string_view text) {
  if (auto duration = parse_duration(text))
    return *duration;
  return invalid_argument(str_cat(flag, " '", text,
                                  "' is no time from 1ms to a year; write 500ms, 10s or 2min (a "
                                  "number alone is seconds)"));
}

} // namespace troupe
