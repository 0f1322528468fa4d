// What the handles of a pending step share with the thread that runs it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "api/pending_run.hpp"

namespace troupe {

/// Any thread.
struct PendingRun::State {
  std::mutex lock; ///< guards what follows
  std::condition_variable ended;
  std::optional<Result<std::vector<Tensor>>> outcome;
  RunMetadata metadata;
  std::function<void()> ask_to_cancel; ///< called at most once, without the lock; empty once ended

  /// Ends it; only the first answer counts.
  void answer(Result<std::vector<Tensor>> result, RunMetadata data = {}) {
    std::function<void()> unused; // dies outside of the lock
    std::scoped_lock guard(lock);
    if (outcome)
      return;
    outcome = std::move(result);
    metadata = std::move(data);
    unused.swap(ask_to_cancel);
    ended.notify_all();
  }
};

} // namespace troupe
