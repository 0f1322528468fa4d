// TaskHealth: what a session knows of the tasks that it uses. Plain: events in, effects out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

/// What it does for each task:
///
///            lose               to_ask                  returned
///   well ────────────▶ lost ─────────────▶ asked ─────────────────▶ back
///                       ▲                     │
///                       └──── unreachable ────┘
///
/// No way leads back to well: a task that is there again holds nothing of the session any more.
/// An event that comes twice, late, or for a task that the session does not use changes nothing.
class TaskHealth {
public:
  /// The session uses the task.
  void use(std::string_view task);

  bool is_well(std::string_view task) const;
  /// Why the session has lost the task, with the task as its origin: UNAVAILABLE or ABORTED as
  /// `lose` was told, ABORTED once it is back. Null while it is well.
  const Status* loss(std::string_view task) const;

  /// The task is gone. False if nothing changes: it was known, or is none of ours.
  bool lose(std::string_view task, const Status& why);
  /// The lost tasks of which nobody has asked yet whether they are there again; from now on
  /// somebody asks. None within `pause_us` of the last time, however many steps are refused.
  std::vector<std::string> to_ask(std::int64_t now_us, std::int64_t pause_us);
  /// The answer: it is there again. The client is told ABORTED, which means "make a new session",
  /// where UNAVAILABLE means "wait".
  void returned(std::string_view task);
  /// The answer: it is not. It is asked for again by the next to_ask.
  void unreachable(std::string_view task);

private:
  enum class State { well, lost, asked, back };
  struct Task {
    State state = State::well;
    Status why;
  };
  Task* find(std::string_view task, State state);

  std::map<std::string, Task, std::less<>> tasks_;
  std::int64_t asked_us_ = 0; ///< when `to_ask` was answered last
};

} // namespace troupe
