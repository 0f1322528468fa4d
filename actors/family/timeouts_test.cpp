#include "actors/family/timeouts.hpp"

#include <cstdint>

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("timeouts: values wait for a peer as long as its silence counts as life") {
  Timeouts timeouts;
  CHECK(timeouts.unclaimed() == timeouts.orphan);
  timeouts.lease = std::chrono::minutes(5);
  CHECK(timeouts.unclaimed() == timeouts.lease + 2 * timeouts.heartbeat);
}

TEST_CASE("timeouts: what another process wishes is bounded") {
  const Timeouts timeouts;
  const std::int64_t own = 5'000'000, week = 7 * 24 * std::int64_t{3'600'000'000};
  CHECK(bounded_lease(0, timeouts) == own);
  CHECK(bounded_lease(2 * own, timeouts) == 2 * own);
  CHECK(bounded_lease(INT64_MAX, timeouts) == own);
  CHECK(bounded_timeout(-1, timeouts) == 0);
  CHECK(bounded_timeout(INT64_MAX, timeouts) == week);
}
