#include "net/transport/stop_event.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace troupe {

StopEvent::StopEvent() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

StopEvent::~StopEvent() {
  if (fd_ >= 0)
    ::close(fd_);
}

void StopEvent::set() {
  std::uint64_t one = 1;
  [[maybe_unused]] auto wrote = ::write(fd_, &one, sizeof one);
}

bool StopEvent::is_set() const {
  return wait_for(std::chrono::milliseconds(0));
}

bool StopEvent::wait_for(std::chrono::milliseconds budget) const {
  using std::chrono::steady_clock;
  auto end = steady_clock::now() + budget;
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    pollfd wait{fd_, POLLIN, 0}; // no descriptor could be had: a wait that ends with its budget
    int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready > 0)
      return (wait.revents & POLLIN) != 0;
    if (ready == 0 || errno != EINTR)
      return false;
  }
}

} // namespace troupe
