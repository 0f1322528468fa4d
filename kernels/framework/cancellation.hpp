// Cancellation of a step, as kernels and executors see it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "core/base/status.hpp"

namespace troupe {

/// Safe for any thread. The first cancel wins; callbacks run once each, on the thread that cancels,
/// outside the lock.
class Cancellation {
public:
  using Token = std::uint64_t;
  bool is_cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  /// ok while not cancelled.
  Status status() const;
  void cancel(Status why);
  /// For a step that nobody else watches: who looks (`must_stop`) more than `timeout_us` after
  /// `start_us` (steady_micros()) cancels it with DEADLINE_EXCEEDED. 0: no deadline. To be called
  /// before the step's kernels begin.
  void set_deadline(std::uint64_t step_id, std::int64_t start_us, std::int64_t timeout_us);
  /// When the step is to end, on the steady clock; 0: no deadline was set. Any thread, while the
  /// step runs.
  std::int64_t deadline_us() const { return deadline_us_; }
  /// From now on somebody else watches.
  void clear_deadline() { ends_us_.store(0, std::memory_order_relaxed); }
  /// is_cancelled(), and the deadline.
  bool must_stop() {
    return is_cancelled() ||
           (ends_us_.load(std::memory_order_relaxed) != 0 && has_passed_deadline());
  }
  /// Calls `callback` when cancelled. Returns 0, without keeping it, if that has happened already:
  /// the caller acts at once.
  Token on_cancel(std::function<void()> callback);
  /// True if the callback was removed before it ran. Otherwise it has run or is running, and this
  /// waits until it has finished (unless called from within it).
  bool forget(Token token);

private:
  bool has_passed_deadline();

  mutable std::mutex lock_;
  std::condition_variable finished_;     // a callback
  std::atomic<bool> cancelled_{false};   // set with the lock held, after why_
  std::atomic<std::int64_t> ends_us_{0}; // 0: no deadline
  std::int64_t timeout_us_ = 0;          // written with ends_us_, before other threads look
  std::int64_t deadline_us_ = 0;         // the same; stays when somebody else watches
  std::uint64_t step_id_ = 0;
  Status why_;
  Token next_ = 1;
  Token running_ = 0;
  std::thread::id runner_; // of running_
  std::map<Token, std::function<void()>> callbacks_;
};

} // namespace troupe
