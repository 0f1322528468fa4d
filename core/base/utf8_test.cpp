#include "core/base/utf8.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("utf8: what is well-formed stays") {
  for (const std::string_view text : {"", "a", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80"}) {
    CHECK(utf8_length(text) == text.size());
    CHECK(to_utf8(text) == text);
  }
  CHECK(utf8_length("ab") == 1);
}

TEST_CASE("utf8: each byte of anything else is replaced") {
  const std::string other = "\xEF\xBF\xBD";
  CHECK(to_utf8("a\xFFz") == "a" + other + "z");
  CHECK(to_utf8("\xC0\x80") == other + other);             // overlong
  CHECK(to_utf8("\xED\xA0\x80") == other + other + other); // a surrogate
  CHECK(to_utf8("\xF4\x90\x80\x80") == other + other + other + other);
  CHECK(to_utf8("\xE4\xB8") == other + other); // cut
}
