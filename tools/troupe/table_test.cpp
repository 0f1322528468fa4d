#include "tools/troupe/table.hpp"

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE("table: columns line up and lines end without blanks") {
  CHECK(format_table({{"a", "bb", ""}, {"ccc", "d", "e"}}, " ") == " a    bb\n ccc  d   e\n");
}

TEST_CASE("table: letters of several bytes take one column") {
  CHECK(format_table({{"é", "1"}, {"ab", "2"}}) == "é   1\nab  2\n");
}

} // namespace troupe
