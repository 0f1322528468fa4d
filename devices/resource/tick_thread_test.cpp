#include "devices/resource/tick_thread.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <optional>

using namespace troupe;

namespace {

/// Set by the thread, within a minute.
struct Happening {
  void set() { promise.set_value(); }
  bool comes() {
    return promise.get_future().wait_for(std::chrono::minutes(1)) == std::future_status::ready;
  }
  std::promise<void> promise;
};

/// Whoever holds it last is its own call.
struct Owner {
  explicit Owner(Happening& ended) : ended(ended) {}
  ~Owner() { ended.set(); }
  TickThread::Time tick(TickThread::Time) {
    self.reset();
    return TickThread::never;
  }
  Happening& ended;
  std::shared_ptr<Owner> self;
  std::unique_ptr<TickThread> ticks;
};

} // namespace

TEST_CASE("tick thread: calls when it is woken, and when it is due") {
  Happening third;
  std::atomic<int> calls = 0;
  TickThread ticks([&](TickThread::Time now) {
    if (++calls == 3)
      third.set();
    return calls < 3 ? now + std::chrono::milliseconds(1) : TickThread::never;
  });
  ticks.wake();
  REQUIRE(third.comes());
  CHECK(calls == 3);
}

TEST_CASE("tick thread: one that was never woken, and one that waits for long, end at once") {
  TickThread unused([](TickThread::Time) { return TickThread::never; });
  Happening called;
  TickThread waits([&](TickThread::Time now) {
    called.set();
    return now + std::chrono::hours(1);
  });
  waits.wake();
  REQUIRE(called.comes());
}

TEST_CASE("tick thread: may end within its own call") {
  Happening ended;
  std::optional<TickThread> ticks;
  ticks.emplace([&](TickThread::Time) {
    ticks.reset();
    ended.set();
    return TickThread::never;
  });
  ticks->wake();
  REQUIRE(ended.comes());
  CHECK_FALSE(ticks.has_value());
}

TEST_CASE("tick thread: an owner that nobody else holds ends after its call") {
  Happening ended;
  auto owner = std::make_shared<Owner>(ended);
  owner->ticks = TickThread::of(owner);
  TickThread& ticks = *owner->ticks;
  Owner& held = *owner;
  held.self = std::move(owner);
  ticks.wake();
  REQUIRE(ended.comes());
}
