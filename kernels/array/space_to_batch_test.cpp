// SpaceToBatchND, BatchToSpaceND, SpaceToBatch, BatchToSpace.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SpaceToBatchND) {
  return {
      {.name = "images",
       .inputs = {"f32[1,4,4,1] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "i32[2] 2 2",
                  "i32[2,2] 0 0 0 0"},
       .outputs = {"f32[4,2,2,1] 0 2 8 10 1 3 9 11 4 6 12 14 5 7 13 15"}},
      {.name = "padded",
       .inputs = {"f32[1,2,3,1] 0 1 2 3 4 5", "i64[2] 2 2", "i64[2,2] 1 1 0 1"},
       .outputs = {"f32[4,2,2,1] 0 0 3 5 0 0 4 0 0 2 0 0 1 0 0 0"}},
      {.name = "depth of two",
       .inputs = {"f32[1,2,2,2] 0 1 2 3 4 5 6 7", "i32[2] 2 2", "i32[2,2] 0 0 0 0"},
       .outputs = {"f32[4,1,1,2] 0 1 2 3 4 5 6 7"}},
      {.name = "one dimension",
       .inputs = {"f32[2,4] 1 2 3 4 5 6 7 8", "i32[1] 2", "i32[1,2] 0 0"},
       .outputs = {"f32[4,2] 1 3 5 7 2 4 6 8"}},
      {.name = "no blocks",
       .inputs = {"f32[1,2] 1 2", "i32[0]", "i32[0,2]"},
       .outputs = {"f32[1,2] 1 2"}},
      {.name = "nothing",
       .inputs = {"f32[0,2,2,1]", "i32[2] 2 2", "i32[2,2] 0 0 0 0"},
       .outputs = {"f32[0,1,1,1]"}},
      {.name = "int32",
       .inputs = {"i32[1,2] 1 2", "i32[1] 2", "i32[1,2] 0 0"},
       .outputs = {"i32[2,1] 1 2"}},
      {.name = "too few paddings",
       .inputs = {"f32[1,4,4,1] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "i32[2] 2 2",
                  "i32[1,2] 0 0"},
       .error = "paddings should have shape [2, 2] instead of [1,2]"},
      {.name = "not divisible",
       .inputs = {"f32[1,4,4,1] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "i32[2] 3 2",
                  "i32[2,2] 0 0 0 0"},
       .error = "padded_shape[0]=4 is not divisible by block_shape[0]=3"},
      {.name = "a block of 0",
       .inputs = {"f32[1,4,4,1] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "i32[2] 0 2",
                  "i32[2,2] 0 0 0 0"},
       .error = "All values in block_shape must be positive, got value, 0 at index 0."},
      {.name = "negative padding",
       .inputs = {"f32[1,4,4,1] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "i32[2] 2 2",
                  "i32[2,2] -1 0 0 0"},
       .error = "Paddings must be non-negative"},
      {.name = "rank too low",
       .inputs = {"f32[1] 1", "i32[2] 2 2", "i32[2,2] 0 0 0 0"},
       .error = "input rank should be >= 3 instead of 1"},
  };
}

TROUPE_OP_CASES(BatchToSpaceND) {
  return {
      {.name = "images",
       .inputs = {"f32[4,1,1,1] 0 1 2 3", "i32[2] 2 2", "i32[2,2] 0 0 0 0"},
       .outputs = {"f32[1,2,2,1] 0 1 2 3"}},
      {.name = "cropped",
       .inputs = {"f32[4,2,2,1] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "i64[2] 2 2",
                  "i64[2,2] 1 0 0 1"},
       .outputs = {"f32[1,3,3,1] 8 12 9 2 6 3 10 14 11"}},
      {.name = "depth of two",
       .inputs = {"f32[4,1,1,2] 0 1 2 3 4 5 6 7", "i32[2] 2 2", "i32[2,2] 0 0 0 0"},
       .outputs = {"f32[1,2,2,2] 0 1 2 3 4 5 6 7"}},
      {.name = "one dimension",
       .inputs = {"f32[2,2] 1 2 3 4", "i32[1] 2", "i32[1,2] 1 0"},
       .outputs = {"f32[1,3] 3 2 4"}},
      {.name = "batches not divisible",
       .inputs = {"f32[4,1,1,1] 1 1 1 1", "i32[2] 3 2", "i32[2,2] 0 0 0 0"},
       .error = "Input batch dimension (4) is not divisible by product of block sizes (6)"},
      {.name = "crops too large",
       .inputs = {"f32[4,1,1,1] 1 1 1 1", "i32[2] 2 2", "i32[2,2] 3 0 0 0"},
       .error = "cropped_shape[0]=-1 must be non-negative"},
      {.name = "negative crops",
       .inputs = {"f32[4,1,1,1] 1 1 1 1", "i32[2] 2 2", "i32[2,2] -1 0 0 0"},
       .error = "Crops must be non-negative"},
  };
}

TROUPE_OP_CASES(SpaceToBatch) {
  return {
      {.name = "images",
       .inputs = {"f32[1,4,4,1] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "i32[2,2] 0 0 0 0"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .outputs = {"f32[4,2,2,1] 0 2 8 10 1 3 9 11 4 6 12 14 5 7 13 15"}},
      {.name = "padded",
       .inputs = {"f32[1,1,3,1] 0 1 2", "i32[2,2] 1 0 0 1"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .outputs = {"f32[4,1,2,1] 0 0 0 0 0 2 1 0"}},
      {.name = "not divisible",
       .inputs = {"f32[1,4,4,1] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "i32[2,2] 0 0 0 0"},
       .attrs = {{"block_size", std::int64_t{3}}},
       .error = "padded_shape[0]=4 is not divisible by block_shape[0]=3"},
      {.name = "rank 3",
       .inputs = {"f32[1,2,2] 1 1 1 1", "i32[2,2] 0 0 0 0"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .error = "rank"},
  };
}

TROUPE_OP_CASES(BatchToSpace) {
  return {
      {.name = "images",
       .inputs = {"f32[4,1,1,1] 0 1 2 3", "i32[2,2] 0 0 0 0"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .outputs = {"f32[1,2,2,1] 0 1 2 3"}},
      {.name = "not divisible",
       .inputs = {"f32[4,1,1,1] 1 1 1 1", "i32[2,2] 0 0 0 0"},
       .attrs = {{"block_size", std::int64_t{3}}},
       .error = "Input batch dimension (4) is not divisible by product of block sizes (9)"},
  };
}

} // namespace
} // namespace troupe
