// How a node reaches others: an interface, so that a simulation can put its wire there.
#pragma once

#include <chrono>
#include <functional>

#include <caf/actor_control_block.hpp>
#include <caf/fwd.hpp>

#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

/// Makes the actor that stands for a task at an address where no node of troupe is; it answers
/// Hello. Blocks for the budget at most.
using DialForeign = std::function<Result<caf::strong_actor_ptr>(
    caf::actor_system& system, const Address& address, std::chrono::milliseconds budget)>;

/// How long a dial tries.
struct DialPatience {
  std::chrono::milliseconds budget{0};
  /// Whether the task may still be starting: a refused connection is then tried again until the
  /// budget ends.
  bool may_start = true;
};

class Network {
public:
  virtual ~Network() = default;
  /// Connects to the guardian that listens at an address. Blocks: called on a thread of its own.
  /// UNAVAILABLE naming the address.
  virtual Result<caf::strong_actor_ptr> dial(caf::actor_system& system, const Address& address,
                                             const DialPatience& patience) = 0;
  /// False for a node that is alone in its process: nobody is watched, and nothing has a lease.
  virtual bool reaches_others() const { return true; }
  /// Peers are reached over TCP, so that the kernel can be asked about a silent one.
  virtual bool is_tcp() const { return false; }
};

/// Of a node that is alone in its process.
class NoNetwork final : public Network {
public:
  Result<caf::strong_actor_ptr> dial(caf::actor_system&, const Address& address,
                                     const DialPatience&) override {
    return unavailable("this node has no network: " + address.to_string() +
                       " cannot be reached; start it from a config file with a cluster");
  }
  bool reaches_others() const override { return false; }
};

} // namespace troupe
