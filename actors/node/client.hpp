// ClientNode: a process that only talks to a cluster: an actor system with a network, a transport
// for its large tensors, no port.
#pragma once

#include <chrono>
#include <memory>

#include <caf/fwd.hpp>

#include "actors/family/timeouts.hpp"
#include "actors/protocol/local/node.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

struct NodeServices;

/// Any thread.
class ClientNode {
public:
  explicit ClientNode(const Timeouts& timeouts = {});
  ~ClientNode();
  caf::actor_system& system();
  const std::shared_ptr<const NodeServices>& services() const;
  const TransportActor& transport() const;
  /// Blocks for at most `budget`. UNAVAILABLE naming the address.
  Result<GuardianActor> dial(const Address& address, std::chrono::milliseconds budget);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
