// RangeDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("RangeDataset DatasetCardinality");

namespace troupe {
namespace {

std::string range(std::string_view start, std::string_view stop, std::string_view step,
                  std::string_view type = "int64") {
  return str_cat(
      "start = Const[dtype=int64, value=i64", start, "]()\nstop = Const[dtype=int64, value=i64",
      stop, "]()\nstep = Const[dtype=int64, value=i64", step,
      "]()\nd = RangeDataset[output_types=[", type, "], output_shapes=[[]]](start, stop, step)\n");
}

} // namespace

TEST_CASE("RangeDataset: up and down, to before the end") {
  const auto check = [](std::string_view lines, const std::vector<std::string>& expected) {
    testing::DatasetLines f;
    f.add(lines);
    f.check("d", expected);
  };
  check(range("[] 0", "[] 4", "[] 1"), {"i64[] 0", "i64[] 1", "i64[] 2", "i64[] 3"});
  check(range("[] 1", "[] 8", "[] 3"), {"i64[] 1", "i64[] 4", "i64[] 7"});
  check(range("[] 3", "[] -3", "[] -2"), {"i64[] 3", "i64[] 1", "i64[] -1"});
  check(range("[] 3", "[] 3", "[] 1"), {});
  check(range("[] 5", "[] 3", "[] 1"), {});
  check(range("[] 3", "[] 5", "[] -1"), {});
}

TEST_CASE("RangeDataset: as far as the numbers go") {
  testing::DatasetLines f;
  f.add(range("[] 9223372036854775805", "[] 9223372036854775807", "[] 1"));
  f.check("d", {"i64[] 9223372036854775805", "i64[] 9223372036854775806"}, {.cardinality = "-1"});
  CHECK(f.elements("d", 9).size() == 2);
  testing::DatasetLines wide;
  wide.add(range("[] -9223372036854775808", "[] 9223372036854775807", "[] 6148914691236517205"));
  wide.check(
      "d",
      {"i64[] -9223372036854775808", "i64[] -3074457345618258603", "i64[] 3074457345618258602"},
      {.cardinality = "-1"});
  CHECK(wide.elements("d", 9).size() == 3);
}

TEST_CASE("RangeDataset: every type of numbers") {
  for (const char* type : {"int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64", "half",
                           "bfloat16", "float", "double"}) {
    testing::DatasetLines f;
    f.add(range("[] 1", "[] 3", "[] 1", type));
    f.add(str_cat("it = IteratorV2[output_types=[", type,
                  "], output_shapes=[[]], shared_name=\"\", container=\"\"]()"));
    CHECK(f.elements("d").size() == 2);
    CHECK(f.elements("d")[1].ends_with("[] 2"));
  }
  testing::DatasetLines f;
  f.add(range("[] 0", "[] 3", "[] 1", "string"));
  CHECK(f.elements("d", 1)[0].find("Unsupported data type: string") != std::string::npos);
}

TEST_CASE("RangeDataset: what is refused") {
  const auto refused = [](std::string_view lines, std::string_view text) {
    testing::DatasetLines f;
    f.add(lines);
    f.check_refused("d", text);
  };
  refused(range("[] 0", "[] 3", "[] 0"), "step must be a non-zero integer.");
  refused(range("[1] 0", "[] 3", "[] 1"), "start");
  refused(range("[] 0", "[1] 3", "[] 1"), "stop");
  refused(range("[] 0", "[] 3", "[2] 1 1"), "step");
}

} // namespace troupe
