// SessionLife: what becomes of a session whose master session has ended. Plain: events in, effects
// out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace troupe {

struct SessionRecord;

/// A session outlives its master session, which is made again from the session's record when a
/// fault has ended it, but only so often: what ends again and again would do so for ever.
///
///               ended by a fault             made
///   lives ────────────────────────▶ is made ──────▶ lives
///     │                                │
///     └── ended in order, or by a ─────┴──▶ (gone)
///         fault once too often
class SessionLife {
public:
  static constexpr std::size_t most_remakes = 3; ///< within `window_us`
  static constexpr std::int64_t window_us = 60'000'000;

  using RecordRef = std::shared_ptr<const SessionRecord>;

  explicit SessionLife(RecordRef record) : record_(std::move(record)) {}

  const RecordRef& record() const { return record_; }
  /// What its master session says while it lives. Late words of one that has ended change nothing.
  void changed(RecordRef record) {
    if (!is_made_)
      record_ = std::move(record);
  }

  enum class End { gone, made_again, given_up };
  /// Its master session has ended. What to do: nothing more, make it again, or say that it ended
  /// too often.
  End ended(bool by_fault, std::int64_t now_us) {
    if (!by_fault || is_made_)
      return End::gone;
    std::int64_t& earliest = remade_us_[remakes_ % most_remakes];
    if (remakes_ >= most_remakes && now_us - earliest < window_us)
      return End::given_up;
    earliest = now_us;
    ++remakes_;
    is_made_ = true;
    return End::made_again;
  }
  void made() { is_made_ = false; }
  bool is_being_made() const { return is_made_; }
  /// How often it was made again.
  std::size_t remakes() const { return remakes_; }

private:
  RecordRef record_;
  bool is_made_ = false;
  std::size_t remakes_ = 0;
  std::array<std::int64_t, most_remakes> remade_us_{}; ///< a ring: when, the latest ones
};

} // namespace troupe
