#include "devices/resource/tick_thread.hpp"

#include <condition_variable>
#include <mutex>

namespace troupe {

struct TickThread::State {
  explicit State(Tick tick) : tick(std::move(tick)) {}

  void run() {
    std::unique_lock guard(lock);
    for (Time due = never;;) {
      const auto is_called = [&] { return is_woken || has_ended; };
      if (due == never)
        changed.wait(guard, is_called); // the owner's end ends it
      else
        changed.wait_until(guard, due, is_called);
      if (has_ended)
        return;
      is_woken = false;
      guard.unlock();
      due = tick(std::chrono::steady_clock::now());
      guard.lock();
    }
  }

  const Tick tick;
  std::mutex lock; // guards what follows
  std::condition_variable changed;
  bool is_woken = false, has_ended = false;
};

TickThread::TickThread(Tick tick)
    : state_(std::make_shared<State>(std::move(tick))),
      thread_([state = state_] { state->run(); }) {}

void TickThread::wake() {
  std::scoped_lock guard(state_->lock);
  state_->is_woken = true;
  state_->changed.notify_one();
}

TickThread::~TickThread() {
  {
    std::scoped_lock guard(state_->lock);
    state_->has_ended = true;
    state_->changed.notify_one();
  }
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach(); // it has its own hold on the state, and ends when the call does
  else
    thread_.join();
}

} // namespace troupe
