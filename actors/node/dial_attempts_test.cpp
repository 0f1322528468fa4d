#include "actors/node/dial_attempts.hpp"

#include <doctest/doctest.h>

using namespace troupe;
using namespace std::chrono_literals;

TEST_CASE("dial attempts: the newest verdict counts") {
  DialAttempts attempts;
  attempts.failed(unavailable("refused"), 5000ms);
  attempts.failed(unavailable("no route"), 4000ms);
  CHECK(attempts.verdict().message() == "no route");
}

TEST_CASE("dial attempts: one that was cut short says nothing of who listens") {
  DialAttempts attempts;
  attempts.failed(unavailable("refused"), 5000ms);
  attempts.failed(unavailable("did not greet within 1 ms"), 1ms);
  CHECK(attempts.verdict().message() == "refused");
}

TEST_CASE("dial attempts: a single short attempt is better than none") {
  DialAttempts attempts;
  attempts.failed(unavailable("did not greet"), 10ms);
  CHECK(attempts.verdict().message() == "did not greet");
  attempts.failed(unavailable("refused"), 10ms);
  CHECK(attempts.verdict().message() == "did not greet");
}

TEST_CASE("dial attempts: pauses double up to half a second, and fit the budget") {
  DialAttempts attempts;
  CHECK(attempts.pause() == 20ms);
  CHECK(attempts.may_go_on(21ms));
  CHECK_FALSE(attempts.may_go_on(20ms));
  for (int i = 0; i < 10; ++i)
    attempts.rested();
  CHECK(attempts.pause() == 500ms);
}
