// PeerEdges: values of tasks that are TensorFlow's servers, asked for by RecvTensor.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "actors/family/remote_edges.hpp"
#include "api/grpc/rpc_peers.hpp"
#include "api/grpc/transfer_log.hpp"
#include "graph/convert/limits.hpp"

namespace troupe {

/// Of one worker session.
class PeerEdges final : public RemoteEdges, public std::enable_shared_from_this<PeerEdges> {
public:
  /// Where a task's server is. NOT_FOUND for a task that is none of the cluster.
  using AddressOf = std::function<Result<Address>(const std::string& task)>;
  /// A wait ends after `longest`. What comes is told to `log`, which may be null.
  PeerEdges(std::shared_ptr<RpcPeers> peers, AddressOf address_of, DecodeLimits limits,
            std::chrono::milliseconds longest, std::shared_ptr<TransferLog> log = nullptr);
  void receive(std::uint64_t step_id, const std::string& task, const std::string& key,
               std::function<void(Result<EdgeValue>)> done) override;
  void end_step(std::uint64_t step_id) override;

private:
  using Calls = std::set<std::uint64_t>;
  std::shared_ptr<RpcPeers> peers_;
  AddressOf address_of_;
  DecodeLimits limits_;
  std::chrono::milliseconds longest_;
  std::shared_ptr<TransferLog> log_;
  std::mutex lock_;                                       // guards what follows
  std::map<std::uint64_t, std::shared_ptr<Calls>> calls_; ///< under way, by step
};

} // namespace troupe
