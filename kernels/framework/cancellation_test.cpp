#include "kernels/framework/cancellation.hpp"

#include <doctest/doctest.h>

#include <future>
#include <thread>
#include <vector>

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
