// EventWaiter: a thread that waits for a stream's events, one after the other, so that nobody else
// has to.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "devices/cuda/driver.hpp"

namespace troupe::cuda {

class Gpu;

class EventWaiter {
public:
  explicit EventWaiter(Gpu& gpu) : gpu_(gpu) {}
  /// Once every event has come and every call was made.
  ~EventWaiter();
  EventWaiter(const EventWaiter&) = delete;
  EventWaiter& operator=(const EventWaiter&) = delete;

  /// Calls `reached`, on the thread, when `event` has come or failed to; destroys the event. In the
  /// order in which they are added, which is that of the events.
  void add(EventHandle event, std::function<void(Outcome)> reached);

private:
  struct Awaited {
    EventHandle event;
    std::function<void(Outcome)> reached;
  };
  void run();

  Gpu& gpu_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Awaited> awaited_;
  bool ending_ = false;
  std::thread thread_; ///< from the first event on
};

} // namespace troupe::cuda
