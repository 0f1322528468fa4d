// A gRPC client of bytes: unary calls to the servers of other tasks. Nothing here knows what the
// bytes mean.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

/// One connection for each address, made when it is needed and again when it was lost. Any thread.
class RpcPeers {
public:
  RpcPeers();
  ~RpcPeers(); ///< as shut_down
  RpcPeers(const RpcPeers&) = delete;
  RpcPeers& operator=(const RpcPeers&) = delete;

  /// The answer's bytes, or the call's status: the peer's own, marked as derived if it says so;
  /// UNAVAILABLE when the peer cannot be reached or is lost, DEADLINE_EXCEEDED after the budget,
  /// CANCELLED.
  using Done = std::function<void(Result<std::string>)>;
  /// What a call does where nobody listens. A connection that was refused is tried again after a
  /// pause, and calls within it fail though somebody may listen by then.
  enum class Absent { fails, waits };
  /// Calls `done` once, on this object's thread, or at once after a shut_down. `done` must not
  /// block. The number is for `cancel`.
  std::uint64_t start(const Address& address, const std::string& path, const std::string& request,
                      std::chrono::milliseconds budget, Done done, Absent absent = Absent::fails);
  /// Its end comes soon, unless it has come already.
  void cancel(std::uint64_t number);
  /// Ends every call CANCELLED; from now on calls end UNAVAILABLE.
  void shut_down();

private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

} // namespace troupe
