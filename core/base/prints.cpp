#include "core/base/prints.hpp"

#include <atomic>
#include <chrono>

#include "core/base/line_writer.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe {
namespace {

constexpr std::chrono::milliseconds patience{100};

std::atomic<bool>& goes_to_streams() {
  static std::atomic<bool> it{false};
  return it;
}

} // namespace

void print_to_streams() {
  goes_to_streams() = true;
}

void print(PrintStream stream, std::string_view text, std::string_view end) {
  if (!goes_to_streams())
    return log_line(LogLevel::info, text);
  LineWriter& writer = stream == PrintStream::output ? standard_output() : standard_error();
  writer.write(str_cat(text, end));
  (void)writer.flush(patience);
}

} // namespace troupe
