#include "net/transport/stop_event.hpp"

#include <thread>

#include <doctest/doctest.h>
#include <poll.h>

#include "net/transport/tcp_dial.hpp"

using namespace troupe;
using std::chrono::milliseconds;

TEST_CASE("stop event: it is set once and for good") {
  StopEvent stop;
  CHECK_FALSE(stop.is_set());
  CHECK_FALSE(stop.wait_for(milliseconds(1)));
  stop.set();
  CHECK(stop.is_set());
  stop.set();
  CHECK(stop.wait_for(milliseconds(0)));
  pollfd wait{stop.fd(), POLLIN, 0};
  CHECK(poll(&wait, 1, 0) == 1);
}

TEST_CASE("stop event: it wakes a thread that waits") {
  StopEvent stop;
  bool was_set = false;
  std::thread waiter([&] { was_set = stop.wait_for(std::chrono::hours(1)); });
  stop.set();
  waiter.join();
  CHECK(was_set);
}

TEST_CASE("dial: it is given up at once when its owner stops") {
  StopEvent stop;
  stop.set();
  // An address that is set aside for documentation: nobody answers, or the network refuses.
  Status status = dial_tcp("192.0.2.1", 9, std::chrono::hours(1), &stop).status();
  CHECK(status.code() == Code::unavailable);
}
