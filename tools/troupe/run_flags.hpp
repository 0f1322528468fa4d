// What `troupe run` may ask of its session and its steps besides values: the flags, and what comes
// of them.
#pragma once

#include <string>
#include <vector>

#include "api/session.hpp"
#include "tools/troupe/command.hpp"

namespace troupe {

struct RunFlags {
  bool isolate = false, log_placement = false, bfloat16 = false, schedule_receives = false;
  bool report_allocations = false;
  std::vector<std::string> watches;    ///< tensors
  std::string dump, costs, partitions; ///< a folder, a file, a folder; empty: not wanted

  void declare(Options& options);
  /// The sentence for flags that cannot go together, or nothing.
  std::string find_mistake() const;
  /// For a session that runs so many steps.
  void apply(SessionOptions& options, int steps) const;
  /// `is_last`: of the steps.
  void apply(RunOptions& options, bool is_last) const;
  bool wants_metadata() const { return !costs.empty() || !partitions.empty(); }
  /// Writes what was asked for of the last step. UNAVAILABLE naming a file that cannot be written.
  Status write(const RunMetadata& metadata) const;
};

/// A line for each node, the costliest first: its µs, the bytes of its outputs, device and name;
/// tabs between.
std::string format_costs(std::vector<CostNode> nodes);

} // namespace troupe
