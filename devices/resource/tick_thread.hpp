// TickThread: a thread that calls a function when it is due, for resources whose waits have an end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace troupe {

class TickThread {
public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time never = Time::max();
  /// Gives the time of its next call; `never`: not before somebody wakes the thread.
  using Tick = std::function<Time(Time now)>;

  /// Begins the thread, on which `tick` is called once it was woken.
  explicit TickThread(Tick tick);
  /// Nothing is called afterwards. Waits for a call that is under way, unless it is within that
  /// call.
  ~TickThread();
  TickThread(const TickThread&) = delete;

  /// Has `tick` called soon. Any thread.
  void wake();

  /// Calls `owner->tick(now)`. Keeps the owner, to whom it belongs, for no longer than each call:
  /// the last of which may be what destroys both.
  template <class Owner>
  static std::unique_ptr<TickThread> of(const std::shared_ptr<Owner>& owner) {
    return std::make_unique<TickThread>([weak = std::weak_ptr<Owner>(owner)](Time now) {
      const auto self = weak.lock();
      return self ? self->tick(now) : never;
    });
  }

private:
  struct State;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

} // namespace troupe
