// StopEvent: that blocking work should be given up, as something that `poll` can wait for.
#pragma once

#include <chrono>

namespace troupe {

/// Set once, and then for good. Any thread.
class StopEvent {
public:
  StopEvent();
  ~StopEvent();
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;

  void set();
  bool is_set() const;
  /// Waits until it is set, `budget` at most; gives whether it is.
  bool wait_for(std::chrono::milliseconds budget) const;
  /// Readable once it is set; for `poll`.
  int fd() const { return fd_; }

private:
  int fd_;
};

} // namespace troupe
