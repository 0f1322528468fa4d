// RestartBudget: turns a loop of crashes into an end.
#pragma once

#include <chrono>
#include <deque>

namespace troupe {

/// At most `restarts` within any `window`.
class RestartBudget {
public:
  using Time = std::chrono::steady_clock::time_point;
  RestartBudget(int restarts, std::chrono::milliseconds window)
      : restarts_(restarts), window_(window) {}
  int restarts() const { return restarts_; }
  std::chrono::milliseconds window() const { return window_; }
  /// May it be restarted at `now`? If so, that counts. Times do not go back.
  bool take(Time now) {
    while (!taken_.empty() && now - taken_.front() >= window_)
      taken_.pop_front();
    if (static_cast<int>(taken_.size()) >= restarts_)
      return false;
    taken_.push_back(now);
    return true;
  }

private:
  int restarts_;
  std::chrono::milliseconds window_;
  std::deque<Time> taken_;
};

} // namespace troupe
