#include "tools/troupe/command.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace troupe {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void announce(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0 && errno == EAGAIN) { // somebody else has made the terminal non-blocking
      pollfd room{fd, POLLOUT, 0};
      poll(&room, 1, -1);
      continue;
    }
    if (wrote <= 0)
      return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

int failed(const Status& status) {
  std::fprintf(stderr, "troupe: %s\n", status.to_string().c_str());
  return exit_failed;
}

int failed_in_file(const Status& status) {
  if (status.code() != Code::invalid_argument)
    return failed(status);
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return exit_failed;
}

int called_wrongly(std::string_view sentence) {
  std::fprintf(stderr, "troupe: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  return exit_called_wrongly;
}

} // namespace troupe
