// ShortWaits: whether a thread that waits for sockets should stay awake for a while. Decides;
// knows no sockets.
#pragma once

#include <algorithm>
#include <chrono>

namespace troupe {

/// Waking a thread takes 20 to 60 µs, because a virtual machine's processor has gone to sleep with
/// it. The rest of a hop between nodes takes little more. So if the last waits were short, the next
/// one begins awake. If they were long, as on a node at rest or in steps that compute, it sleeps at
/// once: one long wait weighs as much as three short ones.
///
/// A thread that is awake yields its core between two looks. Where more threads compute than there
/// are cores it comes back a time slice later (4 ms), whatever has come for it; one that sleeps is
/// woken at once. So after a loss of the core the next waits sleep, twice as many each time.
class ShortWaits {
public:
  using Clock = std::chrono::steady_clock;
  /// How long a wait stays awake; as long as a step of a few hops takes.
  static constexpr std::chrono::microseconds limit{200};

  bool stays_awake() const { return credit_ >= enough; }
  /// Between two looks the thread was away for so long. True: the core was lost, do not stay awake.
  bool lost_core(Clock::duration away) {
    if (away < slice)
      return false;
    credit_ = -debt_;
    debt_ = std::min(2 * debt_, most_debt);
    return true;
  }
  /// A wait has ended, of which it slept at least a part or not.
  void ended(Clock::duration took, bool slept) {
    const bool was_awake = stays_awake();
    const bool is_short = was_awake ? !slept : took < limit + waking;
    if (was_awake && is_short)
      debt_ = std::max(debt_ - 1, least_debt);
    if (is_short)
      credit_ = std::min(credit_ + 1, most);
    else if (credit_ > 0)
      credit_ = std::max(credit_ - price, 0);
  }

private:
  static constexpr std::chrono::microseconds waking{60}, slice{100};
  static constexpr int enough = 4, most = 8, price = 3, least_debt = 16, most_debt = 4096;
  int credit_ = 0;        ///< short waits, more or less; below 0: those that must still come
  int debt_ = least_debt; ///< what the next loss of the core costs
};

} // namespace troupe
