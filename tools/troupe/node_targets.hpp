// The nodes that a command asks: one by its address, or every task of a config file.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"
#include "tools/troupe/command.hpp"

namespace troupe {

struct NodeTarget {
  std::string name; ///< "worker/1", or the address
  Address address;
};

/// Declares TARGET, --config-file, --job and --timeout.
class NodeTargets {
public:
  void declare(Options& options);
  bool has_config() const { return !file_.empty(); }
  const std::string& config_file() const { return file_; }
  /// What the options say. INVALID_ARGUMENT for a wrong call; the mistakes of a config file are
  /// told as `failed_in_file` wants them, with `in_file` set.
  Result<std::vector<NodeTarget>> read(bool& in_file) const;
  /// Of all that a node is asked. INVALID_ARGUMENT for what is no duration.
  Result<std::chrono::milliseconds> timeout() const;

private:
  std::string target_, file_, job_, timeout_ = "5s";
};

/// Calls `ask` for each index below `count`, a few at a time on threads of their own, so that a
/// task that does not answer holds up none of the others for long.
void for_each_node(std::size_t count, const std::function<void(std::size_t)>& ask);

} // namespace troupe
