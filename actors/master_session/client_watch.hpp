// ClientWatch: whether a session's client lives. Plain: events in, effects out.
#pragma once

#include <cstdint>
#include <utility>

namespace troupe {

/// A client promises a word within its lease. One that is not heard of for half of it is looked at;
/// after all of it, it is given up, unless its connection says that it lives.
class ClientWatch {
public:
  void heard(std::int64_t now_us) { heard_us_ = now_us; }
  std::int64_t silent_us(std::int64_t now_us) const { return now_us - heard_us_; }

  enum class Verdict { well, look, lost };
  /// A lease of 0 is for ever.
  Verdict judge(std::int64_t now_us, std::int64_t lease_us) const {
    const std::int64_t silent = silent_us(now_us);
    if (lease_us == 0 || silent <= lease_us / 2)
      return Verdict::well;
    return silent <= lease_us ? Verdict::look : Verdict::lost;
  }
  /// True the first time: it is told once.
  bool give_up() { return !std::exchange(gives_up_, true); }

private:
  std::int64_t heard_us_ = 0; ///< its last word, on the actors' clock
  bool gives_up_ = false;
};

} // namespace troupe
