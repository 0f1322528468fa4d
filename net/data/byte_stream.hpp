// ByteStream: the bytes of one connection, both ways, for an event loop. It hides what lies between
// the loop and the wire: a plain socket, or encryption.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <sys/uio.h>

#include "net/data/sockets.hpp"

namespace troupe::data {

/// What one call has moved.
struct Moved {
  enum class What : std::uint8_t {
    some,  ///< `bytes` bytes, at least one
    later, ///< none: the loop tells when it is worth another try
    over, ///< none, and there will be no more: `error` is an errno, 0 when the other end has closed
  };
  What what = What::later;
  std::size_t bytes = 0;
  int error = 0;

  bool is_some() const { return what == What::some; }
  bool is_later() const { return what == What::later; }
  bool is_over() const { return what == What::over; }
};

/// Never waits. One call can move a whole message, header and payload from two places; many bytes
/// in few calls are fastest. One thread at a time, for each direction.
class ByteStream {
public:
  virtual ~ByteStream() = default;
  /// The descriptor for a loop to watch.
  virtual int fd() const = 0;
  virtual Moved send(std::span<const iovec> from) = 0;
  virtual Moved receive(std::span<const iovec> into) = 0;
  /// As `send` and `receive`, with a descriptor beside the bytes: of Unix sockets.
  virtual Moved send_passing(std::span<const std::byte> from, int passed) = 0;
  virtual Moved receive_passing(std::span<std::byte> into, Fd& passed) = 0;
  virtual Progress progress() const = 0;
  /// Nothing more will be sent; what was sent still arrives.
  virtual void finish() = 0;

  Moved send(const void* from, std::size_t bytes) {
    iovec piece{const_cast<void*>(from), bytes};
    return send(std::span<const iovec>(&piece, 1));
  }
  Moved receive(void* into, std::size_t bytes) {
    iovec piece{into, bytes};
    return receive(std::span<const iovec>(&piece, 1));
  }
};

/// A plain socket that it does not own, and so does not close.
class SocketStream : public ByteStream {
public:
  explicit SocketStream(int socket) : socket_(socket) {}
  using ByteStream::receive;
  using ByteStream::send;
  int fd() const override { return socket_; }
  Moved send(std::span<const iovec> from) override;
  Moved receive(std::span<const iovec> into) override;
  Moved send_passing(std::span<const std::byte> from, int passed) override;
  Moved receive_passing(std::span<std::byte> into, Fd& passed) override;
  Progress progress() const override { return data::progress(socket_); }
  void finish() override;

private:
  int socket_;
};

/// Puts a layer between a connection and its user: encryption, or a test's faults.
using StreamWrapper = std::function<std::unique_ptr<ByteStream>(std::unique_ptr<ByteStream>)>;

/// A socket of its own, wrapped if there is a wrapper.
std::unique_ptr<ByteStream> make_stream(Fd socket, const StreamWrapper& wrapper = {});

} // namespace troupe::data
