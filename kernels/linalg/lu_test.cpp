// Cases of Lu; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Lu) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,3] 0.25 -1.5 3 4 1 0.5 -2 5 -1"},
          .outputs = {"f32[3,3] 4 1 0.5 -0.5 5.5 -0.75 0.0625 -0.2840909 2.7556818",
                      "i32[3] 1 2 0"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64",
          .inputs = {"f64[3,3] 0.25 -1.5 3 4 1 0.5 -2 5 -1"},
          .outputs =
              {"f64[3,3] 4 1 0.5 -0.5 5.5 -0.75 0.0625 -0.2840909090909091 2.7556818181818183",
               "i32[3] 1 2 0"},
      },
      {
          .name = "complex64",
          .inputs =
              {"c64[3,3] (0.25,0.5) (-1.5,-1) (3,3) (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1)"},
          .outputs = {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-0.125,0.375) (5.5,4.75) (-0.75,-1.125) "
                      "(0.09375,0.03125) (-0.26390532,0.023372788) (2.7445266,2.6581361)",
                      "i32[3] 1 2 0"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128",
          .inputs =
              {"c128[3,3] (0.25,0.5) (-1.5,-1) (3,3) (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1)"},
          .outputs = {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-0.125,0.375) (5.5,4.75) (-0.75,-1.125) "
                      "(0.09375,0.03125) (-0.263905325443787,0.023372781065088753) "
                      "(2.744526627218935,2.658136094674556)",
                      "i32[3] 1 2 0"},
      },
      {
          .name = "indices of 64 bits",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .attrs = {{"output_idx_type", DType::int64}},
          .outputs =
              {"f64[3,3] 4 1 0.5 -0.5 5.5 -0.75 0.0625 -0.2840909090909091 2.7556818181818183",
               "i64[3] 0 1 2"},
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3 1 5 -1 0.5 -1 3 4 1 0.5"},
          .outputs =
              {"f64[2,3,3] 4 1 0.5 -0.5 5.5 -0.75 0.0625 -0.2840909090909091 2.7556818181818183 4 "
               "1 0.5 0.25 4.75 -1.125 0.125 -0.23684210526315788 2.6710526315789473",
               "i32[2,3] 0 1 2 2 0 1"},
      },
      {
          .name = "empty",
          .inputs = {"f64[2,0,0]"},
          .outputs = {"f64[2,0,0]", "i32[2,0]"},
      },
      {
          .name = "singular",
          .inputs = {"f64[2,2] 0"},
          .error = "Input is not invertible.",
      },
      {
          .name = "not square",
          .inputs = {"f64[2,3] 1"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
      {.name = "a vector",
       .inputs = {"f32[3] 1"},
       .error = "Input tensor must have rank >= 2, got 1"},
  };
}

} // namespace
} // namespace troupe
