// MasterLease: whether the master of a worker session is still there. Time passed in; knows no
// actors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "net/transport/wire_state.hpp"

namespace troupe {

/// The connection to the master as the kernel knows it.
struct MasterWire {
  std::string name; ///< unique within this process
  WireState state;
};

/// Runs out when nothing has come of the master for its length. A long message on a slow link is
/// word of it too. What comes over a newer connection is not: the master session has lost us with
/// the old one.
class MasterLease {
public:
  /// Without an end if `lease_us` is 0.
  MasterLease(std::int64_t lease_us, std::int64_t now_us)
      : lease_us_(lease_us), heard_us_(now_us) {}

  void renewed(std::int64_t now_us) { heard_us_ = now_us; }
  /// The connection that the master's word came over.
  void came_over(const std::optional<MasterWire>& wire) { wire_ = wire ? wire->name : ""; }
  /// The kernel should be asked: a connection that was looked at before is judged better.
  bool is_doubtful(std::int64_t now_us) const {
    return lease_us_ > 0 && silent_us(now_us) > lease_us_ / 2;
  }
  enum class Verdict {
    runs,
    ask, ///< the connection works: the master session has ended or given us up, or a long message is
         ///< on its way before its word
    over
  };
  /// `wire` as it is now.
  Verdict judge(const std::optional<MasterWire>& wire, std::int64_t now_us) {
    if (silent_us(now_us) <= lease_us_) {
      came_over(wire);
      return Verdict::runs;
    }
    const bool lives =
        wire && wire->name == wire_ && wire->state.lives(std::chrono::microseconds(lease_us_));
    return lives ? Verdict::ask : Verdict::over;
  }
  std::int64_t silent_us(std::int64_t now_us) const { return now_us - heard_us_; }

private:
  std::int64_t lease_us_ = 0;
  std::int64_t heard_us_ = 0;
  std::string wire_; ///< as far as it was asked for
};

} // namespace troupe
