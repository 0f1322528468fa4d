// SystemConfig: CAF's settings for every process of troupe, in one place, with their reasons.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <caf/actor_system_config.hpp>

namespace troupe {

enum class NetworkUse { none, client, node };

class SystemConfig : public caf::actor_system_config {
public:
  /// `extra` holds CAF's own settings and the port's bounds from a config file, applied last.
  SystemConfig(NetworkUse network, int actor_threads,
               const std::vector<std::pair<std::string, std::string>>& extra);
};

} // namespace troupe
