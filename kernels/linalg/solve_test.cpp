// Cases of MatrixInverse and MatrixSolve; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(MatrixInverse) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs = {"f32[3,3] 0.22268042 -0.061855674 -0.05773196 0.09484536 0.1958763 "
                      "0.049484536 0.02886598 0.10309278 0.3628866"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 adjoint",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .attrs = {{"adjoint", true}},
          .outputs = {"f32[3,3] 0.2226804 0.09484537 0.028865982 -0.061855674 0.1958763 0.10309279 "
                      "-0.05773196 0.04948454 0.3628866"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs = {"f64[3,3] 0.22268041237113403 -0.061855670103092786 -0.057731958762886594 "
                      "0.09484536082474228 0.1958762886597938 0.049484536082474224 "
                      "0.028865979381443304 0.10309278350515465 0.3628865979381443"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "float64 adjoint",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .attrs = {{"adjoint", true}},
          .outputs = {"f64[3,3] 0.222680412371134 0.09484536082474226 0.028865979381443297 "
                      "-0.061855670103092786 0.1958762886597938 0.10309278350515463 "
                      "-0.057731958762886594 0.049484536082474224 0.3628865979381443"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "complex64",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .outputs =
              {"c64[3,3] (0.13636053,-0.109861605) (-0.03439033,0.03082843) "
               "(-0.034190197,0.028586408) (-0.026785191,-0.054368395) (0.11488144,-0.09708966) "
               "(0.04275801,-0.023301823) (-0.037313826,-0.012370385) (0.04535977,-0.05244811) "
               "(0.18800555,-0.18208763)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "complex64 adjoint",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .attrs = {{"adjoint", true}},
          .outputs = {"c64[3,3] (0.13636053,0.1098616) (-0.026785195,0.0543684) "
                      "(-0.037313826,0.012370385) (-0.034390334,-0.030828431) "
                      "(0.114881456,0.09708968) (0.04535977,0.0524481) (-0.034190197,-0.02858641) "
                      "(0.042758018,0.023301827) (0.18800555,0.18208763)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "complex128",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .outputs = {"c128[3,3] (0.13636052724246514,-0.10986160265293247) "
                      "(-0.034390334732591406,0.030828433396751738) "
                      "(-0.03419019945127466,0.028586411574405987) "
                      "(-0.026785194042555346,-0.0543683958523863) "
                      "(0.11488145151279475,-0.09708967833953586) "
                      "(0.04275801617802414,-0.023301826804447562) "
                      "(-0.03731382985461058,-0.012370387071767505) "
                      "(0.045359774835141746,-0.05244811049494216) "
                      "(0.18800556325414902,-0.1820876389863528)"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "complex128 adjoint",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .attrs = {{"adjoint", true}},
          .outputs = {"c128[3,3] (0.13636052724246514,0.10986160265293247) "
                      "(-0.026785194042555346,0.0543683958523863) "
                      "(-0.03731382985461059,0.012370387071767505) "
                      "(-0.034390334732591406,-0.03082843339675173) "
                      "(0.11488145151279475,0.09708967833953586) "
                      "(0.04535977483514174,0.05244811049494216) "
                      "(-0.03419019945127466,-0.02858641157440599) "
                      "(0.04275801617802414,0.02330182680444757) "
                      "(0.18800556325414902,0.1820876389863528)"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "half",
          .inputs = {"f16[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs =
              {"f16[3,3] 0.2227 -0.06186 -0.05774 0.09485 0.1959 0.0495 0.02887 0.1031 0.3628"},
          .tolerance = 0.005,
          .tolerance_reason = "TensorFlow computes in half",
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,1,3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3 4 1 0.5 1 5 -1 0.5 -1 3"},
          .outputs =
              {"f64[2,1,3,3] 0.22268041237113403 -0.061855670103092786 -0.057731958762886594 "
               "0.09484536082474228 0.1958762886597938 0.049484536082474224 0.028865979381443304 "
               "0.10309278350515465 0.3628865979381443 0.27586206896551724 -0.0689655172413793 "
               "-0.06896551724137931 -0.06896551724137931 0.23152709359605908 0.08866995073891625 "
               "-0.06896551724137931 0.08866995073891625 0.37438423645320196"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "no matrices",
          .inputs = {"f64[0,3,3]"},
          .outputs = {"f64[0,3,3]"},
      },
      {
          .name = "empty matrices",
          .inputs = {"f64[2,0,0]"},
          .outputs = {"f64[2,0,0]"},
      },
      {
          .name = "singular",
          .inputs = {"f64[2,2] 1 2 2 4"},
          .error = "Input is not invertible.",
      },
      {
          .name = "not square",
          .inputs = {"f64[2,3] 1"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
      {
          .name = "a vector",
          .inputs = {"f64[3] 1"},
          .error = "Shape must be at least rank 2 but is rank 1",
      },
  };
}

TROUPE_OP_CASES(MatrixSolve) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f32[3,2] 0 1 2 3 4 5"},
          .outputs = {"f32[3,2] -0.35463917 -0.25154644 0.58969074 0.929897 1.657732 2.1525774"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 adjoint",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f32[3,2] 0 1 2 3 4 5"},
          .attrs = {{"adjoint", true}},
          .outputs = {"f32[3,2] 0.30515468 0.65154636 0.8041238 1.0412371 1.5505155 1.9051547"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f64[3,2] 0 1 2 3 4 5"},
          .outputs = {"f64[3,2] -0.354639175257732 -0.2515463917525773 0.5896907216494846 "
                      "0.9298969072164948 1.6577319587628867 2.1525773195876288"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "float64 adjoint",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f64[3,2] 0 1 2 3 4 5"},
          .attrs = {{"adjoint", true}},
          .outputs = {"f64[3,2] 0.30515463917525776 0.6515463917525772 0.8041237113402062 "
                      "1.0412371134020617 1.5505154639175256 1.9051546391752576"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "complex64",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .outputs = {"c64[3,2] (-0.20554145,0.17600249) (-0.13776146,0.12555574) "
                      "(0.40079495,-0.28738663) (0.53164923,-0.46214655) (0.8427417,-0.8332467) "
                      "(1.0387933,-1.0801529)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "complex64 adjoint",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"adjoint", true}},
          .outputs =
              {"c64[3,2] (-0.2028257,0.15821835) (-0.13056418,0.3348187) (0.411202,0.4039718) "
               "(0.5370528,0.5226811) (0.8375383,0.7749542) (1.0341115,0.9517572)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "complex128",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .outputs =
              {"c128[3,2] (-0.20554146727028144,0.1760025130911274) "
               "(-0.13776147421168236,0.12555575540935263) (0.400794967737686,-0.2873866638968619) "
               "(0.5316492413859496,-0.46214656489323164) (0.8427418026868796,-0.8332467769352955) "
               "(1.03879331092156,-1.0801529134883578)"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "complex128 adjoint",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"adjoint", true}},
          .outputs =
              {"c128[3,2] (-0.20282570750355305,0.1582183399918426) "
               "(-0.13056420415825382,0.3348187255689289) (0.41120200236615634,0.4039717986588403) "
               "(0.5370528939815015,0.5226811540965666) (0.8375382853726444,0.7749542095543064) "
               "(1.034111665353543,0.9517572637707007)"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
          .check_gradient = false,
          .no_gradient_reason = "finite differences of a complex input are not taken",
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3 4 1 0.5 1 5 -1 0.5 -1 3",
                     "f64[2,3,2] 0 1 2 3 4 5 6 7 8 9 10 11"},
          .outputs = {"f64[2,3,2] -0.354639175257732 -0.2515463917525773 0.5896907216494846 "
                      "0.9298969072164948 1.6577319587628867 2.1525773195876288 0.4137931034482758 "
                      "0.5517241379310346 2.32512315270936 2.5763546798029555 4.039408866995074 "
                      "4.433497536945812"},
          .tolerance = 1e-11,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "no right-hand side",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f64[3,0]"},
          .outputs = {"f64[3,0]"},
      },
      {
          .name = "singular",
          .inputs = {"f64[2,2] 0", "f64[2,1] 1"},
          .error = "Input matrix is not invertible.",
      },
      {
          .name = "rows differ",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f64[2,1] 1"},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
      {
          .name = "ranks differ",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f64[1,3,1] 1"},
          .error = "Shapes must be equal rank, but are 0 and 1",
      },
  };
}

TROUPE_OP_CASES(BatchMatrixInverse) {
  return {
      {.name = "a matrix", .inputs = {"f32[2,2] 4 2 1 1"}, .outputs = {"f32[2,2] 0.5 -1 -0.5 2"}},
      {.name = "its adjoint",
       .inputs = {"f64[2,2] 4 2 1 1"},
       .attrs = {{"adjoint", true}},
       .outputs = {"f64[2,2] 0.5 -0.5 -1 2"}},
      {.name = "singular", .inputs = {"f32[2,2] 1"}, .error = "Input is not invertible."},
      {.name = "not square", .inputs = {"f32[2,3] 1"}, .error = "Input matrix must be square."},
  };
}

TROUPE_OP_CASES(BatchMatrixSolve) {
  return {
      {.name = "a matrix",
       .inputs = {"f32[2,2] 4 2 1 1", "f32[2,1] 2 1"},
       .outputs = {"f32[2,1] 0 1"}},
      {.name = "its adjoint",
       .inputs = {"f64[2,2] 4 2 1 1", "f64[2,1] 2 1"},
       .attrs = {{"adjoint", true}},
       .outputs = {"f64[2,1] 0.5 0"}},
      {.name = "rows that do not fit",
       .inputs = {"f32[2,2] 1", "f32[3,1] 1"},
       .error = "Input matrix and rhs are incompatible."},
      {.name = "not square",
       .inputs = {"f32[2,3] 1", "f32[2,1] 1"},
       .error = "First input (lhs) must be a square matrix."},
  };
}

} // namespace
} // namespace troupe
