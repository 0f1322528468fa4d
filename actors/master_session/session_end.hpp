// SessionEnd: how far a session is on its way to its end, and what it says of it. Plain: events in,
// effects out.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/base/status.hpp"
#include "core/base/strings.hpp"

namespace troupe {

///            leave                 close
///   open ──────────▶ leaving ─────────────────▶ closing
///     └──────────────────close────────────────────▲
///
/// In `leaving` running steps go on, and new ones are refused. A session that ends in neither was
/// ended by a fault: its master makes it again.
class SessionEnd {
public:
  /// The node is about to end. `reason`, if it is not OK, is what everybody is told from now on.
  void leave(const Status& refusal, const Status& reason) {
    refusal_ = refusal;
    if (!reason.ok())
      reason_ = reason;
  }
  /// True the first time.
  bool close() { return !std::exchange(is_closing_, true); }

  bool is_closing() const { return is_closing_; }
  /// Why new steps are refused; OK: they are not.
  Status refusal() const {
    return is_closing_ ? failed_precondition("Session is closed.") : refusal_;
  }
  /// What the client sees as the reason; OK: none was given.
  const Status& reason() const { return reason_; }
  bool is_in_order() const { return is_closing_ || !reason_.ok(); }

  /// The answer to `what` ("step 7"), which the end cuts short; `then` says what is known of it,
  /// and what to do, where the session goes on.
  Status cut_short(std::string_view session, std::string_view task, std::string_view what,
                   std::string_view then) const {
    if (!reason_.ok()) // says more than that it has ended
      return reason_;
    if (is_closing_)
      return aborted(str_cat("Session ", session,
                             " was closed while the request waited: its master, on ", task,
                             ", has ended; make a new session"));
    return aborted(str_cat(what, " of session ", session,
                           " ended with its master session, on task ", task, "; ", then));
  }

private:
  bool is_closing_ = false;
  Status refusal_, reason_;
};

} // namespace troupe
