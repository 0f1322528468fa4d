// FaultProxy: a wire between a client and a server of this machine that a test breaks: answers are
// lost, connections are cut in the middle of a message.
#pragma once

#include <cstdint>
#include <memory>

namespace troupe::testing {

/// Passes bytes on, both ways, any number of connections, on a thread of its own. Any thread may
/// call.
class FaultProxy {
public:
  explicit FaultProxy(std::uint16_t server_port);
  ~FaultProxy(); ///< cuts what is connected
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  /// Where clients connect.
  std::uint16_t port() const;

  /// What the server sends from now on is lost, of every connection that there is.
  void lose_answers();
  /// Every connection is closed. New ones are as usual.
  void cut();
  /// The connections that there are, or the next one if there is none, are cut when so many more
  /// bytes have gone to the server, or to the client. The last bytes before the cut arrive.
  void cut_after_bytes_to_server(std::uint64_t bytes);
  void cut_after_bytes_to_client(std::uint64_t bytes);
  /// That were cut, or lost bytes.
  std::uint64_t faults() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe::testing
