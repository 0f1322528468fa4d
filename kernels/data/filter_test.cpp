// FilterDataset and TakeWhileDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("FilterDataset TakeWhileDataset");

namespace troupe {
namespace {

struct FilterLines : testing::DatasetLines {
  FilterLines(std::string_view op, std::string_view predicate, std::string_view captured = "") {
    add(testing::range_lines("r", 6));
    add(testing::constant("three", "i64[] 3"));
    add(testing::constant("limit", "i64[] 4"));
    function("odd_or_small", "x: int64, limit: int64", "y",
             str_cat(testing::constant("two", "i64[] 2"), testing::constant("one", "i64[] 1"),
                     "m = FloorMod(x, two)\nodd = Equal(m, one)\nsmall = Less(x, two)\n",
                     "y = LogicalOr(odd, small)\nunused = Identity(limit)"));
    function("less", "x: int64, limit: int64", "y", "y = Less(x, limit)");
    function("no_bool", "x: int64", "x", "");
    function("vector", "x: int64", "y", testing::constant("y", "bool[2] true false"));
    function("fails", "x: int64", "y",
             str_cat(testing::constant("two", "i64[] 2"), testing::constant("six", "i64[] 6"),
                     "at = Sub(x, two)\nq = FloorDiv(six, at)\ny = Less(q, six)"));
    add(str_cat("d = ", op, "[predicate=", predicate,
                ", output_types=[int64], output_shapes=[[]]](r", captured, ")"));
  }
};

} // namespace

TEST_CASE("FilterDataset: the elements for which the function holds") {
  FilterLines f("FilterDataset", "odd_or_small", ", limit");
  f.check("d", {"i64[] 0", "i64[] 1", "i64[] 3", "i64[] 5"}, {.cardinality = "-2"});
}

TEST_CASE("FilterDataset: an error drops its element alone") {
  FilterLines f("FilterDataset", "fails");
  f.check("d",
          {"i64[] 0", "i64[] 1", "error Error in user-defined function passed to FilterDataset",
           "i64[] 4", "i64[] 5"},
          {.cardinality = "-2"});
}

TEST_CASE("TakeWhileDataset: the elements before the first for which the function does not hold") {
  FilterLines f("TakeWhileDataset", "less", ", limit");
  f.check("d", {"i64[] 0", "i64[] 1", "i64[] 2", "i64[] 3"}, {.cardinality = "-2"});
}

TEST_CASE("FilterDataset, TakeWhileDataset: a predicate is one bool") {
  for (const char* predicate : {"no_bool", "vector"}) {
    FilterLines filter("FilterDataset", predicate), take("TakeWhileDataset", predicate);
    CHECK(filter.elements("d", 1)[0].find("Filter predicate `f` must return a scalar bool.") !=
          std::string::npos);
    CHECK(take.elements("d", 1)[0].find("`predicate` must returns a scalar bool tensor.") !=
          std::string::npos);
  }
}

} // namespace troupe
