#include "actors/family/ask.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "actors/family/timeouts.hpp"

using namespace troupe;
using std::chrono::microseconds;

TEST_CASE("ask: a budget that is over, or overflows as nanoseconds, is still an end") {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  CHECK(request_budget(microseconds(0)) == caf::timespan(1));
  CHECK(request_budget(microseconds(-5)) == caf::timespan(1));
  CHECK(request_budget(microseconds(std::numeric_limits<std::int64_t>::min())) == caf::timespan(1));
  CHECK(request_budget(microseconds(7)) == caf::timespan(7000));
  CHECK(request_budget(microseconds(most)) == caf::timespan(std::chrono::hours(365 * 24)));
  CHECK(request_budget(std::chrono::hours(24 * 7)) == caf::timespan(std::chrono::hours(24 * 7)));
}

TEST_CASE("ask: a handle to no actor, as another process may send it, stands for nothing") {
  CHECK((object_of(caf::actor()) == nullptr));
}

TEST_CASE("timeouts: another process's timeout is at most a step's longest") {
  Timeouts timeouts;
  const std::int64_t longest = microseconds(timeouts.step).count();
  CHECK(bounded_timeout(-1, timeouts) == 0);
  CHECK(bounded_timeout(1'000'000, timeouts) == 1'000'000);
  CHECK(bounded_timeout(std::numeric_limits<std::int64_t>::max(), timeouts) == longest);
}
