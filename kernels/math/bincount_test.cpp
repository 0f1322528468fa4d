// Bincount in four forms.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Bincount) {
  return {
      {.name = "counts",
       .inputs = {"i32[3] 1 1 2", "i32[] 3", "f32[0]"},
       .outputs = {"f32[3] 0 2 1"}},
      {.name = "weights",
       .inputs = {"i32[3] 1 1 2", "i32[] 3", "f32[3] 0.5 1 2"},
       .outputs = {"f32[3] 0 1.5 2"}},
      {.name = "int64",
       .inputs = {"i32[2] 0 5", "i32[] 2", "i64[2] 3 4"},
       .outputs = {"i64[2] 3 0"}},
      {.name = "nothing", .inputs = {"i32[0]", "i32[] 2", "f32[0]"}, .outputs = {"f32[2] 0 0"}},
      {.name = "negative",
       .inputs = {"i32[1] -1", "i32[] 3", "f32[0]"},
       .error = "Input arr must be non-negative!"},
      {.name = "a negative size",
       .inputs = {"i32[1] 1", "i32[] -3", "f32[0]"},
       .error = "size (-3) must be non-negative"},
      {.name = "too few weights",
       .inputs = {"i32[2] 1 2", "i32[] 3", "f32[1] 1"},
       .error = "Input indices and weights must have the same size."},
  };
}

TROUPE_OP_CASES(DenseBincount) {
  return {
      {.name = "as large as the size, in a matrix of int64",
       .inputs = {"i64[3,2] 2 0 2 2 1 3", "i64[] 2", "f32[0]"},
       .outputs = {"f32[3,2] 1 0 0 0 0 1"}},
      {.name = "a negative one after others, in a matrix",
       .inputs = {"i32[2,2] 1 0 -7 -8", "i32[] 2", "f32[0]"},
       .error = "Input 'in' must be non-negative! Negative input value found: -7"},
      {.name = "a vector",
       .inputs = {"i32[3] 1 1 2", "i32[] 3", "f32[0]"},
       .outputs = {"f32[3] 0 2 1"}},
      {.name = "weights",
       .inputs = {"i32[3] 1 1 2", "i32[] 3", "f32[3] 0.5 1 2"},
       .outputs = {"f32[3] 0 1.5 2"}},
      {.name = "too large ones",
       .inputs = {"i64[3] 1 1 7", "i64[] 3", "i32[0]"},
       .outputs = {"i32[3] 0 2 0"}},
      {.name = "a matrix",
       .inputs = {"i32[2,2] 1 1 0 2", "i32[] 3", "f32[0]"},
       .outputs = {"f32[2,3] 0 2 0 1 0 1"}},
      {.name = "a matrix of weights",
       .inputs = {"i32[2,2] 1 1 0 2", "i32[] 3", "f32[2,2] 1 2 3 4"},
       .outputs = {"f32[2,3] 0 3 0 3 0 4"}},
      {.name = "whether it comes",
       .inputs = {"i32[2] 1 1", "i32[] 3", "f32[0]"},
       .attrs = {{"binary_output", true}},
       .outputs = {"f32[3] 0 1 0"}},
      {.name = "whether it comes, by row",
       .inputs = {"i32[2,2] 1 1 0 9", "i32[] 3", "f32[0]"},
       .attrs = {{"binary_output", true}},
       .outputs = {"f32[2,3] 0 1 0 1 0 0"}},
      {.name = "a scalar", .inputs = {"i32[] 1", "i32[] 3", "i64[0]"}, .outputs = {"i64[3] 0 1 0"}},
      {.name = "negative",
       .inputs = {"i32[2] -1 1", "i32[] 3", "f32[0]"},
       .error = "Input arr must be non-negative!"},
      {.name = "negative, in a matrix",
       .inputs = {"i32[1,1] -1", "i32[] 3", "f32[0]"},
       .error = "Input 'in' must be non-negative! Negative input value found: -1"},
      {.name = "weights of another shape",
       .inputs = {"i32[2] 1 1", "i32[] 3", "f32[1] 1"},
       .error = "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case "
                "it acts as all weights equal to 1. Received [1]"},
      {.name = "a negative size",
       .inputs = {"i32[2] 1 1", "i32[] -3", "f32[0]"},
       .error = "size (-3) must be non-negative"},
      {.name = "a vector of sizes",
       .inputs = {"i32[2] 1 1", "i32[1] 3", "f32[0]"},
       .error = "hape must be rank 0 but is rank 1"},
      {.name = "rank 3",
       .inputs = {"i32[1,1,1] 1", "i32[] 3", "f32[0]"},
       .error = "Shape must be at most rank 2 but is rank 3"},
  };
}

TROUPE_OP_CASES(RaggedBincount) {
  return {
      {
          .name = "weights of another shape",
          .inputs = {"i64[3] 0 1 2", "i32[2] 1 2", "i32[] 3", "f32[1,2] 1 2"},
          .outputs = {"f32[2,3] 0 1 0 0 0 2"},
      },
      {.name = "rows",
       .inputs = {"i64[3] 0 2 3", "i32[3] 1 1 2", "i32[] 3", "f32[0]"},
       .outputs = {"f32[2,3] 0 2 0 0 0 1"}},
      {.name = "an empty row",
       .inputs = {"i64[4] 0 2 2 3", "i32[3] 1 1 2", "i32[] 3", "f32[0]"},
       .outputs = {"f32[3,3] 0 2 0 0 0 0 0 0 1"}},
      {.name = "weights",
       .inputs = {"i64[3] 0 2 3", "i32[3] 1 1 2", "i32[] 3", "f32[3] 1 2 3"},
       .outputs = {"f32[2,3] 0 3 0 0 0 3"}},
      {.name = "whether it comes",
       .inputs = {"i64[3] 0 2 3", "i32[3] 1 1 2", "i32[] 3", "f32[0]"},
       .attrs = {{"binary_output", true}},
       .outputs = {"f32[2,3] 0 1 0 0 0 1"}},
      {.name = "a bad beginning",
       .inputs = {"i64[3] 1 2 3", "i32[3] 1 1 2", "i32[] 3", "f32[0]"},
       .error = "Splits must start with 0, not with 1"},
      {.name = "a bad end",
       .inputs = {"i64[2] 0 2", "i32[3] 1 1 2", "i32[] 3", "f32[0]"},
       .error = "Splits must end with the number of values, got 2 instead of 3"},
      {.name = "no splits",
       .inputs = {"i64[0]", "i32[1] 1", "i32[] 3", "f32[0]"},
       .error = "Splits must be non-empty"},
      {.name = "negative",
       .inputs = {"i64[3] 0 2 3", "i32[3] 1 -1 2", "i32[] 3", "f32[0]"},
       .error = "Input must be non-negative"},
  };
}

TROUPE_OP_CASES(SparseBincount) {
  return {
      {.name = "a vector",
       .inputs = {"i64[2,1] 0 1", "i32[2] 1 1", "i64[1] 3", "i32[] 3", "f32[0]"},
       .outputs = {"f32[3] 0 2 0"}},
      {.name = "a matrix",
       .inputs = {"i64[2,2] 0 0 1 1", "i32[2] 1 2", "i64[2] 2 3", "i32[] 3", "f32[0]"},
       .outputs = {"f32[2,3] 0 1 0 0 0 1"}},
      {.name = "weights",
       .inputs = {"i64[2,2] 0 0 1 1", "i32[2] 1 2", "i64[2] 2 3", "i32[] 3", "f32[2] 5 6"},
       .outputs = {"f32[2,3] 0 5 0 0 0 6"}},
      {.name = "outside",
       .inputs = {"i64[2,2] 0 0 9 1", "i32[2] 1 2", "i64[2] 2 3", "i32[] 3", "f32[0]"},
       .error = "Sparse index tuple indices[1, :] = [9, 1] is out of bounds"},
      {.name = "another number of values",
       .inputs = {"i64[1,2] 0 0", "i32[2] 1 2", "i64[2] 2 3", "i32[] 3", "f32[0]"},
       .error = "Number of elements in indices (1) and values (2) do not match"},
      {.name = "another rank",
       .inputs = {"i64[1,1] 0", "i32[1] 1", "i64[2] 2 3", "i32[] 3", "f32[0]"},
       .error = "Index rank (1) and shape rank (2) do not match"},
  };
}

} // namespace
} // namespace troupe
