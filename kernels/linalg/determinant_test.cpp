// Cases of MatrixDeterminant and LogMatrixDeterminant; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(MatrixDeterminant) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs = {"f32[] 60.624992"},
      },
      {
          .name = "float64",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs = {"f64[] 60.62500000000004"},
      },
      {
          .name = "complex64",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .outputs = {"c64[] (-100.75,120.500015)"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "complex128",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .outputs = {"c128[] (-100.74999999999999,120.5)"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3 -4 -1 -0.5 -1 -5 1 -0.5 1 -3"},
          .outputs = {"f64[2] 60.62500000000004 -50.74999999999998"},
      },
      {
          .name = "singular",
          .inputs = {"f64[2,2] 1 2 2 4"},
          .outputs = {"f64[] -0"},
          .check_gradient = false,
          .no_gradient_reason = "there is no inverse",
      },
      {
          .name = "empty",
          .inputs = {"f64[0,0]"},
          .outputs = {"f64[] 1"},
      },
      {
          .name = "no matrices",
          .inputs = {"f64[0,2,2]"},
          .outputs = {"f64[0]"},
      },
      {
          .name = "not square",
          .inputs = {"f64[2,3] 1"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 1"},
          .error = "Shape must be at least rank 2 but is rank 0",
      },
  };
}

TROUPE_OP_CASES(LogMatrixDeterminant) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs = {"f32[] 1", "f32[] 4.1047072"},
      },
      {
          .name = "float64",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs = {"f64[] 1", "f64[] 4.104707349257648"},
      },
      {
          .name = "complex64",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .outputs = {"c64[] (-0.64143586,0.76717645)", "c64[] (5.0566883,0)"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "complex128",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .outputs = {"c128[] (-0.641435996820683,0.7671765520287078)",
                      "c128[] (5.056688071859807,0)"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3 -4 -1 -0.5 -1 -5 1 -0.5 1 -3"},
          .outputs = {"f64[2] 1 -1", "f64[2] 4.104707349257648 3.9269116179218964"},
      },
      {
          .name = "singular",
          .inputs = {"f64[2,2] 1 2 2 4"},
          .outputs = {"f64[] -0", "f64[] -inf"},
          .check_gradient = false,
          .no_gradient_reason = "there is no inverse",
      },
      {
          .name = "empty",
          .inputs = {"f64[0,0]"},
          .outputs = {"f64[] 1", "f64[] 0"},
      },
      {
          .name = "no matrices",
          .inputs = {"f64[0,2,2]"},
          .outputs = {"f64[0]", "f64[0]"},
      },
      {
          .name = "not square",
          .inputs = {"f64[2,3] 1"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 1"},
          .error = "Shape must be at least rank 2 but is rank 0",
      },
  };
}

TROUPE_OP_CASES(BatchMatrixDeterminant) {
  return {
      {.name = "matrices", .inputs = {"f32[2,2,2] 4 2 2 5 9 3 3 5"}, .outputs = {"f32[2] 16 36"}},
      {.name = "complex",
       .inputs = {"c64[2,2] (0,1) (2,0) (1,0) (0,1)"},
       .outputs = {"c64[] (-3,0)"}},
      {.name = "not square", .inputs = {"f32[2,3] 1"}, .error = "Input matrix must be square."},
  };
}

} // namespace
} // namespace troupe
