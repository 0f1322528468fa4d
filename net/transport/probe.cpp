#include "net/transport/probe.hpp"

#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

struct Socket {
  int fd = -1;
  ~Socket() {
    if (fd >= 0)
      ::close(fd);
  }
};

Status failure(const std::string& host, std::uint16_t port, std::string_view why) {
  return unavailable(str_cat("nobody can be reached at ", host, ":", port, ": ", why));
}

} // namespace

Status probe_tcp(const std::string& host, std::uint16_t port, std::chrono::milliseconds budget) {
  auto end = std::chrono::steady_clock::now() + budget;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found))
    return failure(host, port, ::gai_strerror(error));
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::string why = "the host has no address";
  for (addrinfo* a = found; a; a = a->ai_next) {
    Socket socket{::socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (socket.fd < 0)
      return failure(host, port, std::strerror(errno));
    if (::connect(socket.fd, a->ai_addr, a->ai_addrlen) == 0)
      return {};
    if (errno != EINPROGRESS) {
      why = std::strerror(errno);
      continue;
    }
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                    end - std::chrono::steady_clock::now())
                    .count();
    pollfd wait{socket.fd, POLLOUT, 0};
    if (::poll(&wait, 1, left > 0 ? static_cast<int>(left) : 0) == 0) {
      why = str_cat("no answer within ", budget.count(), " ms");
      continue;
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0)
      return {};
    why = std::strerror(error);
  }
  return failure(host, port, why);
}

} // namespace troupe
