// Cases of the binomial distributions; numbers are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(StatelessRandomBinomial) {
  return {
      {
          .name = "to float32",
          .inputs = {"i32[2] 3 6", "i64[2] 3 4", "f64[6] 5 100 100 0 7 1000",
                     "f64[6] 0.3 0.5 0.9 0.5 1 0.001"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[3,6] 3 51 90 0 7 1 3 43 93 0 7 2 0 52 91 0 7 1"},
      },
      {
          .name = "to float64",
          .inputs = {"i32[2] 3 6", "i64[2] 3 4", "f64[6] 5 100 100 0 7 1000",
                     "f64[6] 0.3 0.5 0.9 0.5 1 0.001"},
          .attrs = {{"dtype", DType::float64}},
          .outputs = {"f64[3,6] 3 51 90 0 7 1 3 43 93 0 7 2 0 52 91 0 7 1"},
      },
      {
          .name = "to float16",
          .inputs = {"i32[2] 3 6", "i64[2] 3 4", "f64[6] 5 100 100 0 7 1000",
                     "f64[6] 0.3 0.5 0.9 0.5 1 0.001"},
          .attrs = {{"dtype", DType::float16}},
          .outputs = {"f16[3,6] 3 51 90 0 7 1 3 43 93 0 7 2 0 52 91 0 7 1"},
      },
      {
          .name = "to int32",
          .inputs = {"i32[2] 3 6", "i64[2] 3 4", "f64[6] 5 100 100 0 7 1000",
                     "f64[6] 0.3 0.5 0.9 0.5 1 0.001"},
          .attrs = {{"dtype", DType::int32}},
          .outputs = {"i32[3,6] 3 51 90 0 7 1 3 43 93 0 7 2 0 52 91 0 7 1"},
      },
      {
          .name = "to int64",
          .inputs = {"i32[2] 3 6", "i64[2] 3 4", "f64[6] 5 100 100 0 7 1000",
                     "f64[6] 0.3 0.5 0.9 0.5 1 0.001"},
          .attrs = {{"dtype", DType::int64}},
          .outputs = {"i64[3,6] 3 51 90 0 7 1 3 43 93 0 7 2 0 52 91 0 7 1"},
      },
      {
          .name = "from f32",
          .inputs = {"i32[2] 3 2", "i64[2] 3 4", "f32[2] 5 100", "f32[2] 0.3 0.7"},
          .outputs = {"i64[3,2] 3 69 3 76 0 62"},
      },
      {
          .name = "from f16",
          .inputs = {"i32[2] 3 2", "i64[2] 3 4", "f16[2] 5 100", "f16[2] 0.3 0.7"},
          .outputs = {"i64[3,2] 3 69 3 76 0 62"},
      },
      {
          .name = "spread",
          .inputs = {"i32[3] 2 2 3", "i32[2] 3 4", "f64[2,1] 20 200", "f64[3] 0.1 0.5 0.95"},
          .outputs = {"i64[2,2,3] 3 13 19 17 106 193 4 10 17 18 106 189"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[1] 0", "i64[2] 3 4", "f64[] 3", "f64[] 0.5"},
          .outputs = {"i64[0]"},
      },
      {
          .name = "no probability",
          .inputs = {"i32[1] 2", "i64[2] 3 4", "f64[] 3", "f64[] nan"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[2] nan"},
      },
      {
          .name = "a shape that does not end so",
          .inputs = {"i32[2] 3 5", "i64[2] 3 4", "f64[6] 5 100 100 0 7 1000",
                     "f64[6] 0.3 0.5 0.9 0.5 1 0.001"},
          .error = "Shape passed in must end with broadcasted shape.",
      },
      {
          .name = "shapes that do not fit",
          .inputs = {"i32[2] 3 6", "i64[2] 3 4", "f64[6] 5 100 100 0 7 1000", "f64[2] 0.1 0.2"},
          .error = "counts and probs must have compatible batch dimensions: [6] vs. [2]",
      },
  };
}

TROUPE_OP_CASES(StatefulRandomBinomial) {
  return {
      {.name = "the variable goes on",
       .inputs = {"res i64[3] 7 9 5", "i64[] 1", "i32[2] 3 2", "f32[2] 5 100", "f32[2] 0.3 0.7"},
       .attrs = {{"dtype", DType::int32}},
       .outputs = {"i32[3,2] 0 67 5 64 1 68"},
       .after = {{0, "i64[3] 153607 9 5"}}},
      {.name = "no samples take as many numbers as fewer than a block's",
       .inputs = {"res i64[3] 7 9 5", "i64[] 1", "i32[1] 0", "f32[] 5", "f32[] 0.3"},
       .attrs = {{"dtype", DType::int32}},
       .outputs = {"i32[0]"},
       .after = {{0, "i64[3] 38407 9 5"}}},
      {.name = "another algorithm",
       .inputs = {"res i64[3] 7 9 5", "i64[] 9", "i32[1] 2", "f32[] 5", "f32[] 0.3"},
       .error = "Unsupported algorithm id: 9",
       .after = {{0, "i64[3] 7 9 5"}}},
  };
}

} // namespace
} // namespace troupe
