#include "net/transport/short_waits.hpp"

#include <doctest/doctest.h>

using namespace troupe;
using std::chrono::microseconds;

namespace {
void slept(ShortWaits& waits, microseconds took, int times = 1) {
  for (int i = 0; i < times; ++i)
    waits.ended(took, true);
}
} // namespace

TEST_CASE("short waits: nobody stays awake before some waits were short") {
  ShortWaits waits;
  slept(waits, microseconds(50), 3);
  CHECK(!waits.stays_awake());
  slept(waits, microseconds(50));
  CHECK(waits.stays_awake());
}

TEST_CASE("short waits: long ones are slept, however many there were") {
  ShortWaits waits;
  slept(waits, microseconds(1000), 100);
  CHECK(!waits.stays_awake());
  slept(waits, microseconds(50), 4);
  CHECK(waits.stays_awake());
}

TEST_CASE("short waits: two that were awake in vain end it, however many were not") {
  ShortWaits waits;
  slept(waits, microseconds(50), 4);
  for (int i = 0; i < 100; ++i)
    waits.ended(microseconds(100), false);
  CHECK(waits.stays_awake());
  slept(waits, ShortWaits::limit + microseconds(1));
  CHECK(waits.stays_awake());
  slept(waits, ShortWaits::limit + microseconds(1));
  CHECK(!waits.stays_awake());
}

TEST_CASE("short waits: now and then a long one among short ones does not end it") {
  ShortWaits waits;
  slept(waits, microseconds(50), 8);
  for (int i = 0; i < 20; ++i) {
    slept(waits, microseconds(5000));
    for (int j = 0; j < 3; ++j)
      waits.ended(microseconds(20), false);
    CHECK(waits.stays_awake());
  }
}

TEST_CASE("short waits: where every other one is long, all are slept") {
  ShortWaits waits;
  slept(waits, microseconds(50), 8);
  for (int i = 0; i < 20; ++i) {
    slept(waits, microseconds(50));
    slept(waits, microseconds(5000));
  }
  CHECK(!waits.stays_awake());
}

TEST_CASE("short waits: after a loss of the core the next ones sleep, twice as many each time") {
  ShortWaits waits;
  slept(waits, microseconds(50), 8);
  for (int debt : {16, 32, 64}) {
    CHECK(!waits.lost_core(microseconds(20)));
    REQUIRE(waits.stays_awake());
    CHECK(waits.lost_core(microseconds(4000)));
    slept(waits, microseconds(4100)); // the wait in which it happened
    slept(waits, microseconds(50), debt + 3);
    CHECK(!waits.stays_awake());
    slept(waits, microseconds(50));
  }
}

TEST_CASE("short waits: a core that is lost seldom costs no more than the first time") {
  ShortWaits waits;
  slept(waits, microseconds(50), 8);
  for (int i = 0; i < 10; ++i) {
    CHECK(waits.lost_core(microseconds(4000)));
    slept(waits, microseconds(50), 16 + 4);
    REQUIRE(waits.stays_awake());
    for (int j = 0; j < 16; ++j)
      waits.ended(microseconds(20), false);
  }
}
