// NodeEnd: how far a node's end has come. Plain: events in, effects out.
#pragma once

#include <string>
#include <string_view>

#include "core/base/strings.hpp"

namespace troupe {

/// running ── shut_down ──▶ finishing ── no step left, or grace over ──▶ leaving ── peers told, or 0.5 s ──▶ stopping
///
///   running    takes work
///   finishing  refuses new work; running steps go on
///   leaving    tells its peers; steps that still run end UNAVAILABLE
///   stopping   ends its children, last started first
///
/// From each of them a child that ends by itself, or an exit, leads to `stopping`. What such a
/// child held is lost, and a fresh start from outside is safer than a node with a hole; failure()
/// says so.
class NodeEnd {
public:
  enum class Next {
    nothing,
    finish, ///< ask the children to refuse new work, and wait for their steps
    leave,  ///< tell the peers, and wait until they are told
    stop,   ///< end the children
  };

  bool takes_work() const { return phase_ == Phase::running; }

  Next shut_down(bool has_grace) {
    if (phase_ != Phase::running)
      return Next::nothing;
    if (!has_grace)
      return stop();
    phase_ = Phase::finishing;
    return Next::finish;
  }
  /// What finish or leave asked for is done, or its time is over.
  Next drained() {
    if (phase_ == Phase::leaving)
      return stop();
    if (phase_ != Phase::finishing)
      return Next::nothing;
    phase_ = Phase::leaving;
    return Next::leave;
  }
  /// A child is no more; `why` in words.
  Next child_ended(std::string_view child, std::string_view why) {
    if (phase_ == Phase::stopping)
      return Next::nothing;
    failure_ = str_cat("the ", child, " ended unexpectedly (", why, "); the node ends");
    return stop();
  }
  Next stop() {
    if (phase_ == Phase::stopping)
      return Next::nothing;
    phase_ = Phase::stopping;
    return Next::stop;
  }

  /// The child that ended by itself, and why; empty in an orderly end.
  const std::string& failure() const { return failure_; }

private:
  enum class Phase { running, finishing, leaving, stopping } phase_ = Phase::running;
  std::string failure_;
};

} // namespace troupe
