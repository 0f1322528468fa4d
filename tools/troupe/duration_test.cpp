#include "tools/troupe/duration.hpp"

#include <doctest/doctest.h>

namespace troupe {

using namespace std::chrono_literals;

TEST_CASE("duration: a number with its unit, seconds without one") {
  CHECK(parse_duration("500ms") == 500ms);
  CHECK(parse_duration("2s") == 2s);
  CHECK(parse_duration("1.5min") == 90s);
  CHECK(parse_duration("1.5m") == 90s);
  CHECK(parse_duration("3h") == 3h);
  CHECK(parse_duration("7") == 7s);
  CHECK(parse_duration("0.001") == 1ms);
}

TEST_CASE("duration: what is no limit, or none that a clock holds, is refused") {
  for (const char* text : {"", "s", "-1s", "0", "0ms", "0.9ms", "1e-30h", "nan", "nans", "inf",
                           "infh", "1e300h", "9000h 1", "1 s", "1ns", "one"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).has_value());
  }
}

TEST_CASE("duration: time is printed with about three digits") {
  CHECK(format_micros(0) == "0 us");
  CHECK(format_micros(999) == "999 us");
  CHECK(format_micros(3234) == "3.23 ms");
  CHECK(format_micros(45678) == "45.7 ms");
  CHECK(format_micros(456789) == "457 ms");
  CHECK(format_micros(65000000) == "1 min 5 s");
  CHECK(format_micros(3720000000) == "1 h 2 min");
}

} // namespace troupe
