#include "actors/node/system_config.hpp"

#include <caf/config_value.hpp>

#include "actors/protocol/messages.hpp"
#include "net/transport/guarded_network.hpp"
#include "net/transport/step_scheduler.hpp"

namespace troupe {

SystemConfig::SystemConfig(NetworkUse network, int actor_threads,
                           const std::vector<std::pair<std::string, std::string>>& extra) {
  add_protocol_messages(*this);
  load<StepScheduler>();
  // Kernels have threads of their own; actors need few, and CAF's default of four on two cores only
  // adds wake-ups.
  set("scheduler.max-threads", static_cast<std::size_t>(actor_threads));
  // After 50 messages another actor gets its turn: unbounded, four busy actors delay a request
  // by 1.5 s, so by 20 ms.
  set("scheduler.max-throughput", std::size_t{50});
  if (network != NetworkUse::none) {
    load<GuardedNetwork>();
    // Messages are read on the network's thread: one copy and one change of threads less.
    set("middleman.workers", std::size_t{0});
    // Never on: it opens a plain port on all interfaces, even under TLS. Nodes dial each other
    // themselves.
    set("middleman.enable-automatic-connections", false);
    // Leases are our own (membership): CAF's would take a long message for a dead peer.
    set("middleman.heartbeat-interval", caf::timespan{0});
  }
  for (const auto& [key, value] : extra)
    if (auto parsed = caf::config_value::parse(value)) {
      if (key.starts_with("troupe.")) // no option of CAF's; read by our own modules
        caf::put(content, key, std::move(*parsed));
      else
        set(key, std::move(*parsed));
    }
}

} // namespace troupe
