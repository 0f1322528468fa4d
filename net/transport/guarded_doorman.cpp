#include "net/transport/guarded_doorman.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <caf/io/network/native_socket.hpp>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

namespace network = caf::io::network;

/// Pause (ms) of the loop when even the reserve descriptor is gone, which another thread has taken.
constexpr int pause_ms = 20;

int make_reserve() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

} // namespace

GuardedDoorman::Door::Door(Report report) : report_(std::move(report)), reserve_(make_reserve()) {}

GuardedDoorman::Door::~Door() {
  if (reserve_ >= 0)
    ::close(reserve_);
}

bool GuardedDoorman::Door::try_accept(network::native_socket& out,
                                      network::native_socket listener) {
  out = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (out >= 0)
    return true;
  if (int why = errno; why == EMFILE || why == ENFILE || why == ENOBUFS || why == ENOMEM)
    turn_away(listener, why);
  return false; // other errors concern this connection alone
}

void GuardedDoorman::Door::turn_away(int listener, int why) {
  if (reserve_ >= 0)
    ::close(std::exchange(reserve_, -1));
  int stranger = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (stranger >= 0)
    ::close(stranger);
  reserve_ = make_reserve();
  if (stranger < 0 || reserve_ < 0)
    ::poll(nullptr, 0, pause_ms);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  report_(why == EMFILE
              ? str_cat("closed a new connection: this process has no file descriptor left of ",
                        files.rlim_cur, "; raise the limit (ulimit -n)")
              : str_cat("closed a new connection: the machine cannot take it (", std::strerror(why),
                        ")"));
}

GuardedDoorman::GuardedDoorman(network::default_multiplexer& loop, network::native_socket socket,
                               Report report)
    : doorman(network::accept_hdl_from_socket(socket)), acceptor_(loop, socket, std::move(report)) {
}

bool GuardedDoorman::new_connection() {
  if (detached())
    return false;
  auto& loop = acceptor_.backend();
  auto scribe = loop.new_scribe(acceptor_.accepted_socket());
  auto handle = scribe->hdl();
  parent()->add_scribe(std::move(scribe));
  return doorman::new_connection(&loop, handle);
}

void GuardedDoorman::graceful_shutdown() {
  acceptor_.graceful_shutdown();
  detach(&acceptor_.backend(), false);
}

void GuardedDoorman::launch() {
  acceptor_.start(this);
}

std::string GuardedDoorman::addr() const {
  auto text = network::local_addr_of_fd(acceptor_.fd());
  return text ? *std::move(text) : "";
}

std::uint16_t GuardedDoorman::port() const {
  auto number = network::local_port_of_fd(acceptor_.fd());
  return number ? *number : std::uint16_t{0};
}

void GuardedDoorman::add_to_loop() {
  acceptor_.activate(this);
}

void GuardedDoorman::remove_from_loop() {
  acceptor_.passivate();
}

} // namespace troupe
