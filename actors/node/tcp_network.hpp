// How a node of a real process reaches others: TCP.
#pragma once

#include "actors/family/network.hpp"
#include "actors/node/dial.hpp"
#include "net/transport/stop_event.hpp"

namespace troupe {

/// Reaches nodes over TCP: where `find`, unless it is empty, says that they are; where it says that
/// no node is, by `foreign`, unless that is empty. Dials end early once `stop`, which may be null,
/// is set.
class TcpNetwork final : public Network {
public:
  explicit TcpNetwork(std::shared_ptr<const StopEvent> stop, FindAddress find = {},
                      DialForeign foreign = {})
      : stop_(std::move(stop)), find_(std::move(find)), foreign_(std::move(foreign)) {}
  Result<caf::strong_actor_ptr> dial(caf::actor_system& system, const Address& address,
                                     const DialPatience& patience) override {
    return dial_guardian(system, address, patience, {stop_.get(), find_, foreign_});
  }
  bool is_tcp() const override { return true; }

private:
  std::shared_ptr<const StopEvent> stop_;
  FindAddress find_;
  DialForeign foreign_;
};

} // namespace troupe
