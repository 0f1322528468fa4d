// Cases of LowerBound, UpperBound and Bucketize; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(LowerBound) {
  return {
      {
          .name = "each row for itself",
          .inputs = {"f32[2,4] 1 2 2 4 0 1 1 1", "f32[2,3] 2 5 0 1 0 0.5"},
          .outputs = {"i32[2,3] 1 4 0 1 0 1"},
      },
      {
          .name = "int64 places of halves",
          .inputs = {"f16[1,3] -1 0 2", "f16[1,2] -0.5 2"},
          .attrs = {{"out_type", DType::int64}},
          .outputs = {"i64[1,2] 1 2"},
      },
      {
          .name = "nothing to search in",
          .inputs = {"i32[2,0]", "i32[2,1] 1 2"},
          .outputs = {"i32[2,1] 0 0"},
      },
      {
          .name = "NaN is less than nothing",
          .inputs = {"f32[1,2] 1 nan", "f32[1,2] 2 nan"},
          .outputs = {"i32[1,2] 1 0"},
      },
      {
          .name = "another number of rows",
          .inputs = {"f32[1,2] 1 2", "f32[2,1] 2 3"},
          .error = "Leading dim_size of both tensors must match.",
      },
      {
          .name = "a vector",
          .inputs = {"f32[2] 1 2", "f32[1] 2"},
          .error = "Shape must be rank 2 but is rank 1",
      },
  };
}

TROUPE_OP_CASES(UpperBound) {
  return {
      {
          .name = "each row for itself",
          .inputs = {"f32[2,4] 1 2 2 4 0 1 1 1", "f32[2,3] 2 5 0 1 0 0.5"},
          .outputs = {"i32[2,3] 3 4 0 4 1 1"},
      },
      {
          .name = "unsigned",
          .inputs = {"u8[1,3] 0 200 255", "u8[1,2] 255 200"},
          .outputs = {"i32[1,2] 3 2"},
      },
      {
          .name = "no values",
          .inputs = {"f64[2,2] 1 2 3 4", "f64[2,0]"},
          .outputs = {"i32[2,0]"},
      },
  };
}

TROUPE_OP_CASES(Bucketize) {
  return {
      {
          .name = "floats",
          .inputs = {"f32[6] -5 150 10 5 100 0"},
          .attrs = {{"boundaries", std::vector<float>{0, 10, 100}}},
          .outputs = {"i32[6] 0 3 2 1 3 1"},
      },
      {
          .name = "NaN is beyond all",
          .inputs = {"f32[2] nan 1"},
          .attrs = {{"boundaries", std::vector<float>{0, 10}}},
          .outputs = {"i32[2] 2 1"},
      },
      {
          .name = "no boundaries",
          .inputs = {"i64[1,1] 1"},
          .attrs = {{"boundaries", std::vector<float>{}}},
          .outputs = {"i32[1,1] 0"},
      },
      {
          .name = "boundaries out of order",
          .inputs = {"i32[3] -5 150 10"},
          .attrs = {{"boundaries", std::vector<float>{100, 10}}},
          .error = "Expected sorted boundaries",
      },
  };
}

} // namespace
} // namespace troupe
