// DenseToSparseBatchDataset in graphs; DeserializeSparse takes its elements apart.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("DenseToSparseBatchDataset ExperimentalDenseToSparseBatchDataset");

namespace troupe {
namespace {

struct SparseLines : testing::DatasetLines {
  SparseLines() {
    add(testing::range_lines("r", 4));
    add(testing::constant("n0", "i64[] 0"));
    add(testing::constant("n3", "i64[] 3"));
    add(testing::constant("open", "i64[1] -1"));
    add(testing::constant("five", "i64[1] 5"));
    add(testing::constant("two", "i64[1] 2"));
    add(testing::constant("none", "i64[0]"));
    add(testing::constant("least", "i64[1] -2"));
    add(testing::constant("rows", "f32[2,2,3] 1 2 3 4 5 6 7 8 9 10 11 12"));
    add(testing::constant("matrix", "i64[2] 2 -1"));
    // nothing, 1, 2 2, 3 3 3
    function("rows", "x: int64", "y",
             str_cat(testing::constant("at", "i32[] 0"),
                     "s = ExpandDims(x, at)\ny = Fill[index_type=int64](s, x)"));
    function("apart", "x: variant", "p, p:1, p:2",
             "p = DeserializeSparse[dtype=int64, Tserialized=variant](x)");
    function("floats_apart", "x: variant", "p, p:1, p:2",
             "p = DeserializeSparse[dtype=float, Tserialized=variant](x)");
    add("m = MapDataset[f=rows, output_types=[int64], output_shapes=[[?]]](r)");
    add("s = TensorSliceDataset[output_shapes=[[2,3]]](rows)");
  }
  void batch(std::string_view inputs, std::string_view op = "DenseToSparseBatchDataset") {
    add(str_cat("b = ", op, "[output_types=[variant], output_shapes=[?]](", inputs, ")"));
  }
  void apart(std::string_view function = "apart", std::string_view type = "int64") {
    add(str_cat("d = MapDataset[f=", function, ", output_types=[int64, ", type,
                ", int64], output_shapes=[?, ?, ?]](b)"));
  }
};

} // namespace

TEST_CASE("DenseToSparseBatchDataset: rows as long as the longest, or as is said") {
  for (const char* op : {"DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"}) {
    SparseLines longest, said;
    longest.batch("m, n3, open", op);
    longest.apart();
    longest.check("d",
                  {"i64[3,2] 1 0 2 0 2 1 i64[3] 1 2 2 i64[2] 3 2",
                   "i64[3,2] 0 0 0 1 0 2 i64[3] 3 3 3 i64[2] 1 3"},
                  {.cardinality = "-2"});
    said.batch("m, n3, five", op);
    said.apart();
    said.check("d",
               {"i64[3,2] 1 0 2 0 2 1 i64[3] 1 2 2 i64[2] 3 5",
                "i64[3,2] 0 0 0 1 0 2 i64[3] 3 3 3 i64[2] 1 5"},
               {.cardinality = "-2"});
  }
}

TEST_CASE("DenseToSparseBatchDataset: elements of other ranks") {
  SparseLines scalars, matrices;
  scalars.batch("r, n3, none");
  scalars.apart();
  scalars.check("d", {"i64[3,1] 0 1 2 i64[3] 0 1 2 i64[1] 3", "i64[1,1] 0 i64[1] 3 i64[1] 1"},
                {.cardinality = "-2"});
  matrices.batch("s, n3, matrix");
  matrices.apart("floats_apart", "float");
  matrices.check("d",
                 {"i64[12,3] 0 0 0 0 0 1 0 0 2 0 1 0 0 1 1 0 1 2 1 0 0 1 0 1 1 0 2 1 1 0 1 1 1 1 1 "
                  "2 f32[12] 1 2 3 4 5 6 7 8 9 10 11 12 i64[3] 2 2 3"},
                 {.cardinality = "-2"});
}

TEST_CASE("DenseToSparseBatchDataset: elements that do not fit") {
  SparseLines large, other;
  large.batch("m, n3, two");
  large.check("b",
              {"variant", "error Input element had shape ([3]) that is larger than "
                          "the row shape ([2])."},
              {.cardinality = "-2", .can_be_saved = false});
  other.batch("r, n3, open");
  other.check("b",
              {"error Input element had shape ([]) that is incompatible with the "
               "row shape ([?]).",
               "error incompatible with the row shape"},
              {.can_be_saved = false});
}

TEST_CASE("DenseToSparseBatchDataset: what is refused") {
  const auto refused = [](std::string_view inputs, std::string_view text) {
    SparseLines f;
    f.add("two_of = ZipDataset[output_types=[int64, int64], output_shapes=[[], []]](r, r)");
    f.batch("m, n3, open");
    f.add(str_cat("c = DenseToSparseBatchDataset[output_types=[variant], output_shapes=[?]](",
                  inputs, ")"));
    f.check_refused("c", text);
  };
  refused("two_of, n3, open", "only supports inputs with a single component.");
  refused("b, n3, open", "unhandled data type: variant");
  refused("m, n0, open", "Batch size must be greater than zero.");
  refused("m, n3, n3", "row_shape must be a vector");
  refused("m, n3, least", "Dimension -2 must be >= -1");
}

} // namespace troupe
