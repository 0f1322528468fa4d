// MasterWatch: whether the master of a client's session is still there, by what comes of its node
// and by what the kernel knows of the connection. Time passed in; knows no actors.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "net/transport/wire_state.hpp"

namespace troupe {

/// After half a lease without a word the connection is looked at, after a whole one it is judged. A
/// long message on its way is word of the master too.
class MasterWatch {
public:
  void heard(std::int64_t now_us) { heard_us_ = now_us; }
  std::int64_t silent_us(std::int64_t now_us) const { return now_us - heard_us_; }

  /// True when the kernel should be asked, whose answer goes to judge().
  bool takes_look(std::int64_t now_us, std::int64_t lease_us) {
    return silent_us(now_us) > lease_us / 2 && !std::exchange(is_looking_, true);
  }
  enum class Verdict {
    lives,
    cut_off, ///< what is sent to it is not acknowledged
    frozen,  ///< its machine acknowledges what is sent, and nothing comes
  };
  /// `wire` as it is now. `is_same`: it is still the session that was looked after.
  Verdict judge(const std::optional<WireState>& wire, std::int64_t now_us, std::int64_t lease_us,
                bool is_same = true) {
    is_looking_ = false;
    const std::int64_t silent = silent_us(now_us);
    is_cut_ = wire && wire->is_cut && silent > lease_us / 2;
    if (!is_same || silent <= lease_us)
      return Verdict::lives;
    if (wire && wire->lives(std::chrono::microseconds(lease_us))) {
      heard(now_us - std::chrono::microseconds(wire->silent).count());
      return Verdict::lives;
    }
    was_silent_ = true;
    return wire && wire->is_cut ? Verdict::cut_off : Verdict::frozen;
  }
  /// By the last look: a connection that ends now says nothing of the master's process.
  bool is_cut() const { return is_cut_; }
  /// It was given up for its silence.
  bool was_silent() const { return was_silent_; }

private:
  std::int64_t heard_us_ = 0;
  bool is_looking_ = false;
  bool is_cut_ = false;
  bool was_silent_ = false;
};

} // namespace troupe
