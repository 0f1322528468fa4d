// Cases of Cholesky and CholeskyGrad; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Cholesky) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,3] 4 1 0.5 1 5 -1 0.5 -1 3"},
          .outputs = {"f32[3,3] 2 0 0 0.5 2.1794496 0 0.25 -0.5161854 1.6343355"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
          .check_gradient = false,
          .no_gradient_reason = "finite differences would leave the symmetric matrices",
      },
      {
          .name = "float64",
          .inputs = {"f64[3,3] 4 1 0.5 1 5 -1 0.5 -1 3"},
          .outputs =
              {"f64[3,3] 2 0 0 0.5 2.179449471770337 0 0.25 -0.5161854012087639 1.634335532128867"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences would leave the symmetric matrices",
      },
      {
          .name = "complex64",
          .inputs = {"c64[2,2] (2,0) (0,1) (-0,-1) (3,0)"},
          .outputs = {"c64[2,2] (1.4142135,0) (0,0) (-0,-0.70710677) (1.5811388,0)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
          .check_gradient = false,
          .no_gradient_reason = "finite differences would leave the symmetric matrices",
      },
      {
          .name = "complex128",
          .inputs = {"c128[2,2] (2,0) (0,1) (-0,-1) (3,0)"},
          .outputs = {"c128[2,2] (1.4142135623730951,0) (0,0) (-0,-0.7071067811865475) "
                      "(1.5811388300841898,0)"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences would leave the symmetric matrices",
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,3,3] 4 1 0.5 1 5 -1 0.5 -1 3 8 2 1 2 10 -2 1 -2 6"},
          .outputs =
              {"f64[2,3,3] 2 0 0 0.5 2.179449471770337 0 0.25 -0.5161854012087639 "
               "1.634335532128867 2.8284271247461903 0 0 0.7071067811865475 3.082207001484488 0 "
               "0.35355339059327373 -0.7299963950884315 2.311299475004893"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences would leave the symmetric matrices",
      },
      {
          .name = "only the lower triangle is read",
          .inputs = {"f64[2,2] 4 99 2 5"},
          .outputs = {"f64[2,2] 2 0 1 2"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences would leave the symmetric matrices",
      },
      {
          .name = "empty",
          .inputs = {"f64[2,0,0]"},
          .outputs = {"f64[2,0,0]"},
      },
      {
          .name = "not positive definite",
          .inputs = {"f64[2,2] -1 -0 -0 -1"},
          .outputs = {"f64[2,2] nan 0 nan nan"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences would leave the symmetric matrices",
      },
      {
          .name = "not square",
          .inputs = {"f64[2,3] 1"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
  };
}

TROUPE_OP_CASES(CholeskyGrad) {
  return {
      {
          .name = "float64",
          .inputs =
              {"f64[3,3] 2 0 0 0.5 2.179449471770337 0 0.25 -0.5161854012087639 1.634335532128867",
               "f64[3,3] 1 2 3 4 5 6 7 8 9"},
          .outputs = {"f64[3,3] 0.08825091153228778 0.2550158772096831 0.7839609533223315 "
                      "0.2550158772096831 1.7362115406483847 2.487449901025766 0.7839609533223315 "
                      "2.487449901025766 2.753412571369816"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "float32",
          .inputs = {"f32[3,3] 2 0 0 0.5 2.1794496 0 0.25 -0.5161854 1.6343355",
                     "f32[3,3] 1 2 3 4 5 6 7 8 9"},
          .outputs = {"f32[3,3] 0.088250905 0.2550159 0.783961 0.2550159 1.7362114 2.48745 "
                      "0.783961 2.48745 2.7534125"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,3,3] 2 0 0 0.5 2.179449471770337 0 0.25 -0.5161854012087639 "
                     "1.634335532128867 4 0 0 1 4.358898943540674 0 0.5 -1.0323708024175278 "
                     "3.268671064257734",
                     "f64[2,3,3] 1 2 3 4 5 6 7 8 9 1 4 7 2 5 8 3 6 9"},
          .outputs =
              {"f64[2,3,3] 0.08825091153228778 0.2550158772096831 0.7839609533223315 "
               "0.2550158772096831 1.7362115406483847 2.487449901025766 0.7839609533223315 "
               "2.487449901025766 2.753412571369816 0.15139101581233402 -0.08023126831373917 "
               "-0.05066558987119382 -0.08023126831373917 0.8137704649337961 1.0143092166423213 "
               "-0.05066558987119382 1.0143092166423213 1.376706285684908"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "shapes differ",
          .inputs =
              {"f64[3,3] 2 0 0 0.5 2.179449471770337 0 0.25 -0.5161854012087639 1.634335532128867",
               "f64[2,2] 1"},
          .error = "Dimension 0 in both shapes must be equal, but are 3 and 2",
      },
  };
}

TROUPE_OP_CASES(BatchCholesky) {
  return {
      {.name = "matrices",
       .inputs = {"f32[2,2,2] 4 2 2 5 9 3 3 5"},
       .outputs = {"f32[2,2,2] 2 0 1 2 3 0 1 2"},
       .check_gradient = false,
       .no_gradient_reason = "finite differences would leave the symmetric matrices"},
      {.name = "double",
       .inputs = {"f64[2,2] 4 2 2 5"},
       .outputs = {"f64[2,2] 2 0 1 2"},
       .check_gradient = false,
       .no_gradient_reason = "finite differences would leave the symmetric matrices"},
      {.name = "not square", .inputs = {"f32[2,3] 1"}, .error = "Input matrix must be square."},
  };
}

TROUPE_OP_CASES(BatchCholeskyGrad) {
  return {
      {.name = "a matrix",
       .inputs = {"f32[2,2] 2 0 1 2", "f32[2,2] 1 0 0.5 1"},
       .outputs = {"f32[2,2] 0.25 0 0 0.25"}},
      {.name = "not square",
       .inputs = {"f32[2,3] 1", "f32[2,3] 1"},
       .error = "Inputs must be a square matrices."},
      {.name = "not the same shape",
       .inputs = {"f32[2,3] 1", "f32[2,2] 1"},
       .error = "Inputs (L and grad) must have the same shape."},
  };
}

} // namespace
} // namespace troupe
