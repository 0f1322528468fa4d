// Cases of the reductions of sparse tensors; values are those of TensorFlow 2.21.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

/// `rows`, and what a reduction to a dense tensor refuses, whatever it joins.
std::vector<testing::OpCase> with_refusals(std::vector<testing::OpCase> rows) {
  const std::vector<testing::OpCase> refusals = {
      {.name = "an index beyond the shape",
       .inputs = {"i64[1,2] 5 0", "f32[1] 1", "i64[2] 2 3", "i32[1] 1"},
       .error = "Obtained a write index of 5 which is outside of bounds of [0, 2)"},
      {.name = "axes that are a matrix",
       .inputs = {"i64[1,2] 0 0", "f32[1] 1", "i64[2] 2 3", "i32[1,1] 1"},
       .error = "Expected reduction_axes to be a scalar or a vector; got shape: [1,1]"},
      {.name = "an axis is looked at before the tensor",
       .inputs = {"i64[3] 0 0 0", "f32[1] 1", "i64[2] 2 3", "i32[1] 2"},
       .error = "Invalid reduction dimension 2, for input with 2 dimensions."},
      {.name = "indices that are a vector",
       .inputs = {"i64[1] 0", "f32[1] 1", "i64[2] 2 3", "i32[1] 1"},
       .error = "indices must be a matrix, but got: [1]"},
      {.name = "values that are a matrix",
       .inputs = {"i64[1,2] 0 0", "f32[1,1] 1", "i64[2] 2 3", "i32[1] 1"},
       .error = "vals must be a vec, but got: [1,1]"},
  };
  rows.insert(rows.end(), refusals.begin(), refusals.end());
  return rows;
}

TROUPE_OP_CASES(SparseReduceSum) {
  return with_refusals({
      {
          .name = "columns",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 3 3", "i32[1] 0"},
          .outputs = {"f32[3] 1 3 2"},
      },
      {
          .name = "rows, kept",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 3 3", "i32[1] -1"},
          .attrs = {{"keep_dims", true}},
          .outputs = {"f32[3,1] 3 3 0"},
      },
      {
          .name = "all axes",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i32[2] 0 1"},
          .outputs = {"f32[] 6"},
      },
      {
          .name = "no axes",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i32[0]"},
          .outputs = {"f32[2,3] 1 0 2 0 3 0"},
      },
      {
          .name = "an axis twice, a scalar",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i32[] 0"},
          .outputs = {"f32[3] 1 3 2"},
      },
      {
          .name = "entries in any order, three dimensions",
          .inputs = {"i64[4,3] 1 0 1 0 1 0 1 0 0 0 1 1", "i32[4] 1 2 3 4", "i64[3] 2 2 2",
                     "i32[2] 2 1"},
          .outputs = {"i32[2] 6 4"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 2 3", "i32[1] 1"},
          .outputs = {"f64[2] 0"},
      },
      {
          .name = "dtype f64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"f64[3] 1 3 2"},
      },
      {
          .name = "dtype f16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"f16[3] 1 3 2"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"bf16[3] 1 3 2"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i8[3] 1 3 2"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i16[3] 1 3 2"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i32[3] 1 3 2"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3] 1 3 2"},
      },
      {
          .name = "dtype u8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"u8[3] 1 3 2"},
      },
      {
          .name = "dtype u16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"u16[3] 1 3 2"},
      },
      {
          .name = "dtype u32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"u32[3] 1 3 2"},
      },
      {
          .name = "dtype u64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"u64[3] 1 3 2"},
      },
      {
          .name = "dtype c64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "c64[3] (1,1) (2,1) (3,1)", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"c64[3] (1,1) (3,1) (2,1)"},
      },
      {
          .name = "dtype c128",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "c128[3] (1,1) (2,1) (3,1)", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"c128[3] (1,1) (3,1) (2,1)"},
      },
      {
          .name = "an axis that is none",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i32[1] 2"},
          .error = "Invalid reduction dimension 2, for input with 2 dimensions.",
      },
      {
          .name = "values that do not fit",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[2] 1 2", "i64[2] 2 3", "i32[1] 0"},
          .error =
              "indices and values rows (indexing dimension) must match. (indices = 3, values = 2)",
      },
      {
          .name = "a shape of another rank",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[3] 2 3 4", "i32[1] 0"},
          .error = "Order length must be SparseTensor rank.",
      },
      {
          .name = "a negative dimension",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 -3", "i32[1] 0"},
          .error = "Expected shape dimensions to be non-negative, got -3",
      },
  });
}

TROUPE_OP_CASES(SparseReduceSumSparse) {
  return {
      {
          .name = "columns",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 3 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "f32[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "rows, kept",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 3 3", "i32[1] -1"},
          .attrs = {{"keep_dims", true}},
          .outputs = {"i64[2,2] 0 0 1 0", "f32[2] 3", "i64[2] 3 1"},
      },
      {
          .name = "all axes",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i32[2] 0 1"},
          .outputs = {"i64[1,0]", "f32[1] 6", "i64[0]"},
      },
      {
          .name = "no axes",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i32[0]"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3"},
      },
      {
          .name = "an axis twice, a scalar",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i32[] 0"},
          .outputs = {"i64[3,1] 0 1 2", "f32[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "entries in any order, three dimensions",
          .inputs = {"i64[4,3] 1 0 1 0 1 0 1 0 0 0 1 1", "i32[4] 1 2 3 4", "i64[3] 2 2 2",
                     "i32[2] 2 1"},
          .outputs = {"i64[2,1] 0 1", "i32[2] 6 4", "i64[1] 2"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 2 3", "i32[1] 1"},
          .outputs = {"i64[0,1]", "f64[0]", "i64[1] 2"},
      },
      {
          .name = "dtype f64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "f64[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype f16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "f16[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "bf16[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "i8[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "i16[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "i32[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "i64[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype u8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "u8[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype u16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "u16[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype u32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "u32[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype u64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "u64[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype c64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "c64[3] (1,1) (2,1) (3,1)", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "c64[3] (1,1) (3,1) (2,1)", "i64[1] 3"},
      },
      {
          .name = "dtype c128",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "c128[3] (1,1) (2,1) (3,1)", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "c128[3] (1,1) (3,1) (2,1)", "i64[1] 3"},
      },
      {
          .name = "an axis that is none",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 3", "i32[1] 2"},
          .error = "Invalid reduction dimension 2, for input with 2 dimensions.",
      },
      {
          .name = "values that do not fit",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[2] 1 2", "i64[2] 2 3", "i32[1] 0"},
          .error =
              "indices and values rows (indexing dimension) must match. (indices = 3, values = 2)",
      },
      {
          .name = "a shape of another rank",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[3] 2 3 4", "i32[1] 0"},
          .error = "Order length must be SparseTensor rank.",
      },
      {
          .name = "a negative dimension",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] 1 2 3", "i64[2] 2 -3", "i32[1] 0"},
          .error = "Expected shape dimensions to be non-negative, got -3",
      },
      {.name = "an index beyond the shape stays there",
       .inputs = {"i64[1,2] 5 0", "f32[1] 1", "i64[2] 2 3", "i32[1] 1"},
       .outputs = {"i64[1,1] 5", "f32[1] 1", "i64[1] 2"}},
  };
}

TROUPE_OP_CASES(SparseReduceMax) {
  return with_refusals({
      {
          .name = "columns",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 3 3", "i32[1] 0"},
          .outputs = {"f32[3] -1 -3 -2"},
      },
      {
          .name = "rows, kept",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 3 3", "i32[1] -1"},
          .attrs = {{"keep_dims", true}},
          .outputs = {"f32[3,1] -1 -3 0"},
      },
      {
          .name = "all axes",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 3", "i32[2] 0 1"},
          .outputs = {"f32[] -1"},
      },
      {
          .name = "no axes",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 3", "i32[0]"},
          .outputs = {"f32[2,3] -1 0 -2 0 -3 0"},
      },
      {
          .name = "an axis twice, a scalar",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 3", "i32[] 0"},
          .outputs = {"f32[3] -1 -3 -2"},
      },
      {
          .name = "entries in any order, three dimensions",
          .inputs = {"i64[4,3] 1 0 1 0 1 0 1 0 0 0 1 1", "i32[4] 1 2 3 4", "i64[3] 2 2 2",
                     "i32[2] 2 1"},
          .outputs = {"i32[2] 4 3"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 2 3", "i32[1] 1"},
          .outputs = {"f64[2] 0"},
      },
      {
          .name = "dtype f64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"f64[3] 1 3 2"},
      },
      {
          .name = "dtype f16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"f16[3] 1 3 2"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"bf16[3] 1 3 2"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i8[3] 1 3 2"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i16[3] 1 3 2"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i32[3] 1 3 2"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3] 1 3 2"},
      },
      {
          .name = "dtype u8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"u8[3] 1 3 2"},
      },
      {
          .name = "dtype u16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"u16[3] 1 3 2"},
      },
      {
          .name = "dtype u32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"u32[3] 1 3 2"},
      },
      {
          .name = "dtype u64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"u64[3] 1 3 2"},
      },
      {
          .name = "an axis that is none",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 3", "i32[1] 2"},
          .error = "Invalid reduction dimension 2, for input with 2 dimensions.",
      },
      {
          .name = "values that do not fit",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[2] 1 2", "i64[2] 2 3", "i32[1] 0"},
          .error =
              "indices and values rows (indexing dimension) must match. (indices = 3, values = 2)",
      },
      {
          .name = "a shape of another rank",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[3] 2 3 4", "i32[1] 0"},
          .error = "Order length must be SparseTensor rank.",
      },
      {
          .name = "a negative dimension",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 -3", "i32[1] 0"},
          .error = "Expected shape dimensions to be non-negative, got -3",
      },
  });
}

TROUPE_OP_CASES(SparseReduceMaxSparse) {
  return {
      {
          .name = "columns",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 3 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "f32[3] -1 -3 -2", "i64[1] 3"},
      },
      {
          .name = "rows, kept",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 3 3", "i32[1] -1"},
          .attrs = {{"keep_dims", true}},
          .outputs = {"i64[2,2] 0 0 1 0", "f32[2] -1 -3", "i64[2] 3 1"},
      },
      {
          .name = "all axes",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 3", "i32[2] 0 1"},
          .outputs = {"i64[1,0]", "f32[1] -1", "i64[0]"},
      },
      {
          .name = "no axes",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 3", "i32[0]"},
          .outputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 3"},
      },
      {
          .name = "an axis twice, a scalar",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 3", "i32[] 0"},
          .outputs = {"i64[3,1] 0 1 2", "f32[3] -1 -3 -2", "i64[1] 3"},
      },
      {
          .name = "entries in any order, three dimensions",
          .inputs = {"i64[4,3] 1 0 1 0 1 0 1 0 0 0 1 1", "i32[4] 1 2 3 4", "i64[3] 2 2 2",
                     "i32[2] 2 1"},
          .outputs = {"i64[2,1] 0 1", "i32[2] 4 3", "i64[1] 2"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 2 3", "i32[1] 1"},
          .outputs = {"i64[0,1]", "f64[0]", "i64[1] 2"},
      },
      {
          .name = "dtype f64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "f64[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype f16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "f16[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "bf16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "bf16[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i8[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "i8[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "i16[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "i32[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "i64[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype u8",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u8[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "u8[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype u16",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u16[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "u16[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype u32",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u32[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "u32[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "dtype u64",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "u64[3] 1 2 3", "i64[2] 2 3", "i32[1] 0"},
          .outputs = {"i64[3,1] 0 1 2", "u64[3] 1 3 2", "i64[1] 3"},
      },
      {
          .name = "an axis that is none",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 3", "i32[1] 2"},
          .error = "Invalid reduction dimension 2, for input with 2 dimensions.",
      },
      {
          .name = "values that do not fit",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[2] 1 2", "i64[2] 2 3", "i32[1] 0"},
          .error =
              "indices and values rows (indexing dimension) must match. (indices = 3, values = 2)",
      },
      {
          .name = "a shape of another rank",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[3] 2 3 4", "i32[1] 0"},
          .error = "Order length must be SparseTensor rank.",
      },
      {
          .name = "a negative dimension",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "f32[3] -1 -2 -3", "i64[2] 2 -3", "i32[1] 0"},
          .error = "Expected shape dimensions to be non-negative, got -3",
      },
      {.name = "an index beyond the shape stays there",
       .inputs = {"i64[1,2] 5 0", "f32[1] 1", "i64[2] 2 3", "i32[1] 1"},
       .outputs = {"i64[1,1] 5", "f32[1] 1", "i64[1] 2"}},
  };
}

} // namespace
} // namespace troupe
