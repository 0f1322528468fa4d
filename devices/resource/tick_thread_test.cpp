#include "devices/resource/tick_thread.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <optional>

using namespace troupe;

TEST_CASE("tick thread: calls when it is woken, and when it is due") {
  std::promise<void> third;
  std::atomic<int> calls = 0;
  TickThread ticks([&](TickThread::Time now) {
    if (++calls == 3)
      third.set_value();
    return calls < 3 ? now + std::chrono::milliseconds(1) : TickThread::never;
  });
  ticks.wake();
  third.get_future().wait();
  CHECK(calls == 3);
}

TEST_CASE("tick thread: one that was never woken, and one that waits for long, end at once") {
  TickThread unused([](TickThread::Time) { return TickThread::never; });
  std::promise<void> called;
  std::optional<TickThread> waits;
  waits.emplace([&](TickThread::Time now) {
    called.set_value();
    return now + std::chrono::hours(1);
  });
  waits->wake();
  called.get_future().wait();
  waits.reset();
}

TEST_CASE("tick thread: may end within its own call") {
  std::promise<void> ended;
  auto ticks = std::make_unique<std::optional<TickThread>>();
  ticks->emplace([&](TickThread::Time) {
    ticks->reset();
    ended.set_value();
    return TickThread::never;
  });
  (*ticks)->wake();
  ended.get_future().wait();
  CHECK_FALSE(ticks->has_value());
}
