#include "tests/support/rpc/fault_proxy.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::testing {

namespace {

class Socket {
public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  int fd() const { return fd_; }

private:
  int fd_;
};

void prepare(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

/// One way of a connection.
struct Way {
  std::string waiting; ///< read from one end, not yet written to the other
  bool loses = false;
  std::optional<std::uint64_t> cut_after;
};

struct Wire {
  Socket client, server;
  Way to_server, to_client;
  bool is_cut = false;
};

constexpr std::size_t piece = 64 << 10;

} // namespace

struct FaultProxy::Impl {
  Socket listener, wake{::eventfd(0, EFD_NONBLOCK)};
  std::uint16_t port = 0, server_port = 0;
  std::atomic<std::uint64_t> faults{0};

  std::mutex lock; // guards what follows
  std::list<Wire> wires;
  Way next_to_server, next_to_client; ///< for the next connection
  bool stopping = false;
  std::thread thread;

  void ring() {
    const std::uint64_t one = 1;
    (void)!::write(wake.fd(), &one, sizeof one);
  }

  void run() {
    for (;;) {
      std::vector<pollfd> watched{{listener.fd(), POLLIN, 0}, {wake.fd(), POLLIN, 0}};
      {
        std::scoped_lock guard(lock);
        if (stopping)
          return;
        for (Wire& wire : wires)
          for (auto [from, to, in, out] :
               {std::tuple{wire.client.fd(), wire.server.fd(), &wire.to_server, &wire.to_client},
                std::tuple{wire.server.fd(), wire.client.fd(), &wire.to_client, &wire.to_server}})
            watched.push_back({from,
                               static_cast<short>((in->waiting.empty() ? POLLIN : 0) |
                                                  (out->waiting.empty() ? 0 : POLLOUT)),
                               0});
      }
      ::poll(watched.data(), watched.size(), 1000);
      std::uint64_t rings = 0;
      (void)!::read(wake.fd(), &rings, sizeof rings);
      std::scoped_lock guard(lock);
      if (stopping)
        return;
      accept_one();
      for (Wire& wire : wires) {
        pass(wire, wire.client, wire.server, wire.to_server);
        pass(wire, wire.server, wire.client, wire.to_client);
      }
      std::erase_if(wires, [](const Wire& wire) { return wire.is_cut; });
    }
  }

  void accept_one() {
    Socket client(::accept(listener.fd(), nullptr, nullptr));
    if (client.fd() < 0)
      return;
    Socket server(::socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in at = loopback(server_port);
    if (::connect(server.fd(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
      return; // the client is refused, too
    prepare(client.fd());
    prepare(server.fd());
    wires.push_back({std::move(client), std::move(server), std::exchange(next_to_server, {}),
                     std::exchange(next_to_client, {})});
  }

  void pass(Wire& wire, Socket& from, Socket& to, Way& way) {
    for (int i = 0; i < 16 && !wire.is_cut; ++i) {
      if (way.waiting.empty() && !read(wire, from, way))
        return;
      if (way.loses) {
        way.waiting.clear();
        continue;
      }
      const std::size_t most = static_cast<std::size_t>(
          std::min<std::uint64_t>(way.waiting.size(), way.cut_after.value_or(way.waiting.size())));
      const ssize_t written = ::send(to.fd(), way.waiting.data(), most, MSG_NOSIGNAL);
      if (written < 0 && errno != EAGAIN)
        wire.is_cut = true;
      if (written < 0)
        return;
      way.waiting.erase(0, static_cast<std::size_t>(written));
      if (!way.cut_after)
        continue;
      *way.cut_after -= static_cast<std::uint64_t>(written);
      if (*way.cut_after == 0) {
        wire.is_cut = true;
        ++faults;
      }
    }
  }

  bool read(Wire& wire, Socket& from, Way& way) {
    way.waiting.resize(piece);
    const ssize_t got = ::recv(from.fd(), way.waiting.data(), piece, 0);
    way.waiting.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (got == 0 || (got < 0 && errno != EAGAIN))
      wire.is_cut = true; // an end has gone
    return got > 0;
  }
};

FaultProxy::FaultProxy(std::uint16_t server_port) : impl_(std::make_unique<Impl>()) {
  impl_->server_port = server_port;
  impl_->listener = Socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  const int fd = impl_->listener.fd();
  if (::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || ::listen(fd, 64) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    std::abort(); // of a test's machine
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  impl_->port = ntohs(at.sin_port);
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

FaultProxy::~FaultProxy() {
  {
    std::scoped_lock guard(impl_->lock);
    impl_->stopping = true;
  }
  impl_->ring();
  impl_->thread.join();
}

std::uint16_t FaultProxy::port() const {
  return impl_->port;
}

void FaultProxy::lose_answers() {
  std::scoped_lock guard(impl_->lock);
  for (Wire& wire : impl_->wires)
    wire.to_client.loses = true;
  ++impl_->faults;
}

void FaultProxy::cut() {
  {
    std::scoped_lock guard(impl_->lock);
    impl_->wires.clear();
    ++impl_->faults;
  }
  impl_->ring();
}

void FaultProxy::cut_after_bytes_to_server(std::uint64_t bytes) {
  std::scoped_lock guard(impl_->lock);
  for (Wire& wire : impl_->wires)
    wire.to_server.cut_after = bytes;
  if (impl_->wires.empty())
    impl_->next_to_server.cut_after = bytes;
}

void FaultProxy::cut_after_bytes_to_client(std::uint64_t bytes) {
  std::scoped_lock guard(impl_->lock);
  for (Wire& wire : impl_->wires)
    wire.to_client.cut_after = bytes;
  if (impl_->wires.empty())
    impl_->next_to_client.cut_after = bytes;
}

std::uint64_t FaultProxy::faults() const {
  return impl_->faults;
}

} // namespace troupe::testing
