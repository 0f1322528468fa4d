// TickThread: a thread that calls a function when it is due, for resources whose waits have an end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace troupe {

class TickThread {
public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time never = Time::max();
  /// Gives the time of its next call; `never`: not before somebody wakes it.
  using Tick = std::function<Time(Time now)>;

  /// `tick` is called on a thread of its own, which begins with the first `wake`.
  explicit TickThread(Tick tick);
  /// Nothing is called afterwards. Waits for a call that is under way, unless it is within that call.
  ~TickThread();
  TickThread(const TickThread&) = delete;

  /// Has `tick` called soon. Any thread.
  void wake();

private:
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace troupe
