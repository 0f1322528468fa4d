// MatrixBandPart.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(MatrixBandPart) {
  return {
      {.name = "a band",
       .inputs = {"f32[3,4] 1 2 3 4 5 6 7 8 9 10 11 12", "i64[] 1", "i64[] 1"},
       .outputs = {"f32[3,4] 1 2 0 0 5 6 7 0 0 10 11 12"}},
      {.name = "lower triangle",
       .inputs = {"f32[3,4] 1 2 3 4 5 6 7 8 9 10 11 12", "i64[] -1", "i64[] 0"},
       .outputs = {"f32[3,4] 1 0 0 0 5 6 0 0 9 10 11 0"}},
      {.name = "upper triangle",
       .inputs = {"f32[3,4] 1 2 3 4 5 6 7 8 9 10 11 12", "i32[] 0", "i32[] -1"},
       .outputs = {"f32[3,4] 1 2 3 4 0 6 7 8 0 0 11 12"}},
      {.name = "everything",
       .inputs = {"f32[3,4] 1 2 3 4 5 6 7 8 9 10 11 12", "i64[] -1", "i64[] -1"},
       .outputs = {"f32[3,4] 1 2 3 4 5 6 7 8 9 10 11 12"}},
      {.name = "the diagonal of a batch",
       .inputs = {"f32[2,2,2] 1 2 3 4 5 6 7 8", "i64[] 0", "i64[] 0"},
       .outputs = {"f32[2,2,2] 1 0 0 4 5 0 0 8"}},
      {.name = "booleans",
       .inputs = {"bool[2,2] true true true true", "i64[] 0", "i64[] 0"},
       .outputs = {"bool[2,2] true false false true"}},
      {.name = "complex numbers",
       .inputs = {"c128[2,2] (1,0) (2,0) (3,0) (0,4)", "i64[] 0", "i64[] 0"},
       .outputs = {"c128[2,2] (1,0) (0,0) (0,0) (0,4)"}},
      {.name = "bytes",
       .inputs = {"u8[2,2] 1 2 3 4", "i64[] 0", "i64[] 1"},
       .outputs = {"u8[2,2] 1 2 0 4"}},
      {.name = "half",
       .inputs = {"f16[2,2] 1 2 3 4", "i64[] 0", "i64[] 1"},
       .outputs = {"f16[2,2] 1 2 0 4"}},
      {.name = "nothing", .inputs = {"f32[0,2]", "i64[] 0", "i64[] 0"}, .outputs = {"f32[0,2]"}},
      {.name = "a scalar", .inputs = {"f32[] 1", "i64[] 1", "i64[] 1"}, .error = "rank"},
      {.name = "too many below",
       .inputs = {"f32[1,2] 1 2", "i64[] 3", "i64[] 0"},
       .error = "num_lower must be negative or less or equal to number of rows (1) got: 3"},
      {.name = "too many above",
       .inputs = {"f32[1,2] 1 2", "i64[] 0", "i64[] 5"},
       .error = "num_upper must be negative or less or equal to number of columns (2) got: 5"},
      {.name = "a vector of numbers",
       .inputs = {"f32[1,2] 1 2", "i64[1] 0", "i64[] 0"},
       .error = "num_lower must be scalar"},
  };
}

TROUPE_OP_CASES(BatchMatrixBandPart) {
  return {
      {.name = "one below, all above",
       .inputs = {"i32[3,3] 1 2 3 4 5 6 7 8 9", "i64[] 1", "i64[] -1"},
       .outputs = {"i32[3,3] 1 2 3 4 5 6 0 8 9"}},
      {.name = "more than there are",
       .inputs = {"i32[2,2] 1", "i64[] 3", "i64[] 0"},
       .error = "num_lower must be negative or less or equal to number of rows (2) got: 3"},
      {.name = "a vector",
       .inputs = {"i32[2] 1", "i64[] 0", "i64[] 0"},
       .error = "input must be at least 2-dim, received shape: [2]"},
  };
}

} // namespace
} // namespace troupe
