// Cases of the ops on entries and elements; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SparseDenseCwiseAdd) {
  return {
      {
          .name = "elements at the entries' places",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[2,3] 1 2 3 4 5 6"},
          .outputs = {"f32[3] 2 5 8"},
      },
      {
          .name = "a row for all",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[3] 1 2 4"},
          .outputs = {"f32[3] 2 6 5"},
      },
      {
          .name = "a column for all",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[2,1] 2 8"},
          .outputs = {"f32[3] 3 4 11"},
      },
      {
          .name = "a scalar",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[] 2"},
          .outputs = {"f32[3] 3 4 5"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 2 3", "f64[] 2"},
          .outputs = {"f64[0]"},
      },
      {
          .name = "dtype f64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 100 101 3", "i64[2] 2 3", "f64[3] 3 100 2"},
          .outputs = {"f64[3] 103"},
      },
      {
          .name = "dtype f16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 100 101 3", "i64[2] 2 3", "f16[3] 3 100 2"},
          .outputs = {"f16[3] 103"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 100 101 3", "i64[2] 2 3", "bf16[3] 3 100 2"},
          .outputs = {"bf16[3] 103"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 100 101 3", "i64[2] 2 3", "i8[3] 3 100 2"},
          .outputs = {"i8[3] 103"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 100 101 3", "i64[2] 2 3", "i16[3] 3 100 2"},
          .outputs = {"i16[3] 103"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 100 101 3", "i64[2] 2 3", "i32[3] 3 100 2"},
          .outputs = {"i32[3] 103"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 100 101 3", "i64[2] 2 3", "i64[3] 3 100 2"},
          .outputs = {"i64[3] 103"},
      },
      {
          .name = "dtype u8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 100 101 3", "i64[2] 2 3", "u8[3] 3 100 2"},
          .outputs = {"u8[3] 103"},
      },
      {
          .name = "dtype u16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 100 101 3", "i64[2] 2 3", "u16[3] 3 100 2"},
          .outputs = {"u16[3] 103"},
      },
      {
          .name = "dtype u32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 100 101 3", "i64[2] 2 3", "u32[3] 3 100 2"},
          .outputs = {"u32[3] 103"},
      },
      {
          .name = "dtype u64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 100 101 3", "i64[2] 2 3", "u64[3] 3 100 2"},
          .outputs = {"u64[3] 103"},
      },
      {
          .name = "a dense tensor of a rank too high",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[1,2,1] 2 3"},
          .error = "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                   "shapes: [2,3] vs. [1,2,1]",
      },
      {
          .name = "a sparse tensor is not spread",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 1", "f32[2,3] 1 2 3 4 5 6"},
          .error = "got incompatible shapes: [2,1] vs. [2,3]",
      },
      {
          .name = "an index outside",
          .inputs = {"i64[3,2] 0 0 0 2 5 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[2,3] 1 2 3 4 5 6"},
          .error = "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape",
      },
      {
          .name = "values that do not fit",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[2] 1 2", "i64[2] 2 3", "f32[2,3] 1 2 3 4 5 6"},
          .error = "The first dimension of values and indices should match. (2 vs. 3)",
      },
      {
          .name = "a shape of another rank",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[3] 2 3 4",
                     "f32[2,3] 1 2 3 4 5 6"},
          .error = "Number of dimensions must match second dimension of indices. Got 3 dimensions",
      },
  };
}

TROUPE_OP_CASES(SparseDenseCwiseMul) {
  return {
      {
          .name = "elements at the entries' places",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[2,3] 1 2 3 4 5 6"},
          .outputs = {"f32[3] 1 6 15"},
      },
      {
          .name = "a row for all",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[3] 1 2 4"},
          .outputs = {"f32[3] 1 8 6"},
      },
      {
          .name = "a column for all",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[2,1] 2 8"},
          .outputs = {"f32[3] 2 4 24"},
      },
      {
          .name = "a scalar",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[] 2"},
          .outputs = {"f32[3] 2 4 6"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 2 3", "f64[] 2"},
          .outputs = {"f64[0]"},
      },
      {
          .name = "dtype f64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 100 101 3", "i64[2] 2 3", "f64[3] 3 100 2"},
          .outputs = {"f64[3] 300 202 300"},
      },
      {
          .name = "dtype f16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 100 101 3", "i64[2] 2 3", "f16[3] 3 100 2"},
          .outputs = {"f16[3] 300 202 300"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 100 101 3", "i64[2] 2 3", "bf16[3] 3 100 2"},
          .outputs = {"bf16[3] 300 202 300"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 100 101 3", "i64[2] 2 3", "i8[3] 3 100 2"},
          .outputs = {"i8[3] 44 -54 44"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 100 101 3", "i64[2] 2 3", "i16[3] 3 100 2"},
          .outputs = {"i16[3] 300 202 300"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 100 101 3", "i64[2] 2 3", "i32[3] 3 100 2"},
          .outputs = {"i32[3] 300 202 300"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 100 101 3", "i64[2] 2 3", "i64[3] 3 100 2"},
          .outputs = {"i64[3] 300 202 300"},
      },
      {
          .name = "dtype u8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 100 101 3", "i64[2] 2 3", "u8[3] 3 100 2"},
          .outputs = {"u8[3] 44 202 44"},
      },
      {
          .name = "dtype u16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 100 101 3", "i64[2] 2 3", "u16[3] 3 100 2"},
          .outputs = {"u16[3] 300 202 300"},
      },
      {
          .name = "dtype u32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 100 101 3", "i64[2] 2 3", "u32[3] 3 100 2"},
          .outputs = {"u32[3] 300 202 300"},
      },
      {
          .name = "dtype u64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 100 101 3", "i64[2] 2 3", "u64[3] 3 100 2"},
          .outputs = {"u64[3] 300 202 300"},
      },
      {
          .name = "a dense tensor of a rank too high",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[1,2,1] 2 3"},
          .error = "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                   "shapes: [2,3] vs. [1,2,1]",
      },
      {
          .name = "a sparse tensor is not spread",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 1", "f32[2,3] 1 2 3 4 5 6"},
          .error = "got incompatible shapes: [2,1] vs. [2,3]",
      },
      {
          .name = "an index outside",
          .inputs = {"i64[3,2] 0 0 0 2 5 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[2,3] 1 2 3 4 5 6"},
          .error = "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape",
      },
      {
          .name = "values that do not fit",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[2] 1 2", "i64[2] 2 3", "f32[2,3] 1 2 3 4 5 6"},
          .error = "The first dimension of values and indices should match. (2 vs. 3)",
      },
      {
          .name = "a shape of another rank",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[3] 2 3 4",
                     "f32[2,3] 1 2 3 4 5 6"},
          .error = "Number of dimensions must match second dimension of indices. Got 3 dimensions",
      },
  };
}

TROUPE_OP_CASES(SparseDenseCwiseDiv) {
  return {
      {
          .name = "elements at the entries' places",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[2,3] 1 2 3 4 5 6"},
          .outputs = {"f32[3] 1 0.6666667 0.6"},
      },
      {
          .name = "a row for all",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[3] 1 2 4"},
          .outputs = {"f32[3] 1 0.5 1.5"},
      },
      {
          .name = "a column for all",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[2,1] 2 8"},
          .outputs = {"f32[3] 0.5 1 0.375"},
      },
      {
          .name = "a scalar",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[] 2"},
          .outputs = {"f32[3] 0.5 1 1.5"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 2 3", "f64[] 2"},
          .outputs = {"f64[0]"},
      },
      {
          .name = "dtype f64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 100 101 3", "i64[2] 2 3", "f64[3] 3 100 2"},
          .outputs = {"f64[3] 33.333333333333336 50.5 0.03"},
      },
      {
          .name = "dtype f16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 100 101 3", "i64[2] 2 3", "f16[3] 3 100 2"},
          .outputs = {"f16[3] 33.34375 50.5 0.02999878"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 100 101 3", "i64[2] 2 3", "bf16[3] 3 100 2"},
          .outputs = {"bf16[3] 33.25 50.5 0.030029297"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 100 101 3", "i64[2] 2 3", "i8[3] 3 100 2"},
          .outputs = {"i8[3] 33 50 0"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 100 101 3", "i64[2] 2 3", "i16[3] 3 100 2"},
          .outputs = {"i16[3] 33 50 0"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 100 101 3", "i64[2] 2 3", "i32[3] 3 100 2"},
          .outputs = {"i32[3] 33 50 0"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 100 101 3", "i64[2] 2 3", "i64[3] 3 100 2"},
          .outputs = {"i64[3] 33 50 0"},
      },
      {
          .name = "dtype u8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 100 101 3", "i64[2] 2 3", "u8[3] 3 100 2"},
          .outputs = {"u8[3] 33 50 0"},
      },
      {
          .name = "dtype u16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 100 101 3", "i64[2] 2 3", "u16[3] 3 100 2"},
          .outputs = {"u16[3] 33 50 0"},
      },
      {
          .name = "dtype u32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 100 101 3", "i64[2] 2 3", "u32[3] 3 100 2"},
          .outputs = {"u32[3] 33 50 0"},
      },
      {
          .name = "dtype u64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 100 101 3", "i64[2] 2 3", "u64[3] 3 100 2"},
          .outputs = {"u64[3] 33 50 0"},
      },
      {
          .name = "a dense tensor of a rank too high",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[1,2,1] 2 3"},
          .error = "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                   "shapes: [2,3] vs. [1,2,1]",
      },
      {
          .name = "a sparse tensor is not spread",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 1", "f32[2,3] 1 2 3 4 5 6"},
          .error = "got incompatible shapes: [2,1] vs. [2,3]",
      },
      {
          .name = "an index outside",
          .inputs = {"i64[3,2] 0 0 0 2 5 1", "f32[3] 1 2 3", "i64[2] 2 3", "f32[2,3] 1 2 3 4 5 6"},
          .error = "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape",
      },
      {
          .name = "values that do not fit",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[2] 1 2", "i64[2] 2 3", "f32[2,3] 1 2 3 4 5 6"},
          .error = "The first dimension of values and indices should match. (2 vs. 3)",
      },
      {
          .name = "a shape of another rank",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[3] 2 3 4",
                     "f32[2,3] 1 2 3 4 5 6"},
          .error = "Number of dimensions must match second dimension of indices. Got 3 dimensions",
      },
      {
          .name = "floats by zero",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 -2 0", "i64[2] 2 3", "f32[] 0"},
          .error = "SparseDenseCwiseDiv cannot divide by zero,but input dense tensor contains zero",
      },
      {
          .name = "a zero that no entry meets",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 -2 0", "i64[2] 2 3", "f32[2,3] 1 0 1 1 1 1"},
          .outputs = {"f32[3] 1 -2 0"},
      },
      {
          .name = "integers by zero",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 1 -2 0", "i64[2] 2 3", "i32[3] 1 2 0"},
          .error = "SparseDenseCwiseDiv cannot divide by zero,but input dense tensor contains zero",
      },
      {.name = "the least integer by -1",
       .inputs = {"i64[1,1] 0", "i32[1] -2147483648", "i64[1] 1", "i32[] -1"},
       .outputs = {"i32[1] -2147483648"}},
  };
}

TROUPE_OP_CASES(SparseSparseMaximum) {
  return {
      {
          .name = "what has no entry is 0",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i64[2,2] 0 0 1 0",
                     "f32[2] -2 -1", "i64[2] 2 3"},
          .outputs = {"i64[4,2] 0 0 0 2 1 0 1 1", "f32[4] 1 2 0 3"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f32[0]", "i64[2] 2 3", "i64[0,2]", "f32[0]", "i64[2] 2 3"},
          .outputs = {"i64[0,2]", "f32[0]"},
      },
      {
          .name = "dtype f64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "f64[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 100 101 9"},
      },
      {
          .name = "dtype f16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "f16[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 100 101 9"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "bf16[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 100 101 9"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "i8[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 100 101 9"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "i16[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 100 101 9"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "i32[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 100 101 9"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "i64[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 100 101 9"},
      },
      {
          .name = "dtype u8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "u8[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 100 101 9"},
      },
      {
          .name = "dtype u16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "u16[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 100 101 9"},
      },
      {
          .name = "dtype u32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "u32[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 100 101 9"},
      },
      {
          .name = "dtype u64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "u64[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 100 101 9"},
      },
      {
          .name = "two shapes",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i64[2,2] 0 0 1 0",
                     "f32[2] -2 -1", "i64[2] 2 4"},
          .error = "Operands' shapes do not match: got 3 and 4 for dimension 1",
      },
      {
          .name = "an index outside",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i64[2,2] 0 0 9 0",
                     "f32[2] -2 -1", "i64[2] 2 3"},
          .error = "Sparse index tuple indices[1, :] = [9, 0] is out of bounds",
      },
      {
          .name = "values that do not fit",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[2] 1 2", "i64[2] 2 3", "i64[2,2] 0 0 1 0",
                     "f32[2] -2 -1", "i64[2] 2 3"},
          .error = "Number of elements in indices (3) and values (2) do not match",
      },
  };
}

TROUPE_OP_CASES(SparseSparseMinimum) {
  return {
      {
          .name = "what has no entry is 0",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i64[2,2] 0 0 1 0",
                     "f32[2] -2 -1", "i64[2] 2 3"},
          .outputs = {"i64[4,2] 0 0 0 2 1 0 1 1", "f32[4] -2 0 -1 0"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f32[0]", "i64[2] 2 3", "i64[0,2]", "f32[0]", "i64[2] 2 3"},
          .outputs = {"i64[0,2]", "f32[0]"},
      },
      {
          .name = "dtype f64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "f64[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 7 0 3"},
      },
      {
          .name = "dtype f16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "f16[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 7 0 3"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "bf16[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 7 0 3"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "i8[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 7 0 3"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "i16[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 7 0 3"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "i32[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 7 0 3"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "i64[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 7 0 3"},
      },
      {
          .name = "dtype u8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "u8[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 7 0 3"},
      },
      {
          .name = "dtype u16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "u16[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 7 0 3"},
      },
      {
          .name = "dtype u32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "u32[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 7 0 3"},
      },
      {
          .name = "dtype u64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 100 101 3", "i64[2] 2 3", "i64[2,2] 0 0 1 1",
                     "u64[2] 7 9", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 7 0 3"},
      },
      {
          .name = "two shapes",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i64[2,2] 0 0 1 0",
                     "f32[2] -2 -1", "i64[2] 2 4"},
          .error = "Operands' shapes do not match: got 3 and 4 for dimension 1",
      },
      {
          .name = "an index outside",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i64[2,2] 0 0 9 0",
                     "f32[2] -2 -1", "i64[2] 2 3"},
          .error = "Sparse index tuple indices[1, :] = [9, 0] is out of bounds",
      },
      {
          .name = "values that do not fit",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[2] 1 2", "i64[2] 2 3", "i64[2,2] 0 0 1 0",
                     "f32[2] -2 -1", "i64[2] 2 3"},
          .error = "Number of elements in indices (3) and values (2) do not match",
      },
  };
}

} // namespace
} // namespace troupe
