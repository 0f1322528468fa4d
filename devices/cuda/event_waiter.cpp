#include "devices/cuda/event_waiter.hpp"

#include <utility>

#include "devices/cuda/gpu.hpp"

namespace troupe::cuda {

EventWaiter::~EventWaiter() {
  {
    std::scoped_lock guard(lock_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable())
    thread_.join();
}

void EventWaiter::add(EventHandle event, std::function<void(Outcome)> reached) {
  std::scoped_lock guard(lock_);
  awaited_.push_back({event, std::move(reached)});
  if (!thread_.joinable())
    thread_ = std::thread([this] { run(); });
  changed_.notify_one();
}

void EventWaiter::run() {
  (void)gpu_.activate(); // if it fails, so does every event
  const Driver& driver = gpu_.driver();
  std::unique_lock guard(lock_);
  for (;;) {
    changed_.wait(guard, [this] { return ending_ || !awaited_.empty(); });
    if (awaited_.empty())
      return;
    Awaited next = std::move(awaited_.front());
    awaited_.pop_front();
    guard.unlock();
    const Outcome outcome = driver.cuEventSynchronize(next.event);
    driver.cuEventDestroy_v2(next.event);
    next.reached(outcome);
    next.reached = nullptr; // what it holds may be the last of its step
    guard.lock();
  }
}

} // namespace troupe::cuda
