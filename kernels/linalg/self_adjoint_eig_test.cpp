// Cases of SelfAdjointEigV2; values are those of TensorFlow 2.21. Vectors are found up to a factor
// of magnitude 1.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SelfAdjointEigV2) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,3] 4 1 0.5 1 5 -1 0.5 -1 3"},
          .outputs = {"f32[3] 2.1599278 4.077063 5.763007", "?"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32, values alone",
          .inputs = {"f32[3,3] 4 1 0.5 1 5 -1 0.5 -1 3"},
          .attrs = {{"compute_v", false}},
          .outputs = {"f32[3] 2.1599278 4.077063 5.763007", "f32[0]"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64",
          .inputs = {"f64[3,3] 4 1 0.5 1 5 -1 0.5 -1 3"},
          .outputs = {"f64[3] 2.159928190835777 4.077063898617892 5.763007910546323", "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "float64, values alone",
          .inputs = {"f64[3,3] 4 1 0.5 1 5 -1 0.5 -1 3"},
          .attrs = {{"compute_v", false}},
          .outputs = {"f64[3] 2.159928190835777 4.077063898617892 5.763007910546323", "f64[0]"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "complex64",
          .inputs = {"c64[2,2] (2,0) (0,1) (-0,-1) (3,0)"},
          .outputs = {"c64[2] (1.3819659,0) (3.6180334,0)", "?"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64, values alone",
          .inputs = {"c64[2,2] (2,0) (0,1) (-0,-1) (3,0)"},
          .attrs = {{"compute_v", false}},
          .outputs = {"c64[2] (1.3819659,0) (3.6180334,0)", "c64[0]"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128",
          .inputs = {"c128[2,2] (2,0) (0,1) (-0,-1) (3,0)"},
          .outputs = {"c128[2] (1.381966011250105,0) (3.6180339887498945,0)", "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "complex128, values alone",
          .inputs = {"c128[2,2] (2,0) (0,1) (-0,-1) (3,0)"},
          .attrs = {{"compute_v", false}},
          .outputs = {"c128[2] (1.381966011250105,0) (3.6180339887498945,0)", "c128[0]"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,3,3] 4 1 0.5 1 5 -1 0.5 -1 3 8 2 1 2 10 -2 1 -2 6"},
          .outputs = {"f64[2,3] 2.159928190835777 4.077063898617892 5.763007910546323 "
                      "4.319856381671554 8.154127797235784 11.526015821092646",
                      "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "empty",
          .inputs = {"f64[2,0,0]"},
          .outputs = {"f64[2,0]", "f64[2,0,0]"},
      },
      {
          .name = "NaN",
          .inputs = {"f64[2,2] nan 1 1 2"},
          .error =
              "Self-adjoint eigen decomposition was not successful. The input might not be valid.",
      },
      {
          .name = "not square",
          .inputs = {"f64[2,3] 1"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
  };
}

TROUPE_OP_CASES(BatchSelfAdjointEigV2) {
  return {
      {.name = "values alone",
       .inputs = {"f32[2,2,2] 2 1 1 2 3 0 0 1"},
       .attrs = {{"compute_v", false}},
       .outputs = {"f32[2,2] 0.99999994 2.9999998 1 3", "f32[0]"}},
      {.name = "not square", .inputs = {"f32[2,3] 1"}, .error = "Input matrix must be square."},
  };
}

TROUPE_OP_CASES(SelfAdjointEig) {
  return {
      {.name = "a matrix alone", .inputs = {"f64[1,1] 3"}, .outputs = {"f64[2,1] 3 1"}},
      {.name = "nothing", .inputs = {"f32[0,0]"}, .outputs = {"f32[1,0]"}},
      {.name = "not square", .inputs = {"f32[2,3] 1"}, .error = "Input matrix must be square."},
      {.name = "NaN",
       .inputs = {"f32[2,2] nan"},
       .error =
           "Self Adjoint Eigen decomposition wasnot successful. The input might not be valid."},
  };
}

TROUPE_OP_CASES(BatchSelfAdjointEig) {
  return {
      {.name = "matrices of one number",
       .inputs = {"f32[2,1,1] 3 4"},
       .outputs = {"f32[2,2,1] 3 1 4 1"}},
      {.name = "not square", .inputs = {"f32[2,3] 1"}, .error = "Input matrix must be square."},
  };
}

} // namespace
} // namespace troupe
