// DueTimes: the timers that a set of deadlines needs. Plain: events in, effects out.
#pragma once

#include <cstdint>
#include <set>

namespace troupe {

/// One timer serves all deadlines: the clock would keep each, and whoever set it, until it is due.
class DueTimes {
public:
  /// Whether a timer must be set for `due_us`: false if an earlier one is set.
  bool add(std::int64_t due_us) {
    if (!looks_.empty() && *looks_.begin() <= due_us)
      return false;
    looks_.insert(due_us);
    return true;
  }
  /// Timers that were set for `now_us` or before have gone off.
  void passed(std::int64_t now_us) { looks_.erase(looks_.begin(), looks_.upper_bound(now_us)); }

private:
  std::set<std::int64_t> looks_; ///< that timers are set for
};

} // namespace troupe
