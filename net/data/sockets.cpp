#include "net/data/sockets.hpp"

#include <cerrno>
#include <cstring>
#include <memory>

#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/random.hpp"
#include "core/base/strings.hpp"

namespace troupe::data {

namespace {

constexpr int flags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
constexpr int backlog = 128;

struct LocalAddress {
  sockaddr_un address{};
  socklen_t size = 0;
  explicit LocalAddress(const std::string& name) {
    address.sun_family = AF_UNIX; // sun_path[0] stays zero: an abstract name
    std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), length);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Result<Addresses> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found))
    return unavailable(str_cat("the address ", host, " is not known: ", ::gai_strerror(error)));
  return Addresses(found, ::freeaddrinfo);
}

std::string why() {
  return std::strerror(errno);
}

} // namespace

Fd::~Fd() {
  if (fd_ >= 0)
    ::close(fd_);
}

Result<Fd> listen_local(std::string& name) {
  name = str_cat("troupe-", hex16(random_id()), hex16(random_id()));
  Fd out(::socket(AF_UNIX, flags, 0));
  LocalAddress address(name);
  if (!out || ::bind(out.get(), address.get(), address.size) != 0 ||
      ::listen(out.get(), backlog) != 0)
    return unavailable(str_cat("cannot listen at a Unix socket: ", why()));
  return out;
}

Result<Fd> listen_tcp(const std::string& host, std::uint16_t& port) {
  TROUPE_ASSIGN(Addresses addresses, resolve(host, 0));
  std::string reason = "the host has no address";
  for (const addrinfo* a = addresses.get(); a; a = a->ai_next) {
    Fd out(::socket(a->ai_family, flags, 0));
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (!out || ::bind(out.get(), a->ai_addr, a->ai_addrlen) != 0 ||
        ::listen(out.get(), backlog) != 0 ||
        ::getsockname(out.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
      reason = why();
      continue;
    }
    port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(bound).sin_port);
    return out;
  }
  return unavailable(str_cat("cannot listen for streams at ", host, ": ", reason));
}

bool is_same_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

Result<Fd> connect_local(const std::string& name) {
  Fd out(::socket(AF_UNIX, flags, 0));
  LocalAddress address(name);
  if (!out || ::connect(out.get(), address.get(), address.size) != 0)
    return unavailable(str_cat("its Unix socket cannot be reached: ", why(),
                               "; the two may run in containers with networks of their own"));
  if (!is_same_user(out.get()))
    return permission_denied("its Unix socket belongs to another user");
  return out;
}

Result<Fd> connect_tcp(const std::string& host, std::uint16_t port) {
  TROUPE_ASSIGN(Addresses addresses, resolve(host, port));
  std::string reason = "the host has no address";
  for (const addrinfo* a = addresses.get(); a; a = a->ai_next) {
    Fd out(::socket(a->ai_family, flags, 0));
    if (out && (::connect(out.get(), a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS))
      return out;
    reason = why();
  }
  return unavailable(str_cat("no stream to ", host, ":", port, ": ", reason));
}

Status connect_outcome(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
    error = errno;
  return error == 0 ? Status{} : unavailable(std::strerror(error));
}

void tune_stream(int fd) {
  int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Progress progress(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return {};
  return {info.tcpi_bytes_acked, info.tcpi_data_segs_in, info.tcpi_delivery_rate,
          info.tcpi_min_rtt};
}

std::ptrdiff_t send_with_fd(int socket, const void* from, std::size_t bytes, int fd) {
  iovec piece{const_cast<void*>(from), bytes};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::ptrdiff_t receive_with_fd(int socket, void* to, std::size_t bytes, Fd& fd) {
  iovec piece{to, bytes};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  message.msg_control = control;
  message.msg_controllen = sizeof control; // further descriptors are closed by the kernel
  std::ptrdiff_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  for (cmsghdr* header = got >= 0 ? CMSG_FIRSTHDR(&message) : nullptr; header;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
      continue;
    std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int one = -1;
      std::memcpy(&one, CMSG_DATA(header) + i * sizeof(int), sizeof one);
      Fd received(one);
      if (!fd)
        fd = std::move(received);
    }
  }
  return got;
}

} // namespace troupe::data
