// A gRPC client of bytes, for tests of servers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/status.hpp"

namespace troupe::testing {

/// One connection. Calls from any thread.
class RpcClient {
public:
  RpcClient(const std::string& service, std::uint16_t port);
  ~RpcClient();

  /// A call that is under way.
  class Pending {
  public:
    /// Waits for its end: the answer's bytes, or the call's status.
    Result<std::string> wait();
    /// Goes away, as a client that was killed or lost its patience.
    void cancel();

  private:
    friend class RpcClient;
    struct State;
    std::shared_ptr<State> state_;
  };
  Pending start(const std::string& method, const std::string& request,
                std::chrono::milliseconds timeout = std::chrono::seconds(60));
  Result<std::string> call(const std::string& method, const std::string& request,
                           std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    return start(method, request, timeout).wait();
  }

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe::testing
