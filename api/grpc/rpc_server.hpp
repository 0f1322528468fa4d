// A gRPC server of bytes: each unary call of one service, as an object that any thread may answer.
// Nothing here knows what the bytes mean.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/grpc/answer_bytes.hpp"
#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

/// One call. Any thread. When the last reference goes without an answer, `when_dropped` gives it
/// one, or the client is told UNAVAILABLE: none waits for nothing.
///
///   waits ── answer, fail ──▶ answered
///     └──── the client cancels, its deadline passes, its connection breaks ──▶ gone
class RpcCall {
public:
  virtual ~RpcCall() = default;
  /// Without its service: "RunStep"; of another service whole: "/troupe.Node/Join".
  virtual std::string_view method() const = 0;
  /// The request; valid until the call is answered. Taken out by whoever wants to keep it.
  virtual std::string& request() = 0;
  /// The request has been read: its memory may serve the thread's next one.
  virtual void drop_request() = 0;
  /// What is left of the client's deadline; `most` if it has none, or a longer one.
  virtual std::chrono::microseconds time_left(std::chrono::microseconds most) const = 0;
  /// The first of these counts.
  virtual void answer(AnswerBytes bytes) = 0;
  /// The message is cut at 3 072 bytes: a gRPC client loses a status whose trailer is longer.
  virtual void fail(const Status& status) = 0;
  /// Calls `gone` once, from any thread, when the client no longer waits; at once if it does not by
  /// now; never after an answer.
  virtual void when_gone(std::function<void()> gone) = 0;
  /// Who answers when the last reference goes, unless the server ends. To be set before another
  /// thread has the call; must not block.
  virtual void when_dropped(std::function<void(RpcCall&)> dropped) = 0;
};

struct RpcServerOptions {
  Address address;              ///< port 0: a free one
  std::string service;          ///< "tensorflow.MasterService"
  std::int64_t max_request = 0; ///< bytes; 0: 2 GiB less one, gRPC's limit
  std::int64_t max_calls =
      0; ///< that wait at once; more are refused RESOURCE_EXHAUSTED; 0: any number
  std::int64_t max_pending = 0; ///< bytes of requests that wait at once; as max_calls
  /// Methods of any service that have one answer: {"/troupe.Node/Address", "40123"}. Outside of the
  /// limits.
  std::map<std::string, std::string> constants;
  /// Methods of other services that the handler takes as well, whole: "/troupe.Node/Join".
  std::vector<std::string> others;
};

class RpcServer {
public:
  /// That call the handler.
  static constexpr int num_threads = 3;
  /// Called on a thread of gRPC's, for many calls at once; must not block; at least one
  /// thread must be free at all times, to take the calls that come.
  using Handler = std::function<void(std::shared_ptr<RpcCall>)>;
  /// Listens. UNAVAILABLE naming an address that cannot be bound.
  static Result<std::unique_ptr<RpcServer>> start(const RpcServerOptions& options, Handler handler);
  /// Takes no more calls; those that wait are answered UNAVAILABLE. Blocks until the handler runs
  /// nowhere, and for a second at most until the answers are sent.
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;
  std::uint16_t port() const;
  std::int64_t calls_waiting() const;

private:
  RpcServer();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
