// WorkerDispatcher: calls of tensorflow.WorkerService, decoded on gRPC's threads and handed to the
// worker gateway.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/grpc/rpc_server.hpp"
#include "api/grpc/worker_protocol.hpp"
#include "graph/convert/limits.hpp"

namespace troupe {

/// Any thread.
class WorkerDispatcher {
public:
  WorkerDispatcher(WorkerGatewayActor gateway, DecodeLimits limits)
      : gateway_(std::move(gateway)), limits_(limits) {}
  /// "/tensorflow.WorkerService/RunGraph" and its kin.
  static std::vector<std::string> methods();
  static bool is_for_worker(std::string_view method);
  /// Answers what it cannot read.
  void operator()(const std::shared_ptr<RpcCall>& call) const;

private:
  WorkerGatewayActor gateway_;
  DecodeLimits limits_;
};

} // namespace troupe
