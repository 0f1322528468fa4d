// GroupByWindowDataset, GroupByReducerDataset and ScanDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("GroupByWindowDataset GroupByReducerDataset ExperimentalGroupByReducerDataset",
                     "ScanDataset");

namespace troupe {
namespace {

struct GroupLines : testing::DatasetLines {
  GroupLines() {
    add(testing::range_lines("r", 8));
    add(testing::constant("three", "i64[] 3"));
    add(testing::constant("two", "i64[] 2"));
    function("modulo", "x: int64, n: int64", "y", "y = FloorMod(x, n)");
    function("size", "key: int64", "n", testing::constant("n", "i64[] 2"));
    function("no_size", "key: int64", "n", testing::constant("n", "i64[] 0"));
    function("of_key", "key: int64", "n",
             str_cat(testing::constant("one", "i64[] 1"), "n = AddV2(key, one)"));
    function("batch", "key: int64, w: variant", "b",
             str_cat(testing::constant("all", "i64[] 99"), testing::constant("no", "bool[] false"),
                     "b = BatchDatasetV2[output_types=[int64], output_shapes=[[?]]](w, all, no)"));
    function("broken", "key: int64, w: variant", "b",
             str_cat(testing::constant("all", "i64[] 0"), testing::constant("no", "bool[] false"),
                     "b = BatchDatasetV2[output_types=[int64], output_shapes=[[?]]](w, all, no)"));
    function("zero", "key: int64", "s, k",
             str_cat(testing::constant("s", "i64[] 0"), "k = Identity(key)"));
    function("sum", "s: int64, key: int64, x: int64", "t, key", "t = AddV2(s, x)");
    function("pair", "s: int64, key: int64", "key, s", "");
    function("running", "s: int64, x: int64", "t, s", "t = AddV2(s, x)");
    function("texts", "s: int64, x: int64", "t, s", "t = AsString(s)");
  }
  void group(std::string_view size, std::string_view reduce = "batch") {
    add(str_cat("d = GroupByWindowDataset[key_func=modulo, reduce_func=", reduce,
                ", window_size_func=", size,
                ", Tkey_func_other_arguments=[int64], Treduce_func_other_arguments=[], "
                "Twindow_size_func_other_arguments=[], output_types=[int64], output_shapes=[[?]]]"
                "(r, three)"));
  }
};

} // namespace

TEST_CASE("GroupByWindowDataset: as soon as a window is full, the rest by key") {
  GroupLines f;
  f.group("size");
  f.check("d", {"i64[2] 0 3", "i64[2] 1 4", "i64[2] 2 5", "i64[1] 6", "i64[1] 7"},
          {.cardinality = "-2"});
}

TEST_CASE("GroupByWindowDataset: a size for each key") {
  GroupLines f;
  f.group("of_key");
  f.check("d", {"i64[1] 0", "i64[1] 3", "i64[2] 1 4", "i64[1] 6", "i64[1] 7", "i64[2] 2 5"},
          {.cardinality = "-2"});
}

TEST_CASE("GroupByWindowDataset: windows of no size are refused") {
  GroupLines f;
  f.group("no_size");
  CHECK(f.elements("d", 1)[0].find("Window size must be greater than zero, but got 0.") !=
        std::string::npos);
}

TEST_CASE("GroupByWindowDataset: an error of what makes datasets of windows is INTERNAL, as in "
          "TensorFlow") {
  GroupLines f;
  f.group("size", "broken");
  const std::string error = f.elements("d", 1)[0];
  CAPTURE(error);
  CHECK(error.find("error INTERNAL: ") == 0);
  CHECK(error.find("Got error code INVALID_ARGUMENT and message: {\n") != std::string::npos);
  CHECK(error.find("}\nfrom running user-defined function broken: ") == std::string::npos);
  CHECK(error.find("} \nfrom running user-defined function broken: ") != std::string::npos);
  CHECK(error.find("passed to") == std::string::npos);
}

TEST_CASE("GroupByReducerDataset: a state for each key, at the end one element of each") {
  for (const char* op : {"GroupByReducerDataset", "ExperimentalGroupByReducerDataset"}) {
    GroupLines f;
    f.add(str_cat(
        "d = ", op,
        "[key_func=modulo, init_func=zero, reduce_func=sum, "
        "finalize_func=pair, Tkey_func_other_arguments=[int64], Tinit_func_other_arguments=[], "
        "Treduce_func_other_arguments=[], Tfinalize_func_other_arguments=[], "
        "output_types=[int64,int64], output_shapes=[[],[]]](r, three)"));
    f.check("d", {"i64[] 0 i64[] 9", "i64[] 1 i64[] 12", "i64[] 2 i64[] 7"}, {.cardinality = "-2"});
  }
}

TEST_CASE("ScanDataset: a state that goes from element to element") {
  GroupLines f;
  f.add("d = ScanDataset[f=running, Tstate=[int64], Targuments=[], output_types=[int64], "
        "output_shapes=[[]]](r, two)");
  f.check(
      "d",
      {"i64[] 2", "i64[] 2", "i64[] 3", "i64[] 5", "i64[] 8", "i64[] 12", "i64[] 17", "i64[] 23"},
      {.cardinality = "-2"});
}

TEST_CASE("ScanDataset: a state of another type is refused") {
  GroupLines f;
  f.add("d = ScanDataset[f=texts, Tstate=[int64], Targuments=[], output_types=[int64], "
        "output_shapes=[[]]](r, two)");
  CHECK(
      f.elements("d", 1)[0].find("Got wrong type for scan_func return value 0 (expected int64, got "
                                 "string).") != std::string::npos);
}

} // namespace troupe
