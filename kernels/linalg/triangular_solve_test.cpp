// Cases of MatrixTriangularSolve and BandedTriangularSolve; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(MatrixTriangularSolve) {
  return {
      {
          .name = "float32 lower adjoint",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f32[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", true}, {"adjoint", true}},
          .outputs = {"f32[3,2] 0.31666666 0.6958333 0.8 1.1 1.3333334 1.6666667"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 lower",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f32[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", true}, {"adjoint", false}},
          .outputs = {"f32[3,2] 0 0.25 0.4 0.7 1.5333333 1.9958334"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 upper adjoint",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f32[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", false}, {"adjoint", true}},
          .outputs = {"f32[3,2] 0 0.25 0.4 0.55 1.4666667 1.8083334"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 upper",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f32[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", false}, {"adjoint", false}},
          .outputs = {"f32[3,2] -0.33333334 -0.19166669 0.6666667 0.9333334 1.3333334 1.6666667"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64 lower adjoint",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f64[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", true}, {"adjoint", true}},
          .outputs = {"f64[3,2] 0.3166666666666667 0.6958333333333334 0.8 1.1 1.3333333333333333 "
                      "1.6666666666666665"},
      },
      {
          .name = "float64 lower",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f64[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", true}, {"adjoint", false}},
          .outputs =
              {"f64[3,2] 0 0.25 0.4 0.7000000000000001 1.5333333333333332 1.9958333333333331"},
      },
      {
          .name = "float64 upper adjoint",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f64[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", false}, {"adjoint", true}},
          .outputs = {"f64[3,2] 0 0.25 0.4 0.55 1.4666666666666668 1.8083333333333331"},
      },
      {
          .name = "float64 upper",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3", "f64[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", false}, {"adjoint", false}},
          .outputs = {"f64[3,2] -0.3333333333333333 -0.19166666666666662 0.6666666666666666 "
                      "0.9333333333333332 1.3333333333333333 1.6666666666666665"},
      },
      {
          .name = "complex64 lower adjoint",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", true}, {"adjoint", true}},
          .outputs = {"c64[3,2] (-0.19166666,0.13333333) (-0.12708335,0.31666672) (0.33333334,0.4) "
                      "(0.46666673,0.5500001) (0.6666667,0.6666667) (0.8333334,0.8333334)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64 lower",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", true}, {"adjoint", false}},
          .outputs = {"c64[3,2] (0,0) (0.125,-0.125) (0.2,-0.2) (0.275,-0.35) "
                      "(0.73333335,-0.76666665) (0.8979167,-0.9916667)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64 upper adjoint",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", false}, {"adjoint", true}},
          .outputs = {"c64[3,2] (0,0) (0.125,0.125) (0.2,0.2) (0.275,0.275) "
                      "(0.73333335,0.73333335) (0.9041667,0.9041667)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64 upper",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", false}, {"adjoint", false}},
          .outputs = {"c64[3,2] (-0.16666667,0.16666667) (-0.095833346,0.095833346) "
                      "(0.33333334,-0.33333334) (0.4666667,-0.4666667) (0.6666667,-0.6666667) "
                      "(0.8333334,-0.8333334)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128 lower adjoint",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", true}, {"adjoint", true}},
          .outputs =
              {"c128[3,2] (-0.19166666666666665,0.13333333333333336) "
               "(-0.1270833333333333,0.31666666666666665) (0.33333333333333337,0.4) "
               "(0.4666666666666666,0.5499999999999999) (0.6666666666666666,0.6666666666666666) "
               "(0.8333333333333333,0.8333333333333333)"},
      },
      {
          .name = "complex128 lower",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", true}, {"adjoint", false}},
          .outputs =
              {"c128[3,2] (0,0) (0.125,-0.125) (0.2,-0.2) (0.275,-0.35) "
               "(0.7333333333333333,-0.7666666666666667) (0.8979166666666667,-0.9916666666666667)"},
      },
      {
          .name = "complex128 upper adjoint",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", false}, {"adjoint", true}},
          .outputs =
              {"c128[3,2] (0,0) (0.125,0.125) (0.2,0.2) (0.275,0.275) "
               "(0.7333333333333334,0.7333333333333334) (0.9041666666666666,0.9041666666666666)"},
      },
      {
          .name = "complex128 upper",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)",
               "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", false}, {"adjoint", false}},
          .outputs =
              {"c128[3,2] (-0.16666666666666666,0.16666666666666666) "
               "(-0.09583333333333331,0.09583333333333331) "
               "(0.3333333333333333,-0.3333333333333333) (0.4666666666666666,-0.4666666666666666) "
               "(0.6666666666666666,-0.6666666666666666) (0.8333333333333333,-0.8333333333333333)"},
      },
      {
          .name = "batches broadcast",
          .inputs = {"f64[2,1,3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3 4 1 0.5 1 5 -1 0.5 -1 3",
                     "f64[3,3,2] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"},
          .outputs =
              {"f64[2,3,3,2] 0 0.25 0.4 0.7000000000000001 1.5333333333333332 1.9958333333333331 "
               "1.5 1.75 2.2 2.5 4.308333333333334 4.770833333333333 3 3.25 4 4.3 "
               "7.083333333333333 7.5458333333333325 0 0.25 0.4 0.55 1.4666666666666668 "
               "1.8083333333333331 1.5 1.75 1.3 1.4500000000000002 3.5166666666666666 "
               "3.858333333333333 3 3.25 2.2 2.35 5.566666666666666 5.908333333333333"},
      },
      {
          .name = "not square",
          .inputs = {"f64[2,3] 1", "f64[3,1] 1"},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
      {
          .name = "batches differ",
          .inputs = {"f64[2,3,3] 1", "f64[3,3,1] 1"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
  };
}

TROUPE_OP_CASES(BandedTriangularSolve) {
  return {
      {
          .name = "float32 lower adjoint",
          .inputs = {"f32[2,3] 5.5 2.5 2 -0.5 6.5 0.5", "f32[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", true}, {"adjoint", true}},
          .outputs = {"f32[3,2] -0.4727273 -0.64545447 0.4 0.7 2 2.5"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 lower",
          .inputs = {"f32[2,3] 5.5 2.5 2 -0.5 6.5 0.5", "f32[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", true}, {"adjoint", false}},
          .outputs = {"f32[3,2] 0 0.18181819 0.8 0.7272727 1.8 2.3181818"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 upper adjoint",
          .inputs = {"f32[2,3] 5.5 2.5 2 -0.5 6.5 0.5", "f32[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", false}, {"adjoint", true}},
          .outputs = {"f32[3,2] -0 -2 0.30769232 2.1538463 6.4615383 -0.7692318"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 upper",
          .inputs = {"f32[2,3] 5.5 2.5 2 -0.5 6.5 0.5", "f32[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", false}, {"adjoint", false}},
          .outputs = {"f32[3,2] -30.46154 -39.23077 -2.7692308 -3.3846154 8 10"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64 lower adjoint",
          .inputs = {"f64[2,3] 5.5 2.5 2 -0.5 6.5 0.5", "f64[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", true}, {"adjoint", true}},
          .outputs = {"f64[3,2] -0.4727272727272727 -0.6454545454545454 0.4 0.7 2 2.5"},
      },
      {
          .name = "float64 lower",
          .inputs = {"f64[2,3] 5.5 2.5 2 -0.5 6.5 0.5", "f64[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", true}, {"adjoint", false}},
          .outputs =
              {"f64[3,2] 0 0.18181818181818182 0.8 0.7272727272727273 1.8 2.3181818181818183"},
      },
      {
          .name = "float64 upper adjoint",
          .inputs = {"f64[2,3] 5.5 2.5 2 -0.5 6.5 0.5", "f64[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", false}, {"adjoint", true}},
          .outputs = {"f64[3,2] -0 -2 0.3076923076923077 2.1538461538461537 6.461538461538462 "
                      "-0.7692307692307683"},
      },
      {
          .name = "float64 upper",
          .inputs = {"f64[2,3] 5.5 2.5 2 -0.5 6.5 0.5", "f64[3,2] 0 1 2 3 4 5"},
          .attrs = {{"lower", false}, {"adjoint", false}},
          .outputs = {"f64[3,2] -30.46153846153846 -39.23076923076923 -2.769230769230769 "
                      "-3.3846153846153846 8 10"},
      },
      {
          .name = "complex64 lower adjoint",
          .inputs = {"c64[2,3] (5.5,4) (2.5,1) (2,0.5) (-0.5,1) (6.5,5) (0.5,-1)",
                     "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", true}, {"adjoint", true}},
          .outputs =
              {"c64[3,2] (-0.9709556,0.65250814) (-1.3048407,0.8245821) (0.8194726,-0.5192698) "
               "(1.1967546,-0.58012176) (1.882353,0.47058824) (2.3529413,0.5882353)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64 lower",
          .inputs = {"c64[2,3] (5.5,4) (2.5,1) (2,0.5) (-0.5,1) (6.5,5) (0.5,-1)",
                     "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", true}, {"adjoint", false}},
          .outputs = {"c64[3,2] (0,0) (0.11891892,-0.08648649) (0.6896551,-0.27586207) "
                      "(0.6143523,-0.2587139) (1.9472616,-0.073022336) (2.4176307,-0.23255304)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64 upper adjoint",
          .inputs = {"c64[2,3] (5.5,4) (2.5,1) (2,0.5) (-0.5,1) (6.5,5) (0.5,-1)",
                     "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", false}, {"adjoint", true}},
          .outputs = {"c64[3,2] (-0,0) (-0.4,0.8) (0.19330853,0.14869888) (0.6394052,-0.43122673) "
                      "(1.204461,-2.7657993) (2.907063,-2.379182)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64 upper",
          .inputs = {"c64[2,3] (5.5,4) (2.5,1) (2,0.5) (-0.5,1) (6.5,5) (0.5,-1)",
                     "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", false}, {"adjoint", false}},
          .outputs = {"c64[3,2] (6.7003717,-2.5695171) (8.150187,-3.6847584) "
                      "(-0.59776956,-1.0171003) (-0.6988847,-1.3085501) (1.6,3.2) (2,4)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128 lower adjoint",
          .inputs = {"c128[2,3] (5.5,4) (2.5,1) (2,0.5) (-0.5,1) (6.5,5) (0.5,-1)",
                     "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", true}, {"adjoint", true}},
          .outputs =
              {"c128[3,2] (-0.9709555397182171,0.6525080861794856) "
               "(-1.304840743380297,0.8245819856367522) (0.81947261663286,-0.5192697768762676) "
               "(1.1967545638945232,-0.5801217038539552) (1.8823529411764706,0.47058823529411764) "
               "(2.3529411764705883,0.5882352941176471)"},
      },
      {
          .name = "complex128 lower",
          .inputs = {"c128[2,3] (5.5,4) (2.5,1) (2,0.5) (-0.5,1) (6.5,5) (0.5,-1)",
                     "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", true}, {"adjoint", false}},
          .outputs =
              {"c128[3,2] (0,0) (0.11891891891891891,-0.08648648648648649) "
               "(0.6896551724137931,-0.27586206896551724) (0.6143522833178006,-0.2587138863000932) "
               "(1.9472616632860043,-0.0730223123732251) "
               "(2.4176306123567786,-0.23255303985527115)"},
      },
      {
          .name = "complex128 upper adjoint",
          .inputs = {"c128[2,3] (5.5,4) (2.5,1) (2,0.5) (-0.5,1) (6.5,5) (0.5,-1)",
                     "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", false}, {"adjoint", true}},
          .outputs =
              {"c128[3,2] (-0,0) (-0.4,0.8) (0.19330855018587362,0.14869888475836432) "
               "(0.6394052044609666,-0.43122676579925656) (1.2044609665427508,-2.7657992565055762) "
               "(2.907063197026022,-2.3791821561338287)"},
      },
      {
          .name = "complex128 upper",
          .inputs = {"c128[2,3] (5.5,4) (2.5,1) (2,0.5) (-0.5,1) (6.5,5) (0.5,-1)",
                     "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)"},
          .attrs = {{"lower", false}, {"adjoint", false}},
          .outputs =
              {"c128[3,2] (6.700371747211895,-2.5695167286245355) "
               "(8.150185873605947,-3.6847583643122674) (-0.5977695167286246,-1.0171003717472118) "
               "(-0.6988847583643123,-1.308550185873606) (1.6,3.2) (2,4)"},
      },
      {
          .name = "batches broadcast",
          .inputs = {"f64[2,1,2,3] 6 3 2.5 0 7 1 6 3 2.5 3 7 1",
                     "f64[3,3,2] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"},
          .outputs = {"f64[2,3,3,2] 0 0.16666666666666666 0.6666666666666666 0.6111111111111112 "
                      "1.3333333333333335 1.7555555555555558 1 1.1666666666666667 "
                      "0.3333333333333333 0.2777777777777774 3.8666666666666663 4.28888888888889 2 "
                      "2.1666666666666665 0 -0.05555555555555536 6.4 6.822222222222223 0 "
                      "0.16666666666666666 0.6666666666666666 0.6111111111111112 "
                      "1.3333333333333335 1.7555555555555558 1 1.1666666666666667 "
                      "0.3333333333333333 0.2777777777777774 3.8666666666666663 4.28888888888889 2 "
                      "2.1666666666666665 0 -0.05555555555555536 6.4 6.822222222222223"},
      },
      {
          .name = "more bands than columns",
          .inputs = {"f64[5,2] 1", "f64[2,1] 1"},
          .outputs = {"f64[2,1] 1 0"},
      },
      {
          .name = "singular",
          .inputs = {"f64[2,3] 0", "f64[3,1] 1"},
          .error = "Input matrix is not invertible.",
      },
      {
          .name = "no bands",
          .inputs = {"f64[0,3]", "f64[3,1] 1"},
          .error = "In[0] must not be an empty tensor: Tensor<type: ",
      },
      {
          .name = "a vector",
          .inputs = {"f64[3] 1", "f64[3,1] 1"},
          .error = "Shape must be at least rank 2 but is rank 1",
      },
  };
}

TROUPE_OP_CASES(BatchMatrixTriangularSolve) {
  return {
      {.name = "lower", .inputs = {"f32[2,2] 2 9 1 4", "f32[2,1] 2 5"}, .outputs = {"f32[2,1] 1"}},
      {.name = "upper, adjoint",
       .inputs = {"f64[2,2] 2 1 9 4", "f64[2,1] 2 5"},
       .attrs = {{"lower", false}, {"adjoint", true}},
       .outputs = {"f64[2,1] 1"}},
      {.name = "not square",
       .inputs = {"f32[2,3] 1", "f32[2,1] 1"},
       .error = "In[0] matrices in the last dimensions must be square (3 =/= 2)"},
  };
}

} // namespace
} // namespace troupe
