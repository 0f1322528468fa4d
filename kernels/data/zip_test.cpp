// ZipDataset, ConcatenateDataset and DirectedInterleaveDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("ZipDataset ConcatenateDataset DirectedInterleaveDataset");

namespace troupe {
namespace {

std::string three_datasets() {
  return str_cat(testing::range_lines("a", 2), testing::range_lines("b", 3),
                 testing::constant("rows", "f32[2,2] 1 2 3 4"),
                 testing::constant("texts", R"(str[2,1] "x" "y")"),
                 testing::constant("more", "i64[1,3] 7 8 9"), testing::constant("ever", "i64[] -1"),
                 "f = TensorSliceDataset[output_shapes=[[2]]](rows)\n",
                 "s = TensorSliceDataset[output_shapes=[[1]]](texts)\n",
                 "m = TensorSliceDataset[output_shapes=[[3]]](more)\n", "endless = RepeatDataset",
                 testing::of_int64, "(b, ever)\n");
}

} // namespace

TEST_CASE("ZipDataset: as many elements as the shortest input has") {
  testing::DatasetLines f;
  f.add(three_datasets());
  f.add("d = ZipDataset[N=3, output_types=[int64,float,int64], output_shapes=[[],[2],[]]]"
        "(endless, f, a)");
  f.check("d", {"i64[] 0 f32[2] 1 2 i64[] 0", "i64[] 1 f32[2] 3 4 i64[] 1"});
  f.add("e = ZipDataset[N=1, output_types=[int64], output_shapes=[[]]](endless)");
  f.check("e", {"i64[] 0", "i64[] 1"}, {.cardinality = "-1"});
}

TEST_CASE("ZipDataset: an error of one input passes over one element of each") {
  testing::DatasetLines f;
  f.add(testing::range_lines("a", 3));
  f.function("inverse", "x: int64", "y",
             str_cat(testing::constant("six", "i64[] 6"), testing::constant("one", "i64[] 1"),
                     "at = Sub(x, one)\ny = FloorDiv(six, at)"));
  f.add("m = MapDataset[f=inverse, output_types=[int64], output_shapes=[[]]](a)");
  f.add("d = ZipDataset[N=2, output_types=[int64,int64], output_shapes=[[],[]]](m, a)");
  f.check("d", {"i64[] -6 i64[] 0", "error INVALID_ARGUMENT", "i64[] 6 i64[] 2"},
          {.cardinality = "-2"});
}

TEST_CASE("ConcatenateDataset: one behind the other, with the shapes of both") {
  testing::DatasetLines f;
  f.add(three_datasets());
  f.add(str_cat("d = ConcatenateDataset", testing::of_int64, "(b, a)"));
  f.check("d", {"i64[] 0", "i64[] 1", "i64[] 2", "i64[] 0", "i64[] 1"});
  f.add(str_cat("e = ConcatenateDataset", testing::of_int64, "(a, endless)"));
  f.check("e", {"i64[] 0", "i64[] 1", "i64[] 0"}, {.cardinality = "-1"});
}

TEST_CASE("ConcatenateDataset: of other types is refused") {
  testing::DatasetLines f;
  f.add(three_datasets());
  f.add(str_cat("d = ConcatenateDataset", testing::of_int64, "(a, f)"));
  f.check_refused("d", "input dataset and dataset to concatenate have different output_types int64 "
                       "and float");
}

TEST_CASE("DirectedInterleaveDataset: of whom the selector names") {
  testing::DatasetLines f;
  f.add(three_datasets());
  f.add(testing::constant("choices", "i64[7] 1 0 0 0 1 1 1"));
  f.add("c = TensorSliceDataset[output_shapes=[[]]](choices)");
  f.add("d = DirectedInterleaveDataset[N=2, output_types=[int64], output_shapes=[[]]](c, a, b)");
  f.check("d", {"i64[] 0", "i64[] 0", "i64[] 1", "i64[] 1", "i64[] 2"}, {.cardinality = "-2"});
  f.add("e = DirectedInterleaveDataset[N=2, output_types=[int64], output_shapes=[[]], "
        "stop_on_empty_dataset=true](c, a, b)");
  f.check("e", {"i64[] 0", "i64[] 0", "i64[] 1"}, {.cardinality = "-2"});
}

TEST_CASE("DirectedInterleaveDataset: what is refused") {
  testing::DatasetLines f;
  f.add(three_datasets());
  f.add(testing::constant("choices", "i64[2] 0 2"));
  f.add("c = TensorSliceDataset[output_shapes=[[]]](choices)");
  f.add("d = DirectedInterleaveDataset[N=2, output_types=[int64], output_shapes=[[]]](c, a, b)");
  f.check("d", {"i64[] 0", "error Selector index out of range: 2 >= 2"}, {.cardinality = "-2"});
  f.add("e = DirectedInterleaveDataset[N=1, output_types=[int64], output_shapes=[[]]](f, a)");
  f.check_refused("e", "The selector input must be a dataset of scalar int64 elements.");
  f.add("g = DirectedInterleaveDataset[N=2, output_types=[int64], output_shapes=[[]]](c, a, f)");
  f.check_refused("g", "All inputs must have the same output_dtypes.");
}

} // namespace troupe
