// What a node of a real process runs on: TCP, and the compute threads of its devices.
#pragma once

#include "actors/family/network.hpp"
#include "actors/family/work_threads.hpp"
#include "actors/node/dial.hpp"
#include "devices/host/compute_pool.hpp"
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

/// The compute threads of a node; `pool` outlives it.
class PoolThreads final : public WorkThreads {
public:
  explicit PoolThreads(ComputePool& pool) : pool_(pool) {}
  void run(std::function<void()> work) override { pool_.submit(std::move(work)); }
  bool are_real() const override { return true; }

private:
  ComputePool& pool_;
};

} // namespace troupe
