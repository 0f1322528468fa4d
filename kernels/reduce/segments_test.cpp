// SegmentSum and its kin, UnsortedSegmentProd, …Min, …Max.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SegmentSum) {
  std::vector<testing::OpCase> rows = {
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 0 2"},
       .outputs = {"f32[3,2] 4 6 0 0 5 6"}},
      {.name = "double", .inputs = {"f64[3] 1 2 4", "i64[3] 0 1 1"}, .outputs = {"f64[2] 1 6"}},
      {.name = "rank 3",
       .inputs = {"f32[2,2,2] 0 1 2 3 4 5 6 7", "i32[2] 0 0"},
       .outputs = {"f32[1,2,2] 4 6 8 10"}},
      {.name = "integers", .inputs = {"i32[3] 4 2 9", "i32[3] 0 0 1"}, .outputs = {"i32[2] 6 9"}},
      {.name = "half", .inputs = {"f16[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"f16[2] 3 4"}},
      {.name = "bfloat16", .inputs = {"bf16[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"bf16[2] 3 4"}},
      {.name = "bytes", .inputs = {"u8[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"u8[2] 3 4"}},
      {.name = "uint64",
       .inputs = {"u64[2] 9223372036854775808 2", "i32[2] 0 1"},
       .outputs = {"u64[2] 9223372036854775808 2"}},
      {.name = "nothing", .inputs = {"f32[0,2]", "i32[0]"}, .outputs = {"f32[0,2]"}},
      {.name = "ids that fall",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 1 0 2"},
       .error = "segment ids are not increasing"},
      {.name = "a negative one at the end",
       .inputs = {"f32[2] 1 2", "i32[2] 0 -1"},
       .error = "segment ids must be >= 0"},
      {.name = "too few ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 0"},
       .error = "segment_ids should be the same size as dimension 0 of input."},
      {.name = "a negative id",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] -1 0 0"},
       .error = "Segment id -1 out of range [0, 1), possibly because 'segment_ids' input is not "
                "sorted."},
      {.name = "a matrix of ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1,3] 0 0 1"},
       .error = "segment_ids should be a vector."},
      {.name = "a scalar", .inputs = {"f32[] 1", "i32[1] 0"}, .error = "must be at least rank 1"},
      {.name = "complex numbers",
       .inputs = {"c64[3] (1,1) (2,0) (0,3)", "i32[3] 0 0 1"},
       .outputs = {"c64[2] (3,1) (0,3)"}},
      {.name = "integers wrap",
       .inputs =
           {"i32[4,9] 2147483647 2147483647 2147483647 2147483647 2147483647 2147483647 2147483647 "
            "2147483647 2147483647 1 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 -3 -3 -3 -3 -3 -3 -3 -3 -3",
            "i32[4] 0 0 2 2"},
       .outputs =
           {"i32[3,9] -2147483648 -2147483648 -2147483648 -2147483648 -2147483648 -2147483648 "
            "-2147483648 -2147483648 -2147483648 0 0 0 0 0 0 0 0 0 -3 -3 -3 -3 -3 -3 -3 -3 -3"}},
  };
  for (const std::string dtype : {"f32", "f64", "f16", "i32", "i64"})
    rows.push_back(
        {.name = "rows that fill vectors, " + dtype,
         .inputs = {dtype + "[4,9] 1 2 3 4 5 6 7 8 9 9 8 7 6 5 4 3 2 1 2 2 2 2 2 2 2 2 3 5 -1 5 "
                            "-1 5 -1 5 -1 5",
                    "i32[4] 0 0 2 2"},
         .outputs = {dtype +
                     "[3,9] 10 10 10 10 10 10 10 10 10 0 0 0 0 0 0 0 0 0 7 1 7 1 7 1 7 1 8"}});
  return rows;
}

TROUPE_OP_CASES(SegmentMean) {
  return {
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 0 2"},
       .outputs = {"f32[3,2] 2 3 0 0 5 6"}},
      {.name = "double", .inputs = {"f64[3] 1 2 4", "i64[3] 0 1 1"}, .outputs = {"f64[2] 1 3"}},
      {.name = "rank 3",
       .inputs = {"f32[2,2,2] 0 1 2 3 4 5 6 7", "i32[2] 0 0"},
       .outputs = {"f32[1,2,2] 2 3 4 5"}},
      {.name = "integers", .inputs = {"i32[3] 4 2 9", "i32[3] 0 0 1"}, .outputs = {"i32[2] 3 9"}},
      {.name = "half", .inputs = {"f16[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"f16[2] 1.5 4"}},
      {.name = "bfloat16",
       .inputs = {"bf16[3] 1 2 4", "i32[3] 0 0 1"},
       .outputs = {"bf16[2] 1.5 4"}},
      {.name = "bytes", .inputs = {"u8[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"u8[2] 1 4"}},
      {.name = "uint64",
       .inputs = {"u64[2] 9223372036854775808 2", "i32[2] 0 1"},
       .outputs = {"u64[2] 9223372036854775808 2"}},
      {.name = "nothing", .inputs = {"f32[0,2]", "i32[0]"}, .outputs = {"f32[0,2]"}},
      {.name = "ids that fall",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 1 0 2"},
       .error = "segment ids are not increasing"},
      {.name = "too few ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 0"},
       .error = "segment_ids should be the same size as dimension 0 of input."},
      {.name = "a negative id",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] -1 0 0"},
       .error = "Segment id -1 out of range [0, 1), possibly because 'segment_ids' input is not "
                "sorted."},
      {.name = "a matrix of ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1,3] 0 0 1"},
       .error = "segment_ids should be a vector."},
      {.name = "a scalar", .inputs = {"f32[] 1", "i32[1] 0"}, .error = "must be at least rank 1"},
      {.name = "complex numbers",
       .inputs = {"c64[3] (1,1) (2,0) (0,3)", "i32[3] 0 0 1"},
       .outputs = {"c64[2] (1.5,0.5) (0,3)"}},
      {.name = "rows that fill vectors",
       .inputs =
           {"f32[4,9] 1 2 3 4 5 6 7 8 9 9 8 7 6 5 4 3 2 1 2 2 2 2 2 2 2 2 3 5 -1 5 -1 5 -1 5 -1 5",
            "i32[4] 0 0 2 2"},
       .outputs = {"f32[3,9] 5.0 5.0 5.0 5.0 5.0 5.0 5.0 5.0 5.0 0 0 0 0 0 0 0 0 0 3.5 0.5 3.5 0.5 "
                   "3.5 0.5 3.5 0.5 4.0"}},
      {.name = "rows that fill vectors, i32",
       .inputs =
           {"i32[4,9] 1 2 3 4 5 6 7 8 9 9 8 7 6 5 4 3 2 1 2 2 2 2 2 2 2 2 3 5 -1 5 -1 5 -1 5 -1 5",
            "i32[4] 0 0 2 2"},
       .outputs = {"i32[3,9] 5 5 5 5 5 5 5 5 5 0 0 0 0 0 0 0 0 0 3 0 3 0 3 0 3 0 4"}},
  };
}

TROUPE_OP_CASES(SegmentProd) {
  return {
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 0 2"},
       .outputs = {"f32[3,2] 3 8 1 1 5 6"}},
      {.name = "double", .inputs = {"f64[3] 1 2 4", "i64[3] 0 1 1"}, .outputs = {"f64[2] 1 8"}},
      {.name = "rank 3",
       .inputs = {"f32[2,2,2] 0 1 2 3 4 5 6 7", "i32[2] 0 0"},
       .outputs = {"f32[1,2,2] 0 5 12 21"}},
      {.name = "integers", .inputs = {"i32[3] 4 2 9", "i32[3] 0 0 1"}, .outputs = {"i32[2] 8 9"}},
      {.name = "half", .inputs = {"f16[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"f16[2] 2 4"}},
      {.name = "bfloat16", .inputs = {"bf16[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"bf16[2] 2 4"}},
      {.name = "bytes", .inputs = {"u8[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"u8[2] 2 4"}},
      {.name = "uint64",
       .inputs = {"u64[2] 9223372036854775808 2", "i32[2] 0 1"},
       .outputs = {"u64[2] 9223372036854775808 2"}},
      {.name = "nothing", .inputs = {"f32[0,2]", "i32[0]"}, .outputs = {"f32[0,2]"}},
      {.name = "ids that fall",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 1 0 2"},
       .error = "segment ids are not increasing"},
      {.name = "too few ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 0"},
       .error = "segment_ids should be the same size as dimension 0 of input."},
      {.name = "a negative id",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] -1 0 0"},
       .error = "Segment id -1 out of range [0, 1), possibly because 'segment_ids' input is not "
                "sorted."},
      {.name = "a matrix of ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1,3] 0 0 1"},
       .error = "segment_ids should be a vector."},
      {.name = "a scalar", .inputs = {"f32[] 1", "i32[1] 0"}, .error = "must be at least rank 1"},
      {.name = "complex numbers",
       .inputs = {"c64[3] (1,1) (2,0) (0,3)", "i32[3] 0 0 1"},
       .outputs = {"c64[2] (2,2) (0,3)"}},
      {.name = "rows that fill vectors",
       .inputs =
           {"f32[4,9] 1 2 3 4 5 6 7 8 9 9 8 7 6 5 4 3 2 1 2 2 2 2 2 2 2 2 3 5 -1 5 -1 5 -1 5 -1 5",
            "i32[4] 0 0 2 2"},
       .outputs =
           {"f32[3,9] 9 16 21 24 25 24 21 16 9 1 1 1 1 1 1 1 1 1 10 -2 10 -2 10 -2 10 -2 15"}},
  };
}

TROUPE_OP_CASES(SegmentMin) {
  return {
      {.name = "a number after NaN, and NaN after a number",
       .inputs = {"f32[5] nan 1 1 nan nan", "i32[5] 0 0 1 1 2"},
       .outputs = {"f32[3] 1 nan nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no differences"},
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 0 2"},
       .outputs = {"f32[3,2] 1 2 0 0 5 6"}},
      {.name = "double", .inputs = {"f64[3] 1 2 4", "i64[3] 0 1 1"}, .outputs = {"f64[2] 1 2"}},
      {.name = "rank 3",
       .inputs = {"f32[2,2,2] 0 1 2 3 4 5 6 7", "i32[2] 0 0"},
       .outputs = {"f32[1,2,2] 0 1 2 3"}},
      {.name = "integers", .inputs = {"i32[3] 4 2 9", "i32[3] 0 0 1"}, .outputs = {"i32[2] 2 9"}},
      {.name = "half", .inputs = {"f16[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"f16[2] 1 4"}},
      {.name = "bfloat16", .inputs = {"bf16[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"bf16[2] 1 4"}},
      {.name = "bytes", .inputs = {"u8[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"u8[2] 1 4"}},
      {.name = "uint64",
       .inputs = {"u64[2] 9223372036854775808 2", "i32[2] 0 1"},
       .outputs = {"u64[2] 9223372036854775808 2"}},
      {.name = "nothing", .inputs = {"f32[0,2]", "i32[0]"}, .outputs = {"f32[0,2]"}},
      {.name = "ids that fall",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 1 0 2"},
       .error = "segment ids are not increasing"},
      {.name = "too few ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 0"},
       .error = "segment_ids should be the same size as dimension 0 of input."},
      {.name = "a negative id",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] -1 0 0"},
       .error = "Segment id -1 out of range [0, 1), possibly because 'segment_ids' input is not "
                "sorted."},
      {.name = "a matrix of ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1,3] 0 0 1"},
       .error = "segment_ids should be a vector."},
      {.name = "a scalar", .inputs = {"f32[] 1", "i32[1] 0"}, .error = "must be at least rank 1"},
      {.name = "rows that fill vectors",
       .inputs = {"f32[4,9] nan 1 2 inf nan 5 6 7 8 1 nan 3 -inf nan 4 7 7 9 1 1 1 1 1 1 1 1 nan 2 "
                  "0 2 0 2 0 2 0 2",
                  "i32[4] 0 0 2 2"},
       .outputs = {"f32[3,9] 1 nan 2 -inf nan 4 6 7 8 0 0 0 0 0 0 0 0 0 1 0 1 0 1 0 1 0 2"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no differences"},
  };
}

TROUPE_OP_CASES(SegmentMax) {
  return {
      {.name = "a number after NaN, and NaN after a number",
       .inputs = {"f32[5] nan 1 1 nan nan", "i32[5] 0 0 1 1 2"},
       .outputs = {"f32[3] 1 nan nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no differences"},
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 0 2"},
       .outputs = {"f32[3,2] 3 4 0 0 5 6"}},
      {.name = "double", .inputs = {"f64[3] 1 2 4", "i64[3] 0 1 1"}, .outputs = {"f64[2] 1 4"}},
      {.name = "rank 3",
       .inputs = {"f32[2,2,2] 0 1 2 3 4 5 6 7", "i32[2] 0 0"},
       .outputs = {"f32[1,2,2] 4 5 6 7"}},
      {.name = "integers", .inputs = {"i32[3] 4 2 9", "i32[3] 0 0 1"}, .outputs = {"i32[2] 4 9"}},
      {.name = "half", .inputs = {"f16[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"f16[2] 2 4"}},
      {.name = "bfloat16", .inputs = {"bf16[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"bf16[2] 2 4"}},
      {.name = "bytes", .inputs = {"u8[3] 1 2 4", "i32[3] 0 0 1"}, .outputs = {"u8[2] 2 4"}},
      {.name = "uint64",
       .inputs = {"u64[2] 9223372036854775808 2", "i32[2] 0 1"},
       .outputs = {"u64[2] 9223372036854775808 2"}},
      {.name = "nothing", .inputs = {"f32[0,2]", "i32[0]"}, .outputs = {"f32[0,2]"}},
      {.name = "ids that fall",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 1 0 2"},
       .error = "segment ids are not increasing"},
      {.name = "too few ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 0 0"},
       .error = "segment_ids should be the same size as dimension 0 of input."},
      {.name = "a negative id",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] -1 0 0"},
       .error = "Segment id -1 out of range [0, 1), possibly because 'segment_ids' input is not "
                "sorted."},
      {.name = "a matrix of ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[1,3] 0 0 1"},
       .error = "segment_ids should be a vector."},
      {.name = "a scalar", .inputs = {"f32[] 1", "i32[1] 0"}, .error = "must be at least rank 1"},
      {.name = "rows that fill vectors",
       .inputs = {"f32[4,9] nan 1 2 inf nan 5 6 7 8 1 nan 3 -inf nan 4 7 7 9 1 1 1 1 1 1 1 1 nan 2 "
                  "0 2 0 2 0 2 0 2",
                  "i32[4] 0 0 2 2"},
       .outputs = {"f32[3,9] 1 nan 3 inf nan 5 7 7 9 0 0 0 0 0 0 0 0 0 2 1 2 1 2 1 2 1 2"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no differences"},
      {.name = "rows that fill vectors, i32",
       .inputs =
           {"i32[4,9] 1 2 3 4 5 6 7 8 9 9 8 7 6 5 4 3 2 1 2 2 2 2 2 2 2 2 3 5 -1 5 -1 5 -1 5 -1 5",
            "i32[4] 0 0 2 2"},
       .outputs = {"i32[3,9] 9 8 7 6 5 6 7 8 9 0 0 0 0 0 0 0 0 0 5 2 5 2 5 2 5 2 5"}},
      {.name = "rows that fill vectors, u64",
       .inputs =
           {"u64[4,9] 1 2 3 4 5 6 7 8 9 9 8 7 6 5 4 3 2 1 2 2 2 2 2 2 2 2 3 5 1 5 1 5 1 5 1 5",
            "i32[4] 0 0 2 2"},
       .outputs = {"u64[3,9] 9 8 7 6 5 6 7 8 9 0 0 0 0 0 0 0 0 0 5 2 5 2 5 2 5 2 5"}},
  };
}

TROUPE_OP_CASES(UnsortedSegmentProd) {
  return {
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 2 0 0", "i32[] 4"},
       .outputs = {"f32[4,2] 15 24 1 1 1 2 1 1"}},
      {.name = "negative ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 -1 1", "i32[] 2"},
       .outputs = {"f32[2,2] 1 2 5 6"}},
      {.name = "a matrix of ids",
       .inputs = {"f32[2,2] 1 2 3 4", "i64[2,2] 0 1 1 0", "i32[] 2"},
       .outputs = {"f32[2] 4 6"}},
      {.name = "double",
       .inputs = {"f64[2] 3 4", "i32[2] 1 1", "i64[] 2"},
       .outputs = {"f64[2] 1 12"}},
      {.name = "int32",
       .inputs = {"i32[2] 3 4", "i32[2] 1 1", "i32[] 2"},
       .outputs = {"i32[2] 1 12"}},
      {.name = "uint8",
       .inputs = {"u8[2] 3 4", "i32[2] 1 1", "i32[] 2"},
       .outputs = {"u8[2] 1 12"}},
      {.name = "half",
       .inputs = {"f16[2] 3 4", "i32[2] 1 1", "i32[] 2"},
       .outputs = {"f16[2] 1 12"}},
      {.name = "too high",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 9 2", "i32[] 4"},
       .error = "segment_ids[1] = 9 is out of range [0, 4)"},
      {.name = "one too large in a row",
       .inputs = {"f32[1,2] 1 2", "i32[1,2] 0 9", "i32[] 4"},
       .error = "segment_ids[0,1] = 9 is out of range [0, 4)"},
      {.name = "a negative number",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 0 0", "i32[] -1"},
       .error = "must not be negative"},
      {.name = "long rows",
       .inputs =
           {"f32[4,20] 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 "
            "3 3 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5",
            "i32[4] 0 1 0 -1", "i32[] 3"},
       .outputs = {"f32[3,20] 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 3 3 3 3 3 3 3 3 3 3 3 3 3 3 "
                   "3 3 3 3 3 3 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"}},
  };
}

TROUPE_OP_CASES(UnsortedSegmentMin) {
  return {
      {.name = "a number after NaN, and NaN after a number",
       .inputs = {"f32[5] nan 1 1 nan nan", "i32[5] 0 0 1 1 2", "i32[] 3"},
       .outputs = {"f32[3] 1 nan nan"}},
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 2 0 0", "i32[] 4"},
       .outputs = {"f32[4,2] 3 4 3.40282347e+38 3.40282347e+38 1 2 3.40282347e+38 3.40282347e+38"}},
      {.name = "negative ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 -1 1", "i32[] 2"},
       .outputs = {"f32[2,2] 1 2 5 6"}},
      {.name = "a matrix of ids",
       .inputs = {"f32[2,2] 1 2 3 4", "i64[2,2] 0 1 1 0", "i32[] 2"},
       .outputs = {"f32[2] 1 2"}},
      {.name = "double",
       .inputs = {"f64[2] 3 4", "i32[2] 1 1", "i64[] 2"},
       .outputs = {"f64[2] 1.7976931348623157e+308 3"}},
      {.name = "int32",
       .inputs = {"i32[2] 3 4", "i32[2] 1 1", "i32[] 2"},
       .outputs = {"i32[2] 2147483647 3"}},
      {.name = "uint8",
       .inputs = {"u8[2] 3 4", "i32[2] 1 1", "i32[] 2"},
       .outputs = {"u8[2] 255 3"}},
      {.name = "half",
       .inputs = {"f16[2] 3 4", "i32[2] 1 1", "i32[] 2"},
       .outputs = {"f16[2] 65504 3"}},
      {.name = "too high",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 9 2", "i32[] 4"},
       .error = "segment_ids[1] = 9 is out of range [0, 4)"},
      {.name = "a negative number",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 0 0", "i32[] -1"},
       .error = "must not be negative"},
      {.name = "long rows",
       .inputs = {"f32[4,20] nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan "
                  "nan nan nan 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
                  "1 1 1 1 1 1 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5",
                  "i32[4] 0 1 0 -1", "i32[] 3"},
       .outputs =
           {"f32[3,20] 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 "
            "3 3 3.40282347e+38 3.40282347e+38 3.40282347e+38 3.40282347e+38 3.40282347e+38 "
            "3.40282347e+38 3.40282347e+38 3.40282347e+38 3.40282347e+38 3.40282347e+38 "
            "3.40282347e+38 3.40282347e+38 3.40282347e+38 3.40282347e+38 3.40282347e+38 "
            "3.40282347e+38 3.40282347e+38 3.40282347e+38 3.40282347e+38 3.40282347e+38"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no differences"},
  };
}

TROUPE_OP_CASES(UnsortedSegmentMax) {
  return {
      {.name = "no rows' ids are read where a row has no elements",
       .inputs = {"f32[2,0]", "i32[2] 0 9", "i32[] 1"},
       .outputs = {"f32[1,0]"}},
      {.name = "a number after NaN, and NaN after a number",
       .inputs = {"f32[5] nan 1 1 nan nan", "i32[5] 0 0 1 1 2", "i32[] 3"},
       .outputs = {"f32[3] 1 nan nan"}},
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 2 0 0", "i32[] 4"},
       .outputs =
           {"f32[4,2] 5 6 -3.40282347e+38 -3.40282347e+38 1 2 -3.40282347e+38 -3.40282347e+38"}},
      {.name = "negative ids",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 -1 1", "i32[] 2"},
       .outputs = {"f32[2,2] 1 2 5 6"}},
      {.name = "a matrix of ids",
       .inputs = {"f32[2,2] 1 2 3 4", "i64[2,2] 0 1 1 0", "i32[] 2"},
       .outputs = {"f32[2] 4 3"}},
      {.name = "double",
       .inputs = {"f64[2] 3 4", "i32[2] 1 1", "i64[] 2"},
       .outputs = {"f64[2] -1.7976931348623157e+308 4"}},
      {.name = "int32",
       .inputs = {"i32[2] 3 4", "i32[2] 1 1", "i32[] 2"},
       .outputs = {"i32[2] -2147483648 4"}},
      {.name = "uint8", .inputs = {"u8[2] 3 4", "i32[2] 1 1", "i32[] 2"}, .outputs = {"u8[2] 0 4"}},
      {.name = "half",
       .inputs = {"f16[2] 3 4", "i32[2] 1 1", "i32[] 2"},
       .outputs = {"f16[2] -65504 4"}},
      {.name = "too high",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 9 2", "i32[] 4"},
       .error = "segment_ids[1] = 9 is out of range [0, 4)"},
      {.name = "a negative number",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 0 0 0", "i32[] -1"},
       .error = "must not be negative"},
      {.name = "long rows",
       .inputs = {"f32[4,20] nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan "
                  "nan nan nan 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
                  "1 1 1 1 1 1 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5",
                  "i32[4] 0 1 0 -1", "i32[] 3"},
       .outputs =
           {"f32[3,20] 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 "
            "3 3 -3.40282347e+38 -3.40282347e+38 -3.40282347e+38 -3.40282347e+38 -3.40282347e+38 "
            "-3.40282347e+38 -3.40282347e+38 -3.40282347e+38 -3.40282347e+38 -3.40282347e+38 "
            "-3.40282347e+38 -3.40282347e+38 -3.40282347e+38 -3.40282347e+38 -3.40282347e+38 "
            "-3.40282347e+38 -3.40282347e+38 -3.40282347e+38 -3.40282347e+38 -3.40282347e+38"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no differences"},
  };
}

} // namespace
} // namespace troupe
