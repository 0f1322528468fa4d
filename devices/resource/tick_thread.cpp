#include "devices/resource/tick_thread.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace troupe {

struct TickThread::State {
  explicit State(Tick tick) : tick(std::move(tick)) {}

  void run() {
    std::unique_lock guard(lock);
    for (Time due = never; !has_ended;) {
      const auto is_called = [&] { return is_woken || has_ended; };
      if (due == never)
        changed.wait(guard, is_called);
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
  std::mutex lock;
  std::condition_variable changed;
  bool is_woken = false, has_ended = false;
  std::thread thread; // changed by wake and by the end
};

TickThread::TickThread(Tick tick) : state_(std::make_shared<State>(std::move(tick))) {}

void TickThread::wake() {
  std::scoped_lock guard(state_->lock);
  state_->is_woken = true;
  if (!state_->thread.joinable())
    state_->thread = std::thread([state = state_] { state->run(); });
  state_->changed.notify_one();
}

TickThread::~TickThread() {
  std::thread thread;
  {
    std::scoped_lock guard(state_->lock);
    state_->has_ended = true;
    thread.swap(state_->thread);
    state_->changed.notify_one();
  }
  if (!thread.joinable())
    return;
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach(); // it has its own hold on the state, and ends when the call does
  else
    thread.join();
}

} // namespace troupe
