// WindowDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("WindowDataset");

namespace troupe {
namespace {

struct WindowLines : testing::DatasetLines {
  WindowLines(std::int64_t elements, int size, int shift, int stride, bool drop) {
    add(testing::range_lines("r", elements));
    add(testing::constant("size", str_cat("i64[] ", size)));
    add(testing::constant("shift", str_cat("i64[] ", shift)));
    add(testing::constant("stride", str_cat("i64[] ", stride)));
    add(testing::constant("drop", drop ? "bool[] true" : "bool[] false"));
    function("batch", "w: variant", "b",
             str_cat(testing::constant("all", "i64[] 99"), testing::constant("no", "bool[] false"),
                     "b = BatchDatasetV2[output_types=[int64], output_shapes=[[?]]](w, all, no)"));
    add("w = WindowDataset[output_types=[variant], output_shapes=[[]]](r, size, shift, stride, "
        "drop)");
    add("d = FlatMapDataset[f=batch, output_types=[int64], output_shapes=[[?]]](w)");
    add("n = DatasetCardinality(w)");
  }
};

} // namespace

TEST_CASE("WindowDataset: sizes, shifts and strides") {
  const auto check = [](std::int64_t elements, int size, int shift, int stride, bool drop,
                        const std::vector<std::string>& expected) {
    WindowLines f(elements, size, shift, stride, drop);
    f.check("d", expected, {.cardinality = "-2", .can_be_saved = false});
    CHECK(f.run({"n"}) == str_cat("ok i64[] ", expected.size()));
  };
  check(5, 2, 2, 1, false, {"i64[2] 0 1", "i64[2] 2 3", "i64[1] 4"});
  check(5, 2, 2, 1, true, {"i64[2] 0 1", "i64[2] 2 3"});
  check(6, 3, 2, 1, false, {"i64[3] 0 1 2", "i64[3] 2 3 4", "i64[2] 4 5"});
  check(7, 2, 1, 3, true, {"i64[2] 0 3", "i64[2] 1 4", "i64[2] 2 5", "i64[2] 3 6"});
  check(7, 2, 3, 2, false, {"i64[2] 0 2", "i64[2] 3 5", "i64[1] 6"});
  check(5, 1, 3, 1, true, {"i64[1] 0", "i64[1] 3"});
  check(2, 3, 1, 1, true, {});
  check(0, 3, 1, 1, false, {});
}

TEST_CASE("WindowDataset: sizes that are none") {
  for (const auto& [size, shift, stride, text] :
       std::vector<std::tuple<int, int, int, std::string>>{
           {0, 1, 1, "Window size must be greater than zero."},
           {1, 0, 1, "Window shift must be greater than zero."},
           {1, 1, -1, "Window stride must be greater than zero."}}) {
    WindowLines f(3, size, shift, stride, false);
    f.check_refused("w", text);
  }
}

TEST_CASE("WindowDataset: an error is its window's") {
  testing::DatasetLines f;
  f.add(testing::range_lines("r", 6));
  f.function("inverse", "x: int64", "y",
             str_cat(testing::constant("one", "i64[] 1"), testing::constant("three", "i64[] 3"),
                     "at = Sub(x, three)\nq = FloorDiv(one, at)\nz = Sub(q, q)\ny = AddV2(x, z)"));
  f.function("flat", "w: variant", "w", "");
  f.add("m = MapDataset[f=inverse, output_types=[int64], output_shapes=[[]]](r)");
  f.add(testing::constant("two", "i64[] 2"));
  f.add(testing::constant("one", "i64[] 1"));
  f.add(testing::constant("no", "bool[] false"));
  f.add("w = WindowDataset[output_types=[variant], output_shapes=[[]]](m, two, two, one, no)");
  f.add("d = FlatMapDataset[f=flat, output_types=[int64], output_shapes=[[]]](w)");
  f.check("d", {"i64[] 0", "i64[] 1", "error INVALID_ARGUMENT", "i64[] 4", "i64[] 5"},
          {.cardinality = "-2", .can_be_saved = false});
}

} // namespace troupe
