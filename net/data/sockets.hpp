// The sockets of data connections: made, named, checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/status.hpp"

namespace troupe::data {

/// Owns a descriptor.
class Fd {
public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

private:
  int fd_ = -1;
};

/// A listening Unix socket with a name of its own among the kernel's abstract ones: no file, so
/// nothing stays behind. All sockets here are non-blocking and closed on exec.
Result<Fd> listen_local(std::string& name);
/// Listens at `host`, a name or an address, on a port of the system's choice.
Result<Fd> listen_tcp(const std::string& host, std::uint16_t& port);

/// Whether the other end of a Unix socket belongs to the same user as we.
bool is_same_user(int fd);
/// Connected, or about to be.
Result<Fd> connect_local(const std::string& name);
Result<Fd> connect_tcp(const std::string& host, std::uint16_t port);
/// Ok once a socket that became writable is connected.
Status connect_outcome(int fd);
void tune_stream(int fd);

/// What the kernel knows of a TCP connection beyond what this process has read and written: on a
/// slow link its buffers take and hold for minutes. Zeros for other sockets.
struct Progress {
  std::uint64_t taken = 0;         ///< bytes that the other end's kernel has acknowledged
  std::uint32_t arrived = 0;       ///< segments with data that have come, in order or not
  std::uint64_t rate = 0;          ///< bytes a second that were acknowledged lately
  std::uint32_t round_trip_us = 0; ///< the shortest lately
};
Progress progress(int fd);

/// Sends bytes, and a descriptor with them unless it is -1; how many went out, -1 as send(2) does.
std::ptrdiff_t send_with_fd(int socket, const void* from, std::size_t bytes, int fd);
/// Receives bytes and at most one descriptor, which goes to `fd`.
std::ptrdiff_t receive_with_fd(int socket, void* to, std::size_t bytes, Fd& fd);

} // namespace troupe::data
