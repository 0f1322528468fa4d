#include "kernels/framework/cancellation.hpp"

#include <doctest/doctest.h>

#include <future>
#include <limits>
#include <thread>
#include <vector>

#include "core/base/clock.hpp"

namespace troupe {

TEST_CASE("cancellation: the first cancel wins") {
  Cancellation c;
  CHECK(!c.is_cancelled());
  CHECK(c.status().ok());
  c.cancel(aborted("first"));
  c.cancel(internal("second"));
  CHECK(c.is_cancelled());
  CHECK(c.status() == aborted("first"));
}

TEST_CASE("cancellation: callbacks run once, in the order they were given") {
  Cancellation c;
  std::vector<int> ran;
  c.on_cancel([&] { ran.push_back(1); });
  c.on_cancel([&] { ran.push_back(2); });
  c.cancel(cancelled("stop"));
  c.cancel(cancelled("stop"));
  CHECK(ran == std::vector<int>{1, 2});
}

TEST_CASE("cancellation: after a cancel no callback is kept") {
  Cancellation c;
  c.cancel(cancelled("stop"));
  CHECK(c.on_cancel([] { FAIL("kept"); }) == 0);
  CHECK(!c.forget(0));
}

TEST_CASE(
    "cancellation: who looks after the deadline cancels, before it or without one nobody does") {
  Cancellation c;
  CHECK(!c.must_stop());
  c.set_deadline(7, steady_micros(), 3'600'000'000);
  CHECK(!c.must_stop());
  c.set_deadline(7, steady_micros(), std::numeric_limits<std::int64_t>::max());
  CHECK(!c.must_stop());
  c.set_deadline(7, steady_micros() - 2'000'000, 1'500'000);
  CHECK(!c.is_cancelled());
  c.clear_deadline();
  CHECK(!c.must_stop());
  c.set_deadline(7, steady_micros() - 2'000'000, 1'500'000);
  CHECK(c.must_stop());
  CHECK(c.is_cancelled());
  CHECK(c.status() == deadline_exceeded("step 7 took longer than its deadline of 1500 ms"));
}

TEST_CASE("cancellation: a forgotten callback does not run") {
  Cancellation c;
  bool ran = false;
  auto token = c.on_cancel([&] { ran = true; });
  CHECK(c.forget(token));
  CHECK(!c.forget(token));
  c.cancel(cancelled("stop"));
  CHECK(!ran);
}

TEST_CASE("cancellation: a callback may forget itself and others") {
  Cancellation c;
  bool second = false;
  Cancellation::Token self = 0, other = 0;
  self = c.on_cancel([&] {
    CHECK(!c.forget(self));
    CHECK(c.forget(other));
  });
  other = c.on_cancel([&] { second = true; });
  c.cancel(cancelled("stop"));
  CHECK(!second);
}

TEST_CASE("cancellation: forget waits for a callback that another thread runs") {
  Cancellation c;
  std::promise<void> begun, may_end;
  bool ended = false;
  auto token = c.on_cancel([&] {
    begun.set_value();
    may_end.get_future().wait();
    ended = true;
  });
  std::thread canceller([&] { c.cancel(cancelled("stop")); });
  begun.get_future().wait();
  std::thread releaser([&] { may_end.set_value(); });
  CHECK(!c.forget(token));
  CHECK(ended);
  releaser.join();
  canceller.join();
}

} // namespace troupe
