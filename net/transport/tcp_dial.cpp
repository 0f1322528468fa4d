#include "net/transport/tcp_dial.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/strings.hpp"
#include "net/transport/stop_event.hpp"

namespace troupe {

namespace {

using Clock = std::chrono::steady_clock;

// A kernel repeats what was not answered ever more slowly, up to many seconds, and so would not see
// for long that a network is there again. So another attempt is made so often, beside the others.
constexpr std::chrono::milliseconds next_attempt{250};

// 0 and a connection when somebody listens, else why not; ETIMEDOUT at `end`, ECANCELED once `stop`
// is set.
int attempt(const addrinfo& to, Clock::time_point end, const StopEvent* stop, data::Fd& connected) {
  std::vector<data::Fd> sockets;
  int why = ETIMEDOUT;
  for (;;) {
    data::Fd socket(::socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket)
      return errno;
    if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) == 0) {
      connected = std::move(socket);
      return 0;
    }
    if (errno != EINPROGRESS)
      return errno;
    if (sockets.size() == most_dial_attempts)
      sockets.erase(sockets.begin() + static_cast<std::ptrdiff_t>(kept_dial_attempts));
    sockets.push_back(std::move(socket));
    auto until = std::min(end, Clock::now() + next_attempt);
    for (auto now = Clock::now(); now < until && !sockets.empty(); now = Clock::now()) {
      std::vector<pollfd> wait;
      for (const data::Fd& x : sockets)
        wait.push_back({x.get(), POLLOUT, 0});
      wait.push_back({stop ? stop->fd() : -1, POLLIN, 0});
      auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
      if (::poll(wait.data(), wait.size(), static_cast<int>(left)) <= 0)
        continue;
      if (wait.back().revents)
        return ECANCELED;
      for (std::size_t i = sockets.size(); i-- > 0;) {
        if (!wait[i].revents)
          continue;
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(wait[i].fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error == 0) {
          connected = std::move(sockets[i]);
          return 0;
        }
        why = error;
        sockets.erase(sockets.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (sockets.empty() || Clock::now() >= end)
      return why;
  }
}

Status failure(const std::string& host, std::uint16_t port, std::string_view why) {
  return unavailable(str_cat("nobody can be reached at ", host, ":", port, ": ", why));
}

} // namespace

Result<data::Fd> dial_tcp(const std::string& host, std::uint16_t port,
                          std::chrono::milliseconds budget, const StopEvent* stop) {
  auto end = Clock::now() + budget;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found))
    return failure(host, port, ::gai_strerror(error));
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::string why = "the host has no address";
  for (addrinfo* a = found; a; a = a->ai_next) {
    data::Fd connected;
    int error = attempt(*a, end, stop, connected);
    if (error == 0)
      return connected;
    if (error == ECANCELED)
      return failure(host, port, "given up, since who asked is shutting down");
    why = error == ETIMEDOUT ? str_cat("no answer within ", budget.count(), " ms")
                             : std::string(std::strerror(error));
  }
  return failure(host, port, why);
}

} // namespace troupe
