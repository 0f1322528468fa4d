#include "core/base/log.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

#include "core/base/line_writer.hpp"

namespace troupe {

namespace {
std::atomic<int> g_level{static_cast<int>(LogLevel::warning)};
std::string& name() {
  static std::string value;
  return value;
}
} // namespace

void set_log_level(LogLevel level) {
  g_level.store(static_cast<int>(level), std::memory_order_relaxed);
}
LogLevel log_level() {
  return static_cast<LogLevel>(g_level.load(std::memory_order_relaxed));
}
void set_log_name(std::string_view text) {
  name() = text;
}

void log_line(LogLevel level, std::string_view sentence) {
  using namespace std::chrono;
  auto now = system_clock::now();
  auto seconds = system_clock::to_time_t(now);
  auto millis = duration_cast<milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char stamp[40];
  std::size_t n = std::strftime(stamp, sizeof stamp, "%F %T", &parts);
  std::snprintf(stamp + n, sizeof stamp - n, ".%03d", static_cast<int>(millis));
  standard_error().write(str_cat(std::string_view(stamp), " ", "DIWE"[static_cast<int>(level) & 3],
                                 " ", name(), name().empty() ? "" : " ", sentence, "\n"));
}

bool flush_log(std::chrono::milliseconds budget) {
  return standard_error().flush(budget);
}

std::int64_t num_dropped_log_lines() {
  return standard_error().num_dropped();
}

} // namespace troupe
