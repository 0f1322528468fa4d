// Cardinalities of datasets whose input has no end, or does not know its own; those of others are
// where their elements are tested.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"

namespace troupe {
namespace {

constexpr auto attrs = "output_types=[int64], output_shapes=[[]]";

struct CountLines : testing::DatasetLines {
  CountLines() {
    add(testing::range_lines("r", 3));
    add(testing::constant("ever", "i64[] -1"));
    for (const char* n : {"1", "2", "3"})
      add(testing::constant(str_cat("n", n), str_cat("i64[] ", n)));
    add(testing::constant("no", "bool[] false"));
    function("one_of", "x: int64", "d", testing::constant("n", "i64[] 1") + range_of("n"));
    function("key", "x: int64", "x", "");
    function("size", "x: int64", "n", testing::constant("n", "i64[] 2"));
    function("same", "x: int64, w: variant", "w", "");
    function("is_odd", "x: int64", "y",
             str_cat(testing::constant("two", "i64[] 2"), testing::constant("one", "i64[] 1"),
                     "m = FloorMod(x, two)\ny = Equal(m, one)"));
    add(str_cat("endless = RepeatDataset[", attrs, "](r, ever)"));
    add(str_cat("some = FilterDataset[predicate=is_odd, ", attrs, "](r)"));
  }
  static std::string range_of(std::string_view to) {
    return str_cat(testing::constant("zero", "i64[] 0"), testing::constant("step", "i64[] 1"),
                   "d = RangeDataset[", attrs, "](zero, ", to, ", step)");
  }
  std::string count(std::string_view line) {
    add(str_cat("d = ", line));
    add("count = DatasetCardinality(d)");
    return run({"count"});
  }
};

/// Of an endless input, one that does not know, and one of three elements. "%" is the input.
void check(std::string_view line, std::string_view endless, std::string_view some,
           std::string_view three) {
  CAPTURE(line);
  const auto of = [&](std::string_view input) {
    std::string text(line);
    text.replace(text.find('%'), 1, input);
    return CountLines().count(text);
  };
  CHECK(of("endless") == str_cat("ok i64[] ", endless));
  CHECK(of("some") == str_cat("ok i64[] ", some));
  CHECK(of("r") == str_cat("ok i64[] ", three));
}

} // namespace

TEST_CASE("cardinalities: of inputs without end, of unknown ones, and of three") {
  check(str_cat("BatchDatasetV2[", attrs, "](%, n2, no)"), "-1", "-2", "2");
  check(str_cat("FlatMapDataset[f=one_of, ", attrs, "](%)"), "-2", "-2", "-2");
  check(str_cat("InterleaveDataset[f=one_of, ", attrs, "](%, n1, n1)"), "-2", "-2", "-2");
  check(str_cat("ParallelInterleaveDatasetV4[f=one_of, ", attrs, "](%, n1, n1, n1, n1, n1)"), "-1",
        "-2", "-2");
  check(str_cat("LegacyParallelInterleaveDatasetV2[f=one_of, ", attrs, "](%, n1, n1, n1, n1)"),
        "-2", "-2", "-2");
  check(str_cat("GroupByWindowDataset[key_func=key, reduce_func=same, window_size_func=size, "
                "Tkey_func_other_arguments=[], Treduce_func_other_arguments=[], "
                "Twindow_size_func_other_arguments=[], ",
                attrs, "](%)"),
        "-1", "-2", "-2");
  check(str_cat("DirectedInterleaveDataset[N=2, ", attrs, "](r, %, r)"), "-1", "-2", "-2");
  check(str_cat("DirectedInterleaveDataset[N=2, stop_on_empty_dataset=true, ", attrs, "](r, %, r)"),
        "-1", "-2", "-2");
  check("ZipDataset[N=2, output_types=[int64, int64], output_shapes=[[], []]](%, endless)", "-1",
        "-2", "3");
  check(str_cat("ConcatenateDataset[", attrs, "](%, r)"), "-1", "-2", "6");
  check(str_cat("TakeDataset[", attrs, "](%, n2)"), "2", "-2", "2");
  check(str_cat("SkipDataset[", attrs, "](%, n2)"), "-1", "-2", "1");
  check(str_cat("WindowDataset[output_types=[variant], output_shapes=[[]]](%, n2, n1, n1, no)"),
        "-1", "-2", "3");
  check(str_cat("ShardDataset[", attrs, "](%, n2, n1)"), "-1", "-2", "1");
}

} // namespace troupe
