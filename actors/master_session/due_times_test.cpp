#include "actors/master_session/due_times.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("due times: a timer is set only for what is due before all others") {
  DueTimes times;
  CHECK(times.add(100));
  CHECK_FALSE(times.add(100));
  CHECK_FALSE(times.add(150));
  CHECK(times.add(50));
  times.passed(49);
  CHECK_FALSE(times.add(60));
  times.passed(50);
  CHECK(times.add(60)); // the one for 100 is set, and too late
  CHECK_FALSE(times.add(120));
  times.passed(1000);
  CHECK(times.add(1150));
}
