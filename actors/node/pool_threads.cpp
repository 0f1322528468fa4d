#include "actors/node/pool_threads.hpp"

#include <pthread.h>

#include "core/base/denormals.hpp"
#include "core/base/log.hpp"
#include "core/base/no_thread.hpp"

namespace troupe {

bool PoolThreads::Queue::run_oldest() {
  std::function<void()> work;
  {
    std::scoped_lock guard(lock);
    if (waiting.empty())
      return false;
    work = std::move(waiting.front());
    waiting.pop_front();
  }
  work();
  return true;
}

void PoolThreads::start() {
  was_started_ = true;
  try {
    thread_ = std::thread([queue = queue_] {
      pthread_setname_np(pthread_self(), "work");
      FlushDenormals flush;
      for (;;) {
        while (queue->run_oldest()) {
        }
        std::unique_lock guard(queue->lock);
        queue->changed.wait(guard, [&] { return queue->is_over || !queue->waiting.empty(); });
        if (queue->waiting.empty())
          return;
      }
    });
  } catch (const std::system_error& refused) {
    log_warning(no_thread(refused, "for the work of sessions").message(),
                "; the compute threads do it");
  }
}

void PoolThreads::run(std::function<void()> work) {
  {
    std::scoped_lock guard(queue_->lock);
    queue_->waiting.push_back(std::move(work));
    if (!was_started_)
      start();
  }
  queue_->changed.notify_one();
  pool_.submit([queue = queue_] { queue->run_oldest(); });
}

PoolThreads::~PoolThreads() {
  {
    std::scoped_lock guard(queue_->lock);
    queue_->is_over = true;
  }
  queue_->changed.notify_one();
  if (thread_.get_id() == std::this_thread::get_id()) // its work was the last to know of us
    thread_.detach();
  else if (thread_.joinable())
    thread_.join();
}

} // namespace troupe
