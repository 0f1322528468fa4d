// Log lines on standard error: "2026-11-21 10:56:34.123 W worker/1 sentence". Any thread. Logging
// never waits for the reader of standard error: lines that are not read are queued, and when the
// queue is full they are dropped and counted (line_writer.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "core/base/strings.hpp"

namespace troupe {

enum class LogLevel : int { debug = 0, info = 1, warning = 2, error = 3, off = 4 };

/// Lines below `level` are dropped. Starts at warning; a node sets it from its config before any
/// thread starts.
void set_log_level(LogLevel level);
LogLevel log_level();
/// The process's name on each line, such as "worker/1". Set once at start.
void set_log_name(std::string_view name);
void log_line(LogLevel level, std::string_view sentence);
/// Waits until every line is written, `budget` at most; false if some are still queued then. A
/// process calls it before it ends, because queued lines end with it.
bool flush_log(std::chrono::milliseconds budget);
/// Lines that were dropped because nobody read them.
std::int64_t num_dropped_log_lines();

template <class... Ts>
void log_debug(const Ts&... pieces) {
  if (log_level() <= LogLevel::debug)
    log_line(LogLevel::debug, str_cat(pieces...));
}
template <class... Ts>
void log_info(const Ts&... pieces) {
  if (log_level() <= LogLevel::info)
    log_line(LogLevel::info, str_cat(pieces...));
}
template <class... Ts>
void log_warning(const Ts&... pieces) {
  if (log_level() <= LogLevel::warning)
    log_line(LogLevel::warning, str_cat(pieces...));
}
template <class... Ts>
void log_error(const Ts&... pieces) {
  if (log_level() <= LogLevel::error)
    log_line(LogLevel::error, str_cat(pieces...));
}

} // namespace troupe
