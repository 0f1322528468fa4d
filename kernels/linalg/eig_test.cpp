// Cases of Eig; values are those of TensorFlow 2.21. Vectors are found up to a factor of magnitude
// 1.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Eig) {
  return {
      {
          .name = "eigenvalues of real numbers in TensorFlow's order",
          .inputs = {"f64[3,3] 1.764052345967664 0.4001572083672233 0.9787379841057392 "
                     "2.240893199201458 1.8675579901499675 -0.977277879876411 0.9500884175255894 "
                     "-0.1513572082976979 -0.10321885179355784"},
          .attrs = {{"Tout", DType::complex128}},
          .outputs = {"c128[3] (2.82399449,0) (-0.7286127,0) (1.43300969,0)", "?"},
          .tolerance = 1e-08,
          .tolerance_reason = "eight decimals of TensorFlow's are written here",
      },
      {
          .name = "float32",
          .inputs = {"f32[3,3] 1 1 2 0 2 5 0 0 3"},
          .attrs = {{"Tout", DType::complex64}},
          .outputs = {"c64[3] (1,0) (2,0) (3,0)", "?"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32, values alone",
          .inputs = {"f32[3,3] 1 1 2 0 2 5 0 0 3"},
          .attrs = {{"compute_v", false}, {"Tout", DType::complex64}},
          .outputs = {"c64[3] (1,0) (2,0) (3,0)", "c64[0]"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64",
          .inputs = {"f64[3,3] 1 1 2 0 2 5 0 0 3"},
          .attrs = {{"Tout", DType::complex128}},
          .outputs = {"c128[3] (1,0) (2,0) (3,0)", "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "float64, values alone",
          .inputs = {"f64[3,3] 1 1 2 0 2 5 0 0 3"},
          .attrs = {{"compute_v", false}, {"Tout", DType::complex128}},
          .outputs = {"c128[3] (1,0) (2,0) (3,0)", "c128[0]"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "complex64",
          .inputs = {"c64[3,3] (1,0) (1,0) (2,0) (0,0) (2,0) (5,0) (0,0) (0,0) (3,0)"},
          .attrs = {{"Tout", DType::complex64}},
          .outputs = {"c64[3] (1,0) (2,0) (3,0)", "?"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64, values alone",
          .inputs = {"c64[3,3] (1,0) (1,0) (2,0) (0,0) (2,0) (5,0) (0,0) (0,0) (3,0)"},
          .attrs = {{"compute_v", false}, {"Tout", DType::complex64}},
          .outputs = {"c64[3] (1,0) (2,0) (3,0)", "c64[0]"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128",
          .inputs = {"c128[3,3] (1,0) (1,0) (2,0) (0,0) (2,0) (5,0) (0,0) (0,0) (3,0)"},
          .attrs = {{"Tout", DType::complex128}},
          .outputs = {"c128[3] (1,0) (2,0) (3,0)", "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "complex128, values alone",
          .inputs = {"c128[3,3] (1,0) (1,0) (2,0) (0,0) (2,0) (5,0) (0,0) (0,0) (3,0)"},
          .attrs = {{"compute_v", false}, {"Tout", DType::complex128}},
          .outputs = {"c128[3] (1,0) (2,0) (3,0)", "c128[0]"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "empty",
          .inputs = {"f64[2,0,0]"},
          .attrs = {{"Tout", DType::complex128}},
          .outputs = {"c128[2,0]", "c128[2,0,0]"},
      },
      {
          .name = "NaN",
          .inputs = {"f64[2,2] nan 1 1 2"},
          .attrs = {{"Tout", DType::complex128}},
          .error = "Eigen decomposition was not successful. The input might not be valid.",
      },
      {
          .name = "not square",
          .inputs = {"f64[2,3] 1"},
          .attrs = {{"Tout", DType::complex128}},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
  };
}

} // namespace
} // namespace troupe
