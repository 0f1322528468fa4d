// ShortWaits: whether a thread that waits for sockets should stay awake for a while. Decides;
// knows no sockets.
#pragma once

#include <algorithm>
#include <chrono>

namespace troupe {

/// Waking a thread takes 20 to 60 µs, because a virtual machine's processor has gone to sleep with it.
/// The rest of a hop between nodes takes little more. So if the last waits were short, the next one
/// begins awake. If they were long, as on a node at rest or in steps that compute, it sleeps at once:
/// one long wait weighs as much as three short ones.
class ShortWaits {
public:
  using Clock = std::chrono::steady_clock;
  /// How long a wait stays awake; as long as a step of a few hops takes.
  static constexpr std::chrono::microseconds limit{200};

  bool stays_awake() const { return credit_ >= enough; }
  /// A wait has ended, of which it slept at least a part or not.
  void ended(Clock::duration took, bool slept) {
    bool is_short = stays_awake() ? !slept : took < limit + waking;
    credit_ = is_short ? std::min(credit_ + 1, most) : std::max(credit_ - price, 0);
  }

private:
  static constexpr std::chrono::microseconds waking{60};
  static constexpr int enough = 4, most = 8, price = 3;
  int credit_ = 0;
};

} // namespace troupe
