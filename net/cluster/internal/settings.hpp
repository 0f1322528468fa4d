// The keys of [troupe], [job.…], [task.…], [gateway…] and of CAF's own sections: what each wants,
// and where it may stand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "net/cluster/config_file.hpp"
#include "net/cluster/node_config.hpp"

namespace troupe {

/// What [troupe] says about the cluster rather than about a task.
struct ClusterSettings {
  std::string name; ///< of the cluster; empty: none
  bool insecure = false;
  int restarts = 0;
  std::chrono::milliseconds restart_window{60000};
  ConfiguredTimeouts timeouts;
  // Bounds of a node's port; 0: the default in net/transport/guarded_network.hpp.
  std::int64_t message_limit = 0; ///< bytes
  std::chrono::milliseconds handshake_deadline{0};
  int connections = 0;
};

/// Applies one key of a section ("troupe", "job.worker"). `cluster` is null where only a task's
/// settings may stand. A key that is unknown, misplaced or of the wrong type is a problem.
void apply_setting(const std::string& section, const ConfigEntry& entry, ClusterSettings* cluster,
                   TaskSettings& task, ConfigProblems& problems);

/// Applies one key of "gateway", "gateway.worker" or "gateway.worker.1".
void apply_gateway_setting(const std::string& section, const ConfigEntry& entry,
                           GatewaySettings& gateway, ConfigProblems& problems);

/// Is `section` one of CAF's, such as "middleman"?
bool is_caf_section(std::string_view section);
/// Collects the harmless keys of one of CAF's sections; the others are problems that say what to
/// use instead.
void read_caf_section(const ConfigEntry& section,
                      std::vector<std::pair<std::string, std::string>>& out,
                      ConfigProblems& problems);

} // namespace troupe
