// RepeatDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("RepeatDataset");

namespace troupe {
namespace {

std::string repeated(int elements, std::string_view count) {
  return str_cat(testing::range_lines("r", elements), "n = Const[dtype=int64, value=i64", count,
                 "]()\nd = RepeatDataset", testing::of_int64, "(r, n)\n");
}

} // namespace

TEST_CASE("RepeatDataset: several times, never, and for ever") {
  const auto check = [](int elements, std::string_view count,
                        const std::vector<std::string>& expected,
                        const testing::DatasetFacts& facts = {}) {
    testing::DatasetLines f;
    f.add(repeated(elements, count));
    f.check("d", expected, facts);
  };
  check(2, "[] 2", {"i64[] 0", "i64[] 1", "i64[] 0", "i64[] 1"});
  check(2, "[] 1", {"i64[] 0", "i64[] 1"});
  check(2, "[] 0", {});
  check(0, "[] 3", {});
  check(2, "[] -1", {"i64[] 0", "i64[] 1", "i64[] 0", "i64[] 1", "i64[] 0"}, {.cardinality = "-1"});
}

TEST_CASE("RepeatDataset: nothing for ever ends") {
  testing::DatasetLines f;
  f.add(repeated(0, "[] -1"));
  f.check("d", {});
}

TEST_CASE("RepeatDataset: the count is a scalar") {
  testing::DatasetLines f;
  f.add(repeated(2, "[2] 1 2"));
  f.check_refused("d", "count");
}

} // namespace troupe
