// Cases of the counts as sparse tensors; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(DenseCountSparseOutput) {
  return {
      {.name = "rows without elements",
       .inputs = {"i32[0,3]", "f32[0]"},
       .attrs = {{"binary_output", false}},
       .error = "Invalid input: Shapes dimension cannot be 0."},
      {
          .name = "a vector",
          .inputs = {"i32[3] 1 1 4", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[2,1] 1 4", "f32[2] 2 1", "i64[1] 5"},
      },
      {
          .name = "rows, seen or not",
          .inputs = {"i32[2,3] 1 1 4 0 2 2", "i64[0]"},
          .attrs = {{"binary_output", true}},
          .outputs = {"i64[4,2] 0 1 0 4 1 0 1 2", "i64[4] 1", "i64[2] 2 5"},
      },
      {
          .name = "weights, and room for more",
          .inputs = {"i32[2,3] 1 1 4 0 2 2", "i32[2,3] 1 2 3 4 5 6"},
          .attrs = {{"binary_output", false}, {"minlength", std::int64_t{7}}},
          .outputs = {"i64[4,2] 0 1 0 4 1 0 1 2", "i32[4] 3 3 4 11", "i64[2] 2 7"},
      },
      {
          .name = "large numbers are left out",
          .inputs = {"i64[2,3] 1 1 4 0 2 2", "f64[2,3] 1 2 3 4 5 6"},
          .attrs = {{"binary_output", false}, {"maxlength", std::int64_t{2}}},
          .outputs = {"i64[2,2] 0 1 1 0", "f64[2] 3 4", "i64[2] 2"},
      },
      {
          .name = "the larger bound wins",
          .inputs = {"i32[2,3] 1 1 4 0 2 2", "f32[0]"},
          .attrs = {{"binary_output", false},
                    {"minlength", std::int64_t{9}},
                    {"maxlength", std::int64_t{8}}},
          .outputs = {"i64[4,2] 0 1 0 4 1 0 1 2", "f32[4] 2 1 1 2", "i64[2] 2 8"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[0]", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[0,1]", "f32[0]", "i64[1] 1"},
      },
      {
          .name = "a negative number",
          .inputs = {"i32[2] 1 -4", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "Input values must all be non-negative",
      },
      {
          .name = "weights of another shape",
          .inputs = {"i32[2,3] 1 1 4 0 2 2", "i32[3] 1 2 3"},
          .attrs = {{"binary_output", false}},
          .error =
              "Weights and data must have the same shape. Weight shape: [3]; data shape: [2,3]",
      },
      {
          .name = "a scalar",
          .inputs = {"i32[] 1", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "Input must be a 1 or 2-dimensional tensor. Got: []",
      },
  };
}

TROUPE_OP_CASES(SparseCountSparseOutput) {
  return {
      {
          .name = "entries of rows",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 1 1 1", "i64[2] 2 3", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[2,2] 0 1 1 1", "f32[2] 2 1", "i64[2] 2"},
      },
      {
          .name = "weights",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i64[3] 1 1 1", "i64[2] 2 3", "f64[3] 1 2 3"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[2,2] 0 1 1 1", "f64[2] 3", "i64[2] 2"},
      },
      {
          .name = "a vector",
          .inputs = {"i64[2,1] 0 2", "i32[2] 1 1", "i64[1] 3", "i32[0]"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[1,1] 1", "i32[1] 2", "i64[1] 2"},
      },
      {
          .name = "rank 3",
          .inputs = {"i64[1,3] 0 0 0", "i32[1] 1", "i64[3] 2 2 2", "i64[0]"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[1,2] 0 1", "i64[1] 1", "i64[2] 2"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "i32[0]", "i64[2] 2 3", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[0,2]", "f32[0]", "i64[2] 2 1"},
      },
      {
          .name = "less than no rows",
          .inputs = {"i64[0,2]", "i32[0]", "i64[2] -1 3", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "non-negative",
      },
      {
          .name = "in any order",
          .inputs = {"i64[3,2] 1 1 0 2 0 0", "i32[3] 1 1 1", "i64[2] 2 3", "f32[3] 1 2 3"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[2,2] 0 1 1 1", "f32[2] 5 1", "i64[2] 2"},
      },
      {
          .name = "more rows than memory holds",
          .inputs = {"i64[1,2] 1 1", "i32[1] 1", "i64[2] 4611686018427387904 2", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[1,2] 1 1", "f32[1] 1", "i64[2] 4611686018427387904 2"},
      },
      {
          .name = "an index outside",
          .inputs = {"i64[3,2] 7 0 0 2 1 1", "i32[3] 1 1 1", "i64[2] 2 3", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "Invalid index value at 0: dimension 0 has value 7 which is not in [0, 2)",
      },
      {
          .name = "a negative number",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 1 1 -1", "i64[2] 2 3", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "Input values must all be non-negative",
      },
      {
          .name = "weights of another length",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 1 1 1", "i64[2] 2 3", "f32[2] 1 2"},
          .attrs = {{"binary_output", false}},
          .error =
              "Weights and values must have the same shape. Weight shape: [2]; values shape: [3]",
      },
      {
          .name = "values of another length",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[2] 1 1", "i64[2] 2 3", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "Number of values must match first dimension of indices.Got 2 values",
      },
      {
          .name = "a shape of another rank",
          .inputs = {"i64[3,2] 0 0 0 2 1 1", "i32[3] 1 1 1", "i64[1] 2", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "Number of dimensions must match second dimension of indices.Got 1 dimensions",
      },
  };
}

TROUPE_OP_CASES(RaggedCountSparseOutput) {
  return {
      {
          .name = "rows",
          .inputs = {"i64[4] 0 2 2 3", "i32[3] 1 1 4", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[2,2] 0 1 2 4", "f32[2] 2 1", "i64[2] 3 5"},
      },
      {
          .name = "a bound",
          .inputs = {"i64[4] 0 2 2 3", "i32[3] 1 1 4", "i32[0]"},
          .attrs = {{"binary_output", false}, {"maxlength", std::int64_t{3}}},
          .outputs = {"i64[1,2] 0 1", "i32[1] 2", "i64[2] 3"},
      },
      {
          .name = "weights",
          .inputs = {"i64[4] 0 2 2 3", "i64[3] 1 1 4", "f64[3] 1 2 3"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[2,2] 0 1 2 4", "f64[2] 3", "i64[2] 3 5"},
      },
      {
          .name = "seen or not",
          .inputs = {"i64[4] 0 2 2 3", "i64[3] 1 1 4", "i64[0]"},
          .attrs = {{"binary_output", true}},
          .outputs = {"i64[2,2] 0 1 2 4", "i64[2] 1", "i64[2] 3 5"},
      },
      {
          .name = "splits that fall",
          .inputs = {"i64[4] 0 2 1 3", "i32[3] 1 1 4", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .outputs = {"i64[2,2] 0 1 2 4", "f32[2] 2 1", "i64[2] 3 5"},
      },
      {
          .name = "splits that end early",
          .inputs = {"i64[3] 0 2 4", "i32[3] 1 1 4", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "Splits must end with the number of values, got 4 instead of 3",
      },
      {
          .name = "splits that begin late",
          .inputs = {"i64[3] 1 2 3", "i32[3] 1 1 4", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "Splits must start with 0, not with 1",
      },
      {
          .name = "one split",
          .inputs = {"i64[1] 0", "i32[0]", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "Must provide at least 2 elements for the splits argument",
      },
      {
          .name = "a negative number",
          .inputs = {"i64[2] 0 3", "i32[3] 1 -1 4", "f32[0]"},
          .attrs = {{"binary_output", false}},
          .error = "Input values must all be non-negative",
      },
  };
}

} // namespace
} // namespace troupe
