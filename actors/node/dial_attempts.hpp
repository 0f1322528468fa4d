// DialAttempts: what a dial that tries again says in the end, and how long it rests between
// attempts. Plain: time passed in.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/status.hpp"

namespace troupe {

/// A task that starts at the same moment as who dials it may not listen yet: it is tried again,
/// ever more slowly, until the budget ends. The verdict is that of the newest attempt that had the
/// time for one: one that was cut short by the budget says nothing about who listens.
class DialAttempts {
public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds shortest_verdict{500};
  static constexpr Milliseconds first_pause{20}, longest_pause{500};

  /// How an attempt that had `had` of time failed.
  void failed(Status why, Milliseconds had) {
    if (verdict_.ok() || had >= shortest_verdict)
      verdict_ = std::move(why);
  }
  const Status& verdict() const { return verdict_; }

  Milliseconds pause() const { return pause_; }
  /// Whether another attempt fits after the pause.
  bool may_go_on(Milliseconds left) const { return pause_ < left; }
  void rested() { pause_ = std::min(pause_ * 2, longest_pause); }

private:
  Status verdict_;
  Milliseconds pause_ = first_pause;
};

} // namespace troupe
