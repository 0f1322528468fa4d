#include "tools/troupe/run_progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/base/duration_text.hpp"
#include "core/base/strings.hpp"

namespace troupe {
namespace {

constexpr std::int64_t second = 1'000'000;

// Two digits are enough for a rate that changes.
std::string format_step_rate(double per_second) {
  char text[32];
  std::snprintf(text, sizeof text, per_second < 10 ? "%.1f" : "%.0f", per_second);
  return text;
}

} // namespace

std::string format_progress(const RunProgress& p, std::size_t width) {
  std::string out = p.doing;
  if (out.empty()) {
    out = str_cat("step ", std::min(p.done + 1, p.steps), " of ", p.steps);
    if (p.done > 0 && p.steps_us > 0) {
      double rate = static_cast<double>(p.done) / static_cast<double>(p.steps_us);
      str_append(out, ", ", format_step_rate(rate * second), " steps/s");
      if (p.done < p.steps)
        str_append(
            out, ", ",
            format_micros(static_cast<std::int64_t>(static_cast<double>(p.steps - p.done) / rate)),
            " left");
    }
  }
  if (p.running_us >= second)
    str_append(out, p.doing.empty() ? "; this one runs for " : " for ",
               format_micros(p.running_us / second * second),
               p.waits_for.empty() ? "" : str_cat(", ", p.waits_for));
  if (width > 1 && out.size() > width - 1)
    out.resize(width - 1);
  return out;
}

std::size_t progress_width() {
  winsize size{};
  if (!isatty(STDERR_FILENO) || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col > 0 ? size.ws_col : 80;
}

} // namespace troupe
