#include "tools/troupe/command.hpp"

#include <unistd.h>

#include <cstdio>

#include "core/base/line_writer.hpp"
#include "core/base/strings.hpp"

namespace troupe {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void announce(int fd, std::string_view text) {
  (fd == STDOUT_FILENO ? standard_output() : standard_error()).write(text);
}

int failed(const Status& status) {
  announce(STDERR_FILENO, str_cat("troupe: ", status.to_string(), "\n"));
  return exit_failed;
}

int failed_in_file(const Status& status) {
  if (status.code() != Code::invalid_argument)
    return failed(status);
  announce(STDERR_FILENO, str_cat(status.message(), "\n"));
  return exit_failed;
}

int called_wrongly(std::string_view sentence) {
  announce(STDERR_FILENO, str_cat("troupe: ", sentence, "\n"));
  return exit_called_wrongly;
}

} // namespace troupe
