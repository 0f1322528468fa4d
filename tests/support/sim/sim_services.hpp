// What a simulated node runs on: a wire and threads that the simulation holds in its hand.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "actors/family/network.hpp"
#include "actors/family/work_threads.hpp"
#include "core/base/strings.hpp"

namespace troupe::testing {

/// Reaches the nodes whose guardians `find` gives, by address; null: nobody is there.
class SimNetwork final : public Network {
public:
  using Find = std::function<caf::strong_actor_ptr(const std::string& address)>;
  explicit SimNetwork(Find find) : find_(std::move(find)) {}
  Result<caf::strong_actor_ptr> dial(caf::actor_system&, const Address& address,
                                     const DialPatience&) override {
    if (auto guardian = find_(address.to_string()))
      return guardian;
    return unavailable(str_cat("nobody can be reached at ", address, " on the simulated wire"));
  }

private:
  Find find_;
};

/// Hands work to the simulation.
class SimThreads final : public WorkThreads {
public:
  using Run = std::function<void(std::function<void()>)>;
  SimThreads(Run run, Duration slice) : run_(std::move(run)), slice_(slice) {}
  void run(std::function<void()> work) override { run_(std::move(work)); }
  Duration slice() const override { return slice_; }

private:
  Run run_;
  Duration slice_;
};

} // namespace troupe::testing
