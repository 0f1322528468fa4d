// Cases of MatrixSquareRoot and MatrixLogarithm; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(MatrixLogarithmWithoutResult) {
  return {
      {.name = "no decomposition",
       .op = "MatrixLogarithm",
       .inputs = {"c128[3,3] (4,1e+30) (1,0.5) (1e+300,0.25) (-2,0.5) (5,2.5) (-1,-0.5) "
                  "(0.25,-1e+30) (-1.5,-0.5) (3,1.5)"},
       .outputs = {"?"}},
      {.name = "no eigenvalue but 0",
       .op = "MatrixLogarithm",
       .inputs = {"c128[3,3] (0,0) (1,0) (0,0) (0,0) (0,0) (1,0) (0,0) (0,0) (0,0)"},
       .outputs = {"?"}},
      {.name = "of a rotation by a right angle",
       .op = "MatrixLogarithm",
       .inputs = {"c128[2,2] (0,0) (-1,0) (1,0) (0,0)"},
       .outputs = {"c128[2,2] (0,0) (-1.5707963267948966,0) (1.5707963267948966,0) (0,0)"},
       .tolerance = 1e-14,
       .tolerance_reason = "a sum of eight terms"},
  };
}

TROUPE_OP_CASES(MatrixSquareRoot) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs = {"f32[3,3] 2.0280085 0.24755445 0.14956498 -0.4673398 2.2418413 -0.23565304 "
                      "0.019240797 -0.38125032 1.7050743"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs = {"f64[3,3] 2.028007465538857 0.24755484755647766 0.14956463436882383 "
                      "-0.46733885293847727 2.2418405761691824 -0.23565305805313008 "
                      "0.01924063283546118 -0.38125042925417013 1.705074617794518"},
          .tolerance = 1e-10,
          .tolerance_reason = "sums of many terms",
      },
      {
          .name = "complex64",
          .inputs = {"c64[3,3] (4,2) (1,0.5) (0.5,0.25) (-2,0.5) (5,2.5) (-1,-0.5) (0.25,0.25) "
                     "(-1.5,-0.5) (3,1.5)"},
          .outputs =
              {"c64[3,3] (2.081919,0.47025657) (0.254897,0.060693532) (0.15432471,0.038183868) "
               "(-0.40690187,0.21139026) (2.3033142,0.5284048) (-0.24535358,-0.07048516) "
               "(0.039385796,0.07280493) (-0.3803782,-0.040093273) (1.754183,0.413472)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128",
          .inputs = {"c128[3,3] (4,2) (1,0.5) (0.5,0.25) (-2,0.5) (5,2.5) (-1,-0.5) (0.25,0.25) "
                     "(-1.5,-0.5) (3,1.5)"},
          .outputs =
              {"c128[3,3] (2.0819201079516936,0.47025677012238554) "
               "(0.25489701037554735,0.060693616497550784) "
               "(0.15432479384197811,0.03818367002508283) "
               "(-0.40690198145472256,0.2113903899610013) (2.303314731027256,0.5284048956685257) "
               "(-0.24535352670727628,-0.0704850295465412) "
               "(0.03938579656396063,0.07280507956961291) "
               "(-0.38037811616759987,-0.04009337663061807) "
               "(1.7541835529311969,0.4134722561702009)"},
          .tolerance = 1e-10,
          .tolerance_reason = "sums of many terms",
      },
      {
          .name = "negative eigenvalues have no real root",
          .inputs = {"f64[2,2] 1 1 0 -2"},
          .outputs = {"f64[2,2] nan"},
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,3,3] 4 1 0.5 1 5 -1 0.5 -1 3 8 2 1 2 10 -2 1 -2 6"},
          .outputs =
              {"f64[2,3,3] 1.978516394515695 0.24870886006419723 0.153677518063584 "
               "0.24870886006419735 2.2062801917002597 -0.2654649103679027 0.15367751806358376 "
               "-0.26546491036790293 1.7046734589959385 2.798044718501613 0.35172744298514014 "
               "0.217332830277357 0.35172744298514047 3.12015136949762 -0.37542407657644633 "
               "0.21733283027735661 -0.37542407657644655 2.4107723251295123"},
          .tolerance = 1e-10,
          .tolerance_reason = "sums of many terms",
      },
      {
          .name = "empty",
          .inputs = {"f64[2,0,0]"},
          .outputs = {"f64[2,0,0]"},
      },
      {
          .name = "not square",
          .inputs = {"f64[2,3] 1"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
  };
}

TROUPE_OP_CASES(MatrixLogarithm) {
  return {
      {
          .name = "complex64",
          .inputs = {"c64[3,3] (4,2) (1,0.5) (0.5,0.25) (-2,0.5) (5,2.5) (-1,-0.5) (0.25,0.25) "
                     "(-1.5,-0.5) (3,1.5)"},
          .outputs =
              {"c64[3,3] (1.5345873,0.42448154) (0.24742234,0.0023915619) (0.1774347,0.004699856) "
               "(-0.31045246,0.2661935) (1.7180542,0.4360661) (-0.23358956,-0.024753049) "
               "(0.027903438,0.09303692) (-0.37078485,0.039428845) (1.1520529,0.4598052)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128",
          .inputs = {"c128[3,3] (4,2) (1,0.5) (0.5,0.25) (-2,0.5) (5,2.5) (-1,-0.5) (0.25,0.25) "
                     "(-1.5,-0.5) (3,1.5)"},
          .outputs =
              {"c128[3,3] (1.5345881284600074,0.42448169097464405) "
               "(0.24742237348769308,0.002391550842815976) "
               "(0.17743463716024005,0.004699683492332074) "
               "(-0.3104524670259838,0.2661935019461604) (1.7180544728540013,0.43606620446117006) "
               "(-0.23358962174692888,-0.024753059721691076) "
               "(0.0279034118613469,0.09303708764570451) "
               "(-0.37078479925820435,0.039428815798147415) "
               "(1.1520533506580013,0.45980534174773113)"},
          .tolerance = 1e-10,
          .tolerance_reason = "sums of many terms",
      },
      {
          .name = "not square",
          .inputs = {"c128[2,3] (1,0)"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
  };
}

TROUPE_OP_CASES(MatrixExponential) {
  return {
      {
          .name = "of zero",
          .inputs = {"f64[2,2] 0"},
          .outputs = {"f64[2,2] 1 0 0 1"},
      },
      {
          .name = "of a diagonal",
          .inputs = {"f32[2,2,2] 1 0 0 2 0 1 -1 0"},
          .outputs = {"f32[2,2,2] 2.7182817 0 0 7.389056 0.5403023 0.84147096 "
                      "-0.84147096 0.5403023"},
      },
      {
          .name = "complex",
          .inputs = {"c128[1,1] (0,3.141592653589793)"},
          .outputs = {"c128[1,1] (-1,1.2246467991473532e-16)"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0,0]"},
          .outputs = {"f32[0,0]"},
      },
      {.name = "not square", .inputs = {"f32[1,2] 1 2"}, .error = "square"},
  };
}

} // namespace
} // namespace troupe
