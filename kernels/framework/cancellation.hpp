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
  /// Calls `callback` when cancelled. Returns 0, without keeping it, if that has happened already:
  /// the caller acts at once.
  Token on_cancel(std::function<void()> callback);
  /// True if the callback was removed before it ran. Otherwise it has run or is running, and this
  /// waits until it has finished (unless called from within it).
  bool forget(Token token);

private:
  mutable std::mutex lock_;
  std::condition_variable finished_;   // a callback
  std::atomic<bool> cancelled_{false}; // set with the lock held, after why_
  Status why_;
  Token next_ = 1;
  Token running_ = 0;
  std::thread::id runner_; // of running_
  std::map<Token, std::function<void()>> callbacks_;
};

} // namespace troupe
