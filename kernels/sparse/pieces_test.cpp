// Cases of SparseSlice, its gradient, SparseSplit and SparseConcat; values are those of TensorFlow
// 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SparseSlice) {
  return {
      {
          .name = "rows and columns",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "f64[3] 1 2 3", "i64[2] 4 3", "i64[2] 1 0",
                     "i64[2] 9 2"},
          .outputs = {"i64[1,2] 1 0", "f64[1] 3", "i64[2] 3 2"},
      },
      {
          .name = "text",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "str[3] \"a\" \"b\" \"c\"", "i64[2] 4 3", "i64[2] 0 1",
                     "i64[2] 3 2"},
          .outputs = {"i64[2,2] 0 0 2 1", "str[2] \"a\" \"b\"", "i64[2] 3 2"},
      },
      {
          .name = "beyond the shape",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "f64[3] 1 2 3", "i64[2] 4 3", "i64[2] 1 9",
                     "i64[2] 9 2"},
          .outputs = {"i64[0,2]", "f64[0]", "i64[2] 3 0"},
      },
      {
          .name = "from before the shape",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "f64[3] 1 2 3", "i64[2] 4 3", "i64[2] 1 -1",
                     "i64[2] 9 2"},
          .outputs = {"i64[1,2] 1", "f64[1] 3", "i64[2] 3 2"},
      },
      {
          .name = "three dimensions",
          .inputs = {"i64[2,3] 0 1 0 1 1 2", "i64[2] 1 2", "i64[3] 2 2 3", "i64[3] 1 0 1",
                     "i64[3] 1 2 2"},
          .outputs = {"i64[1,3] 0 1 1", "i64[1] 2", "i64[3] 1 2 2"},
      },
      {
          .name = "a short start",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "f64[3] 1 2 3", "i64[2] 4 3", "i64[1] 1",
                     "i64[2] 9 2"},
          .error = "Expected start to be a vector of length 2 but got length 1",
      },
      {
          .name = "a negative size",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "f64[3] 1 2 3", "i64[2] 4 3", "i64[2] 1 0",
                     "i64[2] 9 -2"},
          .error = "Expected a non-negative size, got -2",
      },
  };
}

TROUPE_OP_CASES(SparseSliceGrad) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[1] 5", "i64[3,2] 0 1 2 2 2 0", "i64[2] 1 0", "i64[1,2] 1 0"},
          .outputs = {"f32[3] 0 0 5"},
      },
      {
          .name = "int8",
          .inputs = {"i8[1] 5", "i64[3,2] 0 1 2 2 2 0", "i64[2] 1 0", "i64[1,2] 1 0"},
          .outputs = {"i8[3] 0 0 5"},
      },
      {
          .name = "complex128",
          .inputs = {"c128[1] (5,0)", "i64[3,2] 0 1 2 2 2 0", "i64[2] 1 0", "i64[1,2] 1 0"},
          .outputs = {"c128[3] (0,0) (0,0) (5,0)"},
      },
      {
          .name = "a gradient too many",
          .inputs = {"f64[2] 5 6", "i64[3,2] 0 1 2 2 2 0", "i64[2] 1 0", "i64[1,2] 1 0"},
          .error = "should match (#nnz of sum): got 2 and 1",
      },
  };
}

TROUPE_OP_CASES(SparseSplit) {
  return {
      {
          .name = "columns",
          .inputs = {"i64[] 1", "i64[3,2] 0 1 2 2 2 0", "f64[3] 1 2 3", "i64[2] 4 3"},
          .attrs = {{"num_split", std::int64_t{2}}},
          .outputs = {"i64[2,2] 0 1 2 0", "i64[1,2] 2 0", "f64[2] 1 3", "f64[1] 2", "i64[2] 4 2",
                      "i64[2] 4 1"},
      },
      {
          .name = "from the end",
          .inputs = {"i64[] -1", "i64[3,2] 0 1 2 2 2 0", "f64[3] 1 2 3", "i64[2] 4 3"},
          .attrs = {{"num_split", std::int64_t{2}}},
          .outputs = {"i64[2,2] 0 1 2 0", "i64[1,2] 2 0", "f64[2] 1 3", "f64[1] 2", "i64[2] 4 2",
                      "i64[2] 4 1"},
      },
      {
          .name = "rows, one part without entries",
          .inputs = {"i64[] 0", "i64[3,2] 0 1 2 2 2 0", "str[3] \"a\" \"b\" \"c\"", "i64[2] 4 3"},
          .attrs = {{"num_split", std::int64_t{3}}},
          .outputs = {"i64[1,2] 0 1", "i64[2,2] 0 2 0 0", "i64[0,2]", "str[1] \"a\"",
                      "str[2] \"b\" \"c\"", "str[0]", "i64[2] 2 3", "i64[2] 1 3", "i64[2] 1 3"},
      },
      {
          .name = "an axis beyond the rank",
          .inputs = {"i64[] 3", "i64[3,2] 0 1 2 2 2 0", "f64[3] 1 2 3", "i64[2] 4 3"},
          .attrs = {{"num_split", std::int64_t{2}}},
          .error = "Input axis should be in range [-2, 2), got 3",
      },
      {
          .name = "too many parts",
          .inputs = {"i64[] 1", "i64[3,2] 0 1 2 2 2 0", "f64[3] 1 2 3", "i64[2] 4 3"},
          .attrs = {{"num_split", std::int64_t{5}}},
          .error =
              "Input num_split should be between 1 and the splitting dimension size (3), got 5",
      },
      {
          .name = "an index beyond the shape",
          .inputs = {"i64[] 1", "i64[2,2] 0 1 2 9", "f64[2] 1 2", "i64[2] 4 3"},
          .attrs = {{"num_split", std::int64_t{2}}},
          .error = "Sparse index tuple indices[1, :] = [2, 9] is out of bounds",
      },
  };
}

TROUPE_OP_CASES(SparseConcat) {
  return {
      {
          .name = "columns",
          .inputs = {"i64[2,2] 0 1 2 2", "i64[1,2] 1 0", "f64[2] 1 2", "f64[1] 3", "i64[2] 3",
                     "i64[2] 3 2"},
          .attrs = {{"concat_dim", std::int64_t{1}}},
          .outputs = {"i64[3,2] 0 1 1 3 2 2", "f64[3] 1 3 2", "i64[2] 3 5"},
      },
      {
          .name = "rows, from the end",
          .inputs = {"i64[2,2] 0 1 2 2", "i64[1,2] 1 0", "i64[2] 1 2", "i64[1] 3", "i64[2] 3",
                     "i64[2] 5 3"},
          .attrs = {{"concat_dim", std::int64_t{-2}}},
          .outputs = {"i64[3,2] 0 1 2 2 4 0", "i64[3] 1 2 3", "i64[2] 8 3"},
      },
      {
          .name = "text",
          .inputs = {"i64[2,2] 0 1 2 2", "i64[1,2] 1 0", "str[2] \"a\" \"b\"", "str[1] \"c\"",
                     "i64[2] 3", "i64[2] 3 2"},
          .attrs = {{"concat_dim", std::int64_t{1}}},
          .outputs = {"i64[3,2] 0 1 1 3 2 2", "str[3] \"a\" \"c\" \"b\"", "i64[2] 3 5"},
      },
      {
          .name = "shapes differ",
          .inputs = {"i64[2,2] 0 1 2 2", "i64[1,2] 1 0", "f64[2] 1 2", "f64[1] 3", "i64[2] 3",
                     "i64[2] 4 2"},
          .attrs = {{"concat_dim", std::int64_t{1}}},
          .error = "Input shapes must match: expected 3 for dimension 0 but got 4 at position 1",
      },
      {
          .name = "ranks differ",
          .inputs = {"i64[2,2] 0 1 2 2", "i64[1,1] 1", "f64[2] 1 2", "f64[1] 3", "i64[2] 3",
                     "i64[1] 4"},
          .attrs = {{"concat_dim", std::int64_t{1}}},
          .error = "Ranks of all input tensors must match: expected 2 but got 1 at position 1",
      },
      {
          .name = "a dimension beyond the rank",
          .inputs = {"i64[2,2] 0 1 2 2", "i64[1,2] 1 0", "f64[2] 1 2", "f64[1] 3", "i64[2] 3",
                     "i64[2] 3 2"},
          .attrs = {{"concat_dim", std::int64_t{5}}},
          .error = "Concat dimension must be in range [-2, 2), got 5",
      },
  };
}

} // namespace
} // namespace troupe
