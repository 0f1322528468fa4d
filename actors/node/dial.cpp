#include "actors/node/dial.hpp"

#include <algorithm>
#include <thread>

#include <caf/io/middleman.hpp>

#include "actors/family/ask.hpp"
#include "actors/protocol/node.hpp"
#include "core/base/strings.hpp"
#include "net/transport/probe.hpp"

namespace troupe {

Result<caf::strong_actor_ptr> dial_guardian(caf::actor_system& system, const Address& address,
                                            std::chrono::milliseconds budget) {
  using namespace std::chrono;
  auto end = steady_clock::now() + budget;
  milliseconds pause{20};
  for (;;) {
    auto left = duration_cast<milliseconds>(end - steady_clock::now());
    Status reachable = probe_tcp(address.host, address.port, std::max(left, milliseconds(1)));
    if (reachable.ok()) {
      auto guardian = system.middleman().remote_actor<GuardianActor>(address.host, address.port);
      if (guardian)
        return untyped(*guardian);
      Status why = to_status(guardian.error(), str_cat("connecting to ", address));
      if (why.code() == Code::unimplemented || steady_clock::now() >= end)
        return why;
    } else if (steady_clock::now() + pause >= end) {
      return reachable;
    }
    // A task that starts at the same moment may not listen yet: tried again, ever more slowly,
    // until the budget ends.
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(500));
  }
}

} // namespace troupe
