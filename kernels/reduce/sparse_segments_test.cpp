// Cases of the sums of rows that indices name; values are those of TensorFlow 2.21.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SparseSegmentSum) {
  std::vector<testing::OpCase> rows = {
      {
          .name = "a segment without rows is zero",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 2 2", "i32[3] 0 2 2"},
          .outputs = {"f32[3,2] 1 2 0 0 10 12"},
      },
      {
          .name = "many rows",
          .inputs = {"f64[4] 1 2 3 4", "i64[12] 0 1 2 3 3 2 1 0 1 1 1 2",
                     "i64[12] 0 0 0 0 0 0 0 0 0 0 0 1"},
          .outputs = {"f64[2] 26 3"},
      },
      {
          .name = "half",
          .inputs = {"f16[2,2] 1 2 3 4", "i32[3] 0 1 1", "i32[3] 0 0 0"},
          .outputs = {"f16[1,2] 7 10"},
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[2,1,1] 1 2", "i32[2] 0 1", "i32[2] 0 0"},
          .outputs = {"bf16[1,1,1] 3"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]"},
          .outputs = {"f32[0,2]"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i8[3] 1 100 101", "i32[4] 0 1 2 2", "i32[4] 0 1 1 1"},
          .outputs = {"i8[2] 1 46"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i16[3] 1 100 101", "i32[4] 0 1 2 2", "i32[4] 0 1 1 1"},
          .outputs = {"i16[2] 1 302"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i32[3] 1 100 101", "i32[4] 0 1 2 2", "i32[4] 0 1 1 1"},
          .outputs = {"i32[2] 1 302"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3] 1 100 101", "i32[4] 0 1 2 2", "i32[4] 0 1 1 1"},
          .outputs = {"i64[2] 1 302"},
      },
      {
          .name = "dtype u8",
          .inputs = {"u8[3] 1 100 101", "i32[4] 0 1 2 2", "i32[4] 0 1 1 1"},
          .outputs = {"u8[2] 1 46"},
      },
      {
          .name = "dtype u16",
          .inputs = {"u16[3] 1 100 101", "i32[4] 0 1 2 2", "i32[4] 0 1 1 1"},
          .outputs = {"u16[2] 1 302"},
      },
      {
          .name = "dtype u32",
          .inputs = {"u32[3] 1 100 101", "i32[4] 0 1 2 2", "i32[4] 0 1 1 1"},
          .outputs = {"u32[2] 1 302"},
      },
      {
          .name = "dtype u64",
          .inputs = {"u64[3] 1 100 101", "i32[4] 0 1 2 2", "i32[4] 0 1 1 1"},
          .outputs = {"u64[2] 1 302"},
      },
      {
          .name = "an index outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 3", "i32[2] 0 1"},
          .error = "Bad: indices[1] == 3 out of range [0, 3)",
      },
      {
          .name = "more rows than a tensor has",
          .inputs = {"f32[3,4] 1", "i64[1] 9", "i64[1] 4611686018427387903"},
          .error = "Encountered overflow when multiplying 4611686018427387904 with 4",
      },
      {
          .name = "ids that fall",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 1", "i32[2] 1 0"},
          .error = "segment ids are not increasing",
      },
      {
          .name = "a negative id",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 1", "i32[2] -1 0"},
          .error = "Segment id -1 out of range [0, 1)",
      },
      {
          .name = "only negative ids",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 1", "i32[2] -1 -1"},
          .error = "segment ids must be >= 0",
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 1", "i32[1] 0", "i32[1] 0"},
          .error = "Shape must be at least rank 1",
      },
  };
  for (const std::string dtype :
       {"f32", "f64", "f16", "bf16", "i8", "i32", "i64", "u16", "u32", "u64"})
    rows.push_back(
        {.name = "rows that fill vectors, " + dtype,
         .inputs = {dtype + "[3,9] 0 1 2 3 4 5 6 7 0 2 3 4 5 6 7 0 1 2 4 5 6 7 0 1 2 3 4",
                    "i32[5] 2 0 1 1 1", "i32[5] 0 0 2 2 2"},
         .outputs = {dtype + "[3,9] 4 6 8 10 4 6 8 10 4 0 0 0 0 0 0 0 0 0 6 9 12 15 18 21 0 3 6"},
         .check_gradient = false,
         .no_gradient_reason = "its gradient is made where graphs are written"});
  return rows;
}

TROUPE_OP_CASES(SparseSegmentSumWithNumSegments) {
  return {
      {
          .name = "segments at the end without rows",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 2 2", "i32[3] 0 2 2", "i32[] 5"},
          .outputs = {"f32[5,2] 1 2 0 0 10 12 0 0 0 0"},
      },
      {
          .name = "no number of segments",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1] 0", "i32[1] 0", "i32[0]"},
          .error = "num_segments should be a scalar, not shape [0]",
      },
      {
          .name = "no segment",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i64[] 0"},
          .outputs = {"f32[0,2]"},
      },
      {
          .name = "no index",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i64[] 2"},
          .outputs = {"f32[2,2] 0"},
      },
      {
          .name = "an id beyond",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1] 0", "i32[1] 2", "i32[] 2"},
          .error = "segment ids must be < num_segments",
      },
  };
}

TROUPE_OP_CASES(SparseSegmentSumGrad) {
  return {
      {
          .name = "rows twice in one segment",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[4] 0 2 2 3", "i32[4] 0 1 1 2", "i32[] 5"},
          .outputs = {"f32[5,2] 1 2 0 0 6 8 5 6 0 0"},
      },
      {
          .name = "one row in two segments",
          .inputs = {"f64[2,1] 1 5", "i64[3] 1 1 0", "i64[3] 0 1 1", "i32[] 2"},
          .outputs = {"f64[2,1] 5 6"},
      },
      {
          .name = "half",
          .inputs = {"f16[2] 1 5", "i64[3] 1 1 0", "i64[3] 0 1 1", "i32[] 2"},
          .outputs = {"f16[2] 5 6"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i32[] 2"},
          .outputs = {"f32[2,2] 0"},
      },
      {
          .name = "an index outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 4 2", "i32[3] 0 1 1", "i32[] 4"},
          .error = "Index 4 out of range [0, 4).",
      },
      {
          .name = "an id outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 3 2", "i32[3] 0 3 1", "i32[] 4"},
          .error = "Segment id 3 out of range [0, 3).",
      },
      {
          .name = "a last id outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 3 2", "i32[3] 0 1 3", "i32[] 4"},
          .error = "Invalid number of segments",
      },
      {
          .name = "a negative size",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1] 0", "i32[1] 0", "i32[] -1"},
          .error = "Expected a non-negative size, got -1",
      },
  };
}

TROUPE_OP_CASES(SparseSegmentSumGradV2) {
  return {
      {
          .name = "rows twice in one segment",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[4] 7 2 2 3", "i32[4] 0 1 1 2", "i32[] 8"},
          .outputs = {"f32[3,2] 6 8 5 6 1 2", "i32[3] 2 3 7"},
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[2,1] 1 5", "i64[3] 1 1 0", "i64[3] 0 1 1", "i32[] 2"},
          .outputs = {"bf16[2,1] 5 6", "i64[2] 0 1"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i32[] 2"},
          .outputs = {"f32[0,2]", "i32[0]"},
      },
      {
          .name = "an index outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 4 2", "i32[3] 0 1 1", "i32[] 4"},
          .error = "Index 4 out of range [0, 4).",
      },
  };
}

TROUPE_OP_CASES(SparseSegmentMean) {
  return {
      {
          .name = "a segment without rows is zero",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 2 2", "i32[3] 0 2 2"},
          .outputs = {"f32[3,2] 1 2 0 0 5 6"},
      },
      {
          .name = "many rows",
          .inputs = {"f64[4] 1 2 3 4", "i64[12] 0 1 2 3 3 2 1 0 1 1 1 2",
                     "i64[12] 0 0 0 0 0 0 0 0 0 0 0 1"},
          .outputs = {"f64[2] 2.3636363636363638 3"},
      },
      {
          .name = "half",
          .inputs = {"f16[2,2] 1 2 3 4", "i32[3] 0 1 1", "i32[3] 0 0 0"},
          .outputs = {"f16[1,2] 2.3339844 3.3339844"},
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[2,1,1] 1 2", "i32[2] 0 1", "i32[2] 0 0"},
          .outputs = {"bf16[1,1,1] 1.5"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]"},
          .outputs = {"f32[0,2]"},
      },
      {
          .name = "an index outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 3", "i32[2] 0 1"},
          .error = "Bad: indices[1] == 3 out of range [0, 3)",
      },
      {
          .name = "ids that fall",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 1", "i32[2] 1 0"},
          .error = "segment ids are not increasing",
      },
      {
          .name = "a negative id",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 1", "i32[2] -1 0"},
          .error = "Segment id -1 out of range [0, 1)",
      },
      {
          .name = "only negative ids",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 1", "i32[2] -1 -1"},
          .error = "segment ids must be >= 0",
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 1", "i32[1] 0", "i32[1] 0"},
          .error = "Shape must be at least rank 1",
      },
      {
          .name = "rows that fill vectors",
          .inputs =
              {"f32[3,9] 0 1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 17 18 20 21 22 23 24 25 26 27 28",
               "i32[4] 2 0 1 1", "i32[4] 0 0 2 2"},
          .outputs = {"f32[3,9] 10.0 11.0 12.0 13.0 14.0 15.0 16.0 17.0 18.0 0 0 0 0 0 0 0 0 0 10 "
                      "11 12 13 14 15 16 17 18"},
          .check_gradient = false,
          .no_gradient_reason = "its gradient is made where graphs are written",
      },
  };
}

TROUPE_OP_CASES(SparseSegmentMeanWithNumSegments) {
  return {
      {
          .name = "segments at the end without rows",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 2 2", "i32[3] 0 2 2", "i32[] 5"},
          .outputs = {"f32[5,2] 1 2 0 0 5 6 0 0 0 0"},
      },
      {
          .name = "no segment",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i64[] 0"},
          .outputs = {"f32[0,2]"},
      },
      {
          .name = "no index",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i64[] 2"},
          .outputs = {"f32[2,2] 0"},
      },
      {
          .name = "an id beyond",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1] 0", "i32[1] 2", "i32[] 2"},
          .error = "segment ids must be < num_segments",
      },
  };
}

TROUPE_OP_CASES(SparseSegmentMeanGrad) {
  return {
      {
          .name = "rows twice in one segment",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[4] 0 2 2 3", "i32[4] 0 1 1 2", "i32[] 5"},
          .outputs = {"f32[5,2] 1 2 0 0 3 4 5 6 0 0"},
      },
      {
          .name = "one row in two segments",
          .inputs = {"f64[2,1] 1 5", "i64[3] 1 1 0", "i64[3] 0 1 1", "i32[] 2"},
          .outputs = {"f64[2,1] 2.5 3.5"},
      },
      {
          .name = "half",
          .inputs = {"f16[2] 1 5", "i64[3] 1 1 0", "i64[3] 0 1 1", "i32[] 2"},
          .outputs = {"f16[2] 2.5 3.5"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i32[] 2"},
          .outputs = {"f32[2,2] 0"},
      },
      {
          .name = "an index outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 4 2", "i32[3] 0 1 1", "i32[] 4"},
          .error = "Index 4 out of range [0, 4).",
      },
      {
          .name = "an id outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 3 2", "i32[3] 0 3 1", "i32[] 4"},
          .error = "Segment id 3 out of range [0, 3).",
      },
      {
          .name = "a last id outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 3 2", "i32[3] 0 1 3", "i32[] 4"},
          .error = "Invalid number of segments",
      },
      {
          .name = "a negative size",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1] 0", "i32[1] 0", "i32[] -1"},
          .error = "Expected a non-negative size, got -1",
      },
  };
}

TROUPE_OP_CASES(SparseSegmentMeanGradV2) {
  return {
      {
          .name = "rows twice in one segment",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[4] 7 2 2 3", "i32[4] 0 1 1 2", "i32[] 8"},
          .outputs = {"f32[3,2] 3 4 5 6 1 2", "i32[3] 2 3 7"},
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[2,1] 1 5", "i64[3] 1 1 0", "i64[3] 0 1 1", "i32[] 2"},
          .outputs = {"bf16[2,1] 2.5 3.5", "i64[2] 0 1"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i32[] 2"},
          .outputs = {"f32[0,2]", "i32[0]"},
      },
      {
          .name = "an index outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 4 2", "i32[3] 0 1 1", "i32[] 4"},
          .error = "Index 4 out of range [0, 4).",
      },
  };
}

TROUPE_OP_CASES(SparseSegmentSqrtN) {
  return {
      {
          .name = "a segment without rows is zero",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 2 2", "i32[3] 0 2 2"},
          .outputs = {"f32[3,2] 1 2 0 0 7.071068 8.485281"},
      },
      {
          .name = "many rows",
          .inputs = {"f64[4] 1 2 3 4", "i64[12] 0 1 2 3 3 2 1 0 1 1 1 2",
                     "i64[12] 0 0 0 0 0 0 0 0 0 0 0 1"},
          .outputs = {"f64[2] 7.839294959021855 3"},
      },
      {
          .name = "half",
          .inputs = {"f16[2,2] 1 2 3 4", "i32[3] 0 1 1", "i32[3] 0 0 0"},
          .outputs = {"f16[1,2] 4.0429688 5.7734375"},
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[2,1,1] 1 2", "i32[2] 0 1", "i32[2] 0 0"},
          .outputs = {"bf16[1,1,1] 2.125"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]"},
          .outputs = {"f32[0,2]"},
      },
      {
          .name = "an index outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 3", "i32[2] 0 1"},
          .error = "Bad: indices[1] == 3 out of range [0, 3)",
      },
      {
          .name = "ids that fall",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 1", "i32[2] 1 0"},
          .error = "segment ids are not increasing",
      },
      {
          .name = "a negative id",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 1", "i32[2] -1 0"},
          .error = "Segment id -1 out of range [0, 1)",
      },
      {
          .name = "only negative ids",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 1", "i32[2] -1 -1"},
          .error = "segment ids must be >= 0",
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 1", "i32[1] 0", "i32[1] 0"},
          .error = "Shape must be at least rank 1",
      },
  };
}

TROUPE_OP_CASES(SparseSegmentSqrtNWithNumSegments) {
  return {
      {
          .name = "segments at the end without rows",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 2 2", "i32[3] 0 2 2", "i32[] 5"},
          .outputs = {"f32[5,2] 1 2 0 0 7.071068 8.485281 0 0 0 0"},
      },
      {
          .name = "no segment",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i64[] 0"},
          .outputs = {"f32[0,2]"},
      },
      {
          .name = "no index",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i64[] 2"},
          .outputs = {"f32[2,2] 0"},
      },
      {
          .name = "an id beyond",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1] 0", "i32[1] 2", "i32[] 2"},
          .error = "segment ids must be < num_segments",
      },
  };
}

TROUPE_OP_CASES(SparseSegmentSqrtNGrad) {
  return {
      {
          .name = "rows twice in one segment",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[4] 0 2 2 3", "i32[4] 0 1 1 2", "i32[] 5"},
          .outputs = {"f32[5,2] 1 2 0 0 4.2426405 5.656854 5 6 0 0"},
      },
      {
          .name = "one row in two segments",
          .inputs = {"f64[2,1] 1 5", "i64[3] 1 1 0", "i64[3] 0 1 1", "i32[] 2"},
          .outputs = {"f64[2,1] 3.5355339059327373 4.535533905932738"},
      },
      {
          .name = "half",
          .inputs = {"f16[2] 1 5", "i64[3] 1 1 0", "i64[3] 0 1 1", "i32[] 2"},
          .outputs = {"f16[2] 3.5351562 4.5351562"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i32[] 2"},
          .outputs = {"f32[2,2] 0"},
      },
      {
          .name = "an index outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 4 2", "i32[3] 0 1 1", "i32[] 4"},
          .error = "Index 4 out of range [0, 4).",
      },
      {
          .name = "an id outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 3 2", "i32[3] 0 3 1", "i32[] 4"},
          .error = "Segment id 3 out of range [0, 3).",
      },
      {
          .name = "a last id outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 3 2", "i32[3] 0 1 3", "i32[] 4"},
          .error = "Invalid number of segments",
      },
      {
          .name = "a negative size",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1] 0", "i32[1] 0", "i32[] -1"},
          .error = "Expected a non-negative size, got -1",
      },
  };
}

TROUPE_OP_CASES(SparseSegmentSqrtNGradV2) {
  return {
      {
          .name = "rows twice in one segment",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[4] 7 2 2 3", "i32[4] 0 1 1 2", "i32[] 8"},
          .outputs = {"f32[3,2] 4.2426405 5.656854 5 6 1 2", "i32[3] 2 3 7"},
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[2,1] 1 5", "i64[3] 1 1 0", "i64[3] 0 1 1", "i32[] 2"},
          .outputs = {"bf16[2,1] 3.53125 4.53125", "i64[2] 0 1"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[0]", "i32[] 2"},
          .outputs = {"f32[0,2]", "i32[0]"},
      },
      {
          .name = "an index outside",
          .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 4 2", "i32[3] 0 1 1", "i32[] 4"},
          .error = "Index 4 out of range [0, 4).",
      },
  };
}

} // namespace
} // namespace troupe
