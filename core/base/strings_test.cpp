#include "core/base/strings.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace troupe;

namespace {
struct Named {
  std::string to_string() const { return "named"; }
};
} // namespace

TEST_CASE("str_cat: text, characters, numbers, truth and whatever prints itself") {
  CHECK(str_cat("a", 'b', std::string("c"), std::string_view("d")) == "abcd");
  CHECK(str_cat(-1, " ", std::uint8_t{200}, " ", std::int64_t{1} << 62) ==
        "-1 200 4611686018427387904");
  CHECK(str_cat(true, false) == "truefalse");
  CHECK(str_cat(0.1f, " ", 0.1, " ", 1e100) == "0.1 0.1 1e+100");
  CHECK(str_cat(Named{}) == "named");
  CHECK(str_cat().empty());
  CHECK(str_cat(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  std::string out = "x";
  str_append(out, 1, "y");
  CHECK(out == "x1y");
}

TEST_CASE("str_join and str_split undo each other") {
  CHECK(str_join(std::vector<int>{1, 2, 3}, ",") == "1,2,3");
  CHECK(str_join(std::vector<int>{}, ",").empty());
  CHECK(str_split("a,,b", ',') == std::vector<std::string_view>{"a", "", "b"});
  CHECK(str_split("", ',') == std::vector<std::string_view>{""});
  CHECK(str_split(",", ',').size() == 2);
  CHECK(str_join(str_split("x/y/z", '/'), "/") == "x/y/z");
}

TEST_CASE("str_trim: blanks at both ends only") {
  CHECK(str_trim(" \t a b\r\n") == "a b");
  CHECK(str_trim(" \n").empty());
  CHECK(str_trim("").empty());
}

TEST_CASE("str_quote: C's escapes") {
  CHECK(str_quote("a\"b\\c\n\t\r") == R"("a\"b\\c\n\t\r")");
  CHECK(str_quote(std::string_view("\0\x7f\xff", 3)) == R"("\x00\x7f\xff")");
}

TEST_CASE("hex16: always sixteen digits") {
  CHECK(hex16(0) == "0000000000000000");
  CHECK(hex16(0xdeadbeef) == "00000000deadbeef");
  CHECK(hex16(~std::uint64_t{0}) == "ffffffffffffffff");
}

TEST_CASE("parse: the whole text or nothing") {
  CHECK(parse_int("-12") == -12);
  CHECK(parse_int("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  for (const char* bad : {"", "1 ", " 1", "1x", "9223372036854775808", "+1", "0x10"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_int(bad));
  }
  CHECK(parse_uint("18446744073709551615") == ~std::uint64_t{0});
  CHECK_FALSE(parse_uint("-1"));
  CHECK(parse_double("1.5e3") == 1500.0);
  CHECK(std::isinf(*parse_double("-inf")));
  CHECK(std::isnan(*parse_double("nan")));
  CHECK_FALSE(parse_double("1.5.2"));
}
