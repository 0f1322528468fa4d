// SparseTensorSliceDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("SparseTensorSliceDataset");

namespace troupe {
namespace {

std::string slices(std::string_view indices, std::string_view values, std::string_view shape) {
  return str_cat("i = Const[dtype=int64, value=i64", indices,
                 "]()\nv = Const[dtype=int32, value=i32", values,
                 "]()\ns = Const[dtype=int64, value=i64", shape,
                 "]()\nd = SparseTensorSliceDataset(i, v, s)\n");
}

} // namespace

TEST_CASE("SparseTensorSliceDataset: rows, empty ones among them") {
  testing::DatasetLines f;
  f.add(slices("[3,2] 0 1 0 3 2 0", "[3] 10 20 30", "[2] 4 5"));
  f.check("d", {"i64[2,1] 1 3 i32[2] 10 20 i64[1] 5", "i64[0,1] i32[0] i64[1] 5",
                "i64[1,1] 0 i32[1] 30 i64[1] 5", "i64[0,1] i32[0] i64[1] 5"});
  testing::DatasetLines vectors;
  vectors.add(slices("[1,1] 1", "[1] 7", "[1] 2"));
  vectors.check("d", {"i64[0,0] i32[0] i64[0]", "i64[1,0] i32[1] 7 i64[0]"});
  testing::DatasetLines none;
  none.add(slices("[0,3]", "[0]", "[3] 0 1 1"));
  none.check("d", {});
}

TEST_CASE("SparseTensorSliceDataset: what is refused") {
  const auto refused = [](std::string_view lines, std::string_view text) {
    testing::DatasetLines f;
    f.add(lines);
    f.check_refused("d", text);
  };
  refused(slices("[2] 0 1", "[2] 1 2", "[1] 2"), "Input indices must be a matrix. Got: [2]");
  refused(slices("[1,1] 0", "[] 1", "[1] 2"), "Input values must be a vector. Got: []");
  refused(slices("[1,1] 0", "[1] 1", "[] 2"), "Input shape must be a vector. Got: []");
  refused(slices("[2,1] 0 1", "[1] 1", "[1] 2"),
          "Number of values must match first dimension of indices. Got 1 values, indices shape: "
          "[2,1]");
  refused(slices("[1,1] 0", "[1] 1", "[2] 2 2"),
          "Number of dimensions must match second dimension of indices. Got 2 dimensions, indices "
          "shape: [1,1]");
  refused(slices("[1,0]", "[1] 1", "[0]"), "The shape argument requires at least one element.");
  refused(slices("[2,1] 1 0", "[2] 1 2", "[1] 2"),
          "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered "
          "input is not currently supported.");
  refused(slices("[1,1] 2", "[1] 1", "[1] 2"), "the indices name row 2, and there are 2");
  refused(slices("[1,1] 0", "[1] 1", "[1] -2"), "-2");
}

} // namespace troupe
