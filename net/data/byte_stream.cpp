#include "net/data/byte_stream.hpp"

#include <cerrno>
#include <utility>

#include <sys/socket.h>

namespace troupe::data {

namespace {

// `call` does as send(2) and recv(2) do.
template <class Call>
Moved move(Call call) {
  for (;;) {
    const ssize_t moved = call();
    if (moved > 0)
      return {Moved::What::some, static_cast<std::size_t>(moved), 0};
    if (moved == 0)
      return {Moved::What::over, 0, 0};
    if (errno == EAGAIN || errno == EWOULDBLOCK)
      return {};
    if (errno != EINTR)
      return {Moved::What::over, 0, errno};
  }
}

msghdr message_of(std::span<const iovec> pieces) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  return message;
}

class OwnSocketStream final : public SocketStream {
public:
  explicit OwnSocketStream(Fd socket) : SocketStream(socket.get()), owned_(std::move(socket)) {}

private:
  Fd owned_;
};

} // namespace

Moved SocketStream::send(std::span<const iovec> from) {
  const msghdr message = message_of(from);
  return move([&] { return ::sendmsg(socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT); });
}

Moved SocketStream::receive(std::span<const iovec> into) {
  msghdr message = message_of(into);
  return move([&] { return ::recvmsg(socket_, &message, MSG_DONTWAIT); });
}

Moved SocketStream::send_passing(std::span<const std::byte> from, int passed) {
  return move([&] { return send_with_fd(socket_, from.data(), from.size(), passed); });
}

Moved SocketStream::receive_passing(std::span<std::byte> into, Fd& passed) {
  return move([&] { return receive_with_fd(socket_, into.data(), into.size(), passed); });
}

void SocketStream::finish() {
  ::shutdown(socket_, SHUT_WR);
}

std::unique_ptr<ByteStream> make_stream(Fd socket, const StreamWrapper& wrapper) {
  std::unique_ptr<ByteStream> plain = std::make_unique<OwnSocketStream>(std::move(socket));
  return wrapper ? wrapper(std::move(plain)) : std::move(plain);
}

} // namespace troupe::data
