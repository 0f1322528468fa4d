// FlatMapDataset and InterleaveDataset in graphs, and the parallel ones.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("FlatMapDataset InterleaveDataset ParallelInterleaveDataset",
                     "ParallelInterleaveDatasetV2 ParallelInterleaveDatasetV3",
                     "ParallelInterleaveDatasetV4 LegacyParallelInterleaveDatasetV2");

namespace troupe {
namespace {

struct FlatLines : testing::DatasetLines {
  explicit FlatLines(std::string_view elements = "i64[5] 1 2 3 4 5") {
    add(testing::constant("numbers", elements));
    add("r = TensorSliceDataset[output_shapes=[[]]](numbers)");
    for (const char* n : {"0", "1", "2", "3", "4", "10"})
      add(testing::constant(str_cat("n", n), str_cat("i64[] ", n)));
    add(testing::constant("auto", "i64[] -1"));
    add(testing::constant("yes", "bool[] true"));
    add(testing::constant("no", "bool[] false"));
    // 10 x, 10 x + 1 …, x of them.
    function("some", "x: int64", "d",
             str_cat(testing::constant("ten", "i64[] 10"), testing::constant("one", "i64[] 1"),
                     "from = Mul(x, ten)\nto = AddV2(from, x)\nd = RangeDataset", testing::of_int64,
                     "(from, to, one)"));
    // As many as its element, which fails when that is 3.
    function("fails", "x: int64", "d",
             str_cat(testing::constant("one", "i64[] 1"), testing::constant("three", "i64[] 3"),
                     testing::constant("six", "i64[] 6"),
                     "at = Sub(x, three)\nq = FloorDiv(six, at)\nzero = Sub(q, q)\n",
                     "to = AddV2(x, zero)\nd = RangeDataset", testing::of_int64,
                     "(zero, to, one)"));
    function("no_dataset", "x: int64", "x", "");
  }
  void dataset(std::string_view op, std::string_view function, std::string_view inputs,
               std::string_view attrs = "") {
    add(str_cat("d = ", op, "[f=", function, ", output_types=[int64], output_shapes=[[]]", attrs,
                "](r", inputs, ")"));
  }
};

std::vector<std::string> int64s(std::initializer_list<int> values) {
  std::vector<std::string> out;
  for (int value : values)
    out.push_back(str_cat("i64[] ", value));
  return out;
}

const testing::DatasetFacts no_count{.cardinality = "-2"};

} // namespace

TEST_CASE("FlatMapDataset: datasets one behind the other, empty ones among them") {
  FlatLines f("i64[4] 2 0 1 3");
  f.dataset("FlatMapDataset", "some", "");
  f.check("d", int64s({20, 21, 10, 30, 31, 32}), no_count);
  FlatLines none("i64[0]");
  none.dataset("FlatMapDataset", "some", "");
  none.check("d", {}, no_count);
}

TEST_CASE("FlatMapDataset, InterleaveDataset: an error takes the place of its element's dataset") {
  FlatLines f("i64[3] 1 3 2");
  f.dataset("FlatMapDataset", "fails", "");
  f.check("d",
          {"i64[] 0", "error Error in user-defined function passed to FlatMapDataset", "i64[] 0",
           "i64[] 1"},
          no_count);
  FlatLines g("i64[3] 1 3 2");
  g.dataset("InterleaveDataset", "fails", ", n2, n1");
  g.check("d",
          {"i64[] 0", "error Error in user-defined function passed to InterleaveDataset", "i64[] 0",
           "i64[] 1"},
          no_count);
}

TEST_CASE("FlatMapDataset, InterleaveDataset: what is no dataset is refused") {
  FlatLines f, g;
  f.dataset("FlatMapDataset", "no_dataset", "");
  g.dataset("InterleaveDataset", "no_dataset", ", n2, n1");
  for (FlatLines* lines : {&f, &g})
    CHECK(lines->elements("d", 1)[0].find("Function must return a single scalar of dtype") !=
          std::string::npos);
}

TEST_CASE("InterleaveDataset: elements of several datasets in turn") {
  const auto check = [](std::string_view inputs, std::initializer_list<int> expected) {
    FlatLines f;
    f.dataset("InterleaveDataset", "some", inputs);
    f.check("d", int64s(expected), no_count);
  };
  check(", n1, n1", {10, 20, 21, 30, 31, 32, 40, 41, 42, 43, 50, 51, 52, 53, 54});
  check(", n2, n1", {10, 20, 21, 30, 31, 40, 32, 41, 42, 50, 43, 51, 52, 53, 54});
  check(", n3, n2", {10, 20, 21, 30, 31, 40, 41, 32, 42, 43, 50, 51, 52, 53, 54});
  check(", n3, n1", {10, 20, 30, 21, 31, 40, 32, 41, 50, 42, 51, 43, 52, 53, 54});
  check(", n10, n10", {10, 20, 21, 30, 31, 32, 40, 41, 42, 43, 50, 51, 52, 53, 54});
}

TEST_CASE("parallel interleaves: elements of several datasets in turn") {
  const std::initializer_list<int> in_twos{10, 20, 21, 30, 31, 32, 40, 41,
                                           42, 43, 50, 51, 52, 53, 54};
  const auto check = [&](std::string_view op, std::string_view inputs, std::string_view attrs,
                         std::initializer_list<int> expected, bool in_any_order = false) {
    CAPTURE(op);
    FlatLines f;
    f.dataset(op, "some", inputs, attrs);
    f.check("d", int64s(expected), {.cardinality = "-2", .is_unordered = in_any_order});
  };
  const std::initializer_list<int> by_one{10, 20, 30, 21, 31, 40, 32, 41,
                                          50, 42, 51, 43, 52, 53, 54};
  check("ParallelInterleaveDatasetV2", ", n1, n1, n1", "", in_twos);
  check("ParallelInterleaveDatasetV3", ", n1, n1, n2", ", deterministic=\"true\"", in_twos);
  check("ParallelInterleaveDatasetV4", ", n1, n3, auto, auto, auto", "", in_twos);
  check("ParallelInterleaveDatasetV4", ", n1, n3, n1, n0, n1", "", in_twos);
  check("LegacyParallelInterleaveDatasetV2", ", n1, n1, auto, auto", ", deterministic=\"true\"",
        in_twos);
  check("ParallelInterleaveDataset", ", n1, n1, no, n1, n1", "", in_twos);
  check("ParallelInterleaveDatasetV4", ", n3, n1, n1, n1, n3", "", by_one, true);
  check("ParallelInterleaveDatasetV2", ", n3, n1, n2", ", sloppy=true", by_one, true);
  check("ParallelInterleaveDataset", ", n3, n1, yes, n2, n2", "", by_one, true);
}

TEST_CASE("interleaves: what is refused") {
  const auto refused = [](std::string_view op, std::string_view inputs, std::string_view text) {
    FlatLines f;
    f.dataset(op, "some", inputs);
    f.check_refused("d", text);
  };
  refused("InterleaveDataset", ", n0, n1", "cycle_length must be greater than zero.");
  refused("InterleaveDataset", ", n1, n0", "block_length must be greater than zero.");
  refused("ParallelInterleaveDatasetV2", ", n0, n1, n1", "`cycle_length` must be > 0");
  refused("ParallelInterleaveDatasetV3", ", n1, n0, n1", "`block_length` must be > 0");
  refused("ParallelInterleaveDatasetV3", ", n1, n1, n0",
          "num_parallel_calls must be greater than zero.");
  refused("ParallelInterleaveDatasetV4", ", n1, n1, n0, n1, n1",
          "`buffer_output_elements` must be -1 or > 0 but is 0");
  refused("LegacyParallelInterleaveDatasetV2", ", n0, n1, n1, n1", "`cycle_length` must be > 0");
  refused("ParallelInterleaveDataset", ", n1, n1, no, n0, n1",
          "`buffer_output_elements` must be > 0");
}

TEST_CASE("interleaves: a dataset that makes datasets of itself has an end") {
  FlatLines f("i64[1] 1");
  f.function("again", "x: int64", "d",
             str_cat("r = TensorDataset[output_shapes=[[]]](x)\n", "d = FlatMapDataset",
                     "[f=again, output_types=[int64], output_shapes=[[]]](r)"));
  f.dataset("FlatMapDataset", "again", "");
  CHECK(f.elements("d", 1)[0].find("RESOURCE_EXHAUSTED") != std::string::npos);
}

TEST_CASE("parallel interleaves: an iterator that ends early ends what is under way") {
  FlatLines f("i64[9] 3 4 5 6 7 8 9 10 11");
  f.dataset("ParallelInterleaveDatasetV4", "some", ", n4, n1, n10, n3, n4");
  for (int i = 0; i < 20; ++i)
    CHECK(f.elements("d", 1) == int64s({30}));
}

} // namespace troupe
