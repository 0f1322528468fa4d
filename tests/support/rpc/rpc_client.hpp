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
  /// Who connects: this, which waits for it (10 s at most; then calls say what is wrong), or the
  /// first call. gRPC before 1.61 takes a connection that is under way for a refused one if malloc
  /// sets errno at the wrong moment (grpc/grpc#35064), and calls fail until it has tried again.
  enum class Connects { now, with_first_call };
  RpcClient(const std::string& service, std::uint16_t port, Connects when = Connects::now);
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
