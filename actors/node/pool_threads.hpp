// Where a node of a real process does what takes more than a millisecond.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "actors/family/work_threads.hpp"
#include "devices/host/compute_pool.hpp"

namespace troupe {

/// The compute threads, and one thread beside them: a compute thread may be in one kernel's loop
/// for as long as that takes, and opening a session, which hands its work over here, must not wait
/// for it. Whichever thread is free first takes the oldest work. `pool` outlives it. Without the
/// thread, which the system may refuse, the compute threads do all. The end waits for the work that
/// is left.
class PoolThreads final : public WorkThreads {
public:
  explicit PoolThreads(ComputePool& pool) : pool_(pool) {}
  ~PoolThreads() override;
  void run(std::function<void()> work) override;
  bool are_real() const override { return true; }

private:
  struct Queue {
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> waiting;
    bool is_over = false;

    bool run_oldest(); ///< false if nothing waits
  };
  void start(); ///< under the lock

  ComputePool& pool_;
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>(); ///< shared with the pool's work
  std::thread thread_;
  bool was_started_ = false;
};

} // namespace troupe
