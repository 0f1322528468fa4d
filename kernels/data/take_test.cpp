// TakeDataset and SkipDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("TakeDataset SkipDataset");

namespace troupe {
namespace {

std::string of_range(std::string_view op, std::string_view count) {
  return str_cat(testing::range_lines("r", 4), "n = Const[dtype=int64, value=i64", count,
                 "]()\nd = ", op, testing::of_int64, "(r, n)\n");
}

} // namespace

TEST_CASE("TakeDataset and SkipDataset: counts below, at and beyond the input's") {
  const auto check = [](std::string_view op, std::string_view count,
                        const std::vector<std::string>& expected) {
    testing::DatasetLines f;
    f.add(of_range(op, count));
    f.check("d", expected);
  };
  const std::vector<std::string> all{"i64[] 0", "i64[] 1", "i64[] 2", "i64[] 3"};
  check("TakeDataset", "[] 0", {});
  check("TakeDataset", "[] 2", {"i64[] 0", "i64[] 1"});
  check("TakeDataset", "[] 4", all);
  check("TakeDataset", "[] 9", all);
  check("TakeDataset", "[] -1", all);
  check("SkipDataset", "[] 0", all);
  check("SkipDataset", "[] 3", {"i64[] 3"});
  check("SkipDataset", "[] 4", {});
  check("SkipDataset", "[] 9", {});
  check("SkipDataset", "[] -1", {});
}

TEST_CASE("TakeDataset and SkipDataset: an input without end") {
  testing::DatasetLines f;
  f.add(str_cat(testing::range_lines("r", 2), "ever = Const[dtype=int64, value=i64[] -1]()\n",
                "all = RepeatDataset", testing::of_int64, "(r, ever)\n",
                "n = Const[dtype=int64, value=i64[] 3]()\n", "t = TakeDataset", testing::of_int64,
                "(all, n)\n", "s = SkipDataset", testing::of_int64, "(all, n)\n"));
  f.check("t", {"i64[] 0", "i64[] 1", "i64[] 0"});
  f.check("s", {"i64[] 1", "i64[] 0", "i64[] 1"}, {.cardinality = "-1"});
}

TEST_CASE("TakeDataset and SkipDataset: the count is a scalar") {
  for (const char* op : {"TakeDataset", "SkipDataset"}) {
    testing::DatasetLines f;
    f.add(of_range(op, "[1] 2"));
    f.check_refused("d", "count");
  }
}

TEST_CASE("TakeDataset: what is no dataset is refused") {
  testing::DatasetLines f;
  f.add(str_cat("n = Const[dtype=int64, value=i64[] 3]()\n",
                "e = Const[dtype=int32, value=i32[1] -1]()\n",
                "l = EmptyTensorList[element_dtype=float, shape_type=int32](e, m)\n",
                "m = Const[dtype=int32, value=i32[] 3]()\n", "d = TakeDataset", testing::of_int64,
                "(l, n)\n"));
  f.check_refused("d", "Tensor must be a Dataset object.");
}

} // namespace troupe
