// Cases of TridiagonalSolve and TridiagonalMatMul; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(TridiagonalSolve) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,4] 1 2 9 0 4 1 6 5 9 7 2 1", "f32[4,2] 0 1 2 3 4 5 6 7"},
          .outputs = {"f32[4,2] 0.76923084 0.965035 -3.0769236 -2.8601403 -0.1538462 -0.44755238 "
                      "1.2307694 1.4895105"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 without pivoting",
          .inputs = {"f32[3,4] 1 2 9 0 4 1 6 5 9 7 2 1", "f32[4,2] 0 1 2 3 4 5 6 7"},
          .attrs = {{"partial_pivoting", false}},
          .outputs = {"f32[4,2] 0.7692307 0.96503496 -3.076923 -2.8601398 -0.15384609 -0.4475525 "
                      "1.2307692 1.4895105"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64",
          .inputs = {"f64[3,4] 1 2 9 0 4 1 6 5 9 7 2 1", "f64[4,2] 0 1 2 3 4 5 6 7"},
          .outputs =
              {"f64[4,2] 0.7692307692307693 0.965034965034965 -3.076923076923076 -2.86013986013986 "
               "-0.15384615384615402 -0.44755244755244744 1.2307692307692308 1.4895104895104894"},
      },
      {
          .name = "float64 without pivoting",
          .inputs = {"f64[3,4] 1 2 9 0 4 1 6 5 9 7 2 1", "f64[4,2] 0 1 2 3 4 5 6 7"},
          .attrs = {{"partial_pivoting", false}},
          .outputs =
              {"f64[4,2] 0.7692307692307693 0.965034965034965 -3.076923076923077 -2.86013986013986 "
               "-0.15384615384615397 -0.4475524475524474 1.2307692307692308 1.4895104895104894"},
      },
      {
          .name = "complex64",
          .inputs = {"c64[3,4] (1,0.5) (2,0.5) (9,0.5) (0,0.5) (4,0.5) (1,0.5) (6,0.5) (5,0.5) "
                     "(9,0.5) (7,0.5) (2,0.5) (1,0.5)",
                     "c64[4,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0) (6,0) (7,0)"},
          .outputs = {"c64[4,2] (0.7996398,0.025780614) (0.995891,0.02841242) "
                      "(-2.7497118,0.87191343) (-2.620124,0.6984668) (-0.19682606,0.010535612) "
                      "(-0.47481522,0.07608522) (1.2298776,-0.10541228) (1.4908892,-0.11682443)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64 without pivoting",
          .inputs = {"c64[3,4] (1,0.5) (2,0.5) (9,0.5) (0,0.5) (4,0.5) (1,0.5) (6,0.5) (5,0.5) "
                     "(9,0.5) (7,0.5) (2,0.5) (1,0.5)",
                     "c64[4,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0) (6,0) (7,0)"},
          .attrs = {{"partial_pivoting", false}},
          .outputs = {"c64[4,2] (0.7996399,0.025780618) (0.99589086,0.02841237) "
                      "(-2.7497122,0.8719137) (-2.6201236,0.6984669) (-0.19682598,0.010535508) "
                      "(-0.47481507,0.07608515) (1.2298776,-0.10541227) (1.4908892,-0.11682444)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128",
          .inputs = {"c128[3,4] (1,0.5) (2,0.5) (9,0.5) (0,0.5) (4,0.5) (1,0.5) (6,0.5) (5,0.5) "
                     "(9,0.5) (7,0.5) (2,0.5) (1,0.5)",
                     "c128[4,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0) (6,0) (7,0)"},
          .outputs =
              {"c128[4,2] (0.7996397960760182,0.025780604620173904) "
               "(0.9958908791335992,0.02841239216443461) (-2.7497120322026696,0.8719136995826302) "
               "(-2.6201238596515584,0.6984669216012412) "
               "(-0.19682580785561635,0.010535545033643182) "
               "(-0.4748150265995876,0.07608516840324493) (1.229877488368684,-0.10541227705803538) "
               "(1.4908890782754187,-0.11682443884823207)"},
      },
      {
          .name = "complex128 without pivoting",
          .inputs = {"c128[3,4] (1,0.5) (2,0.5) (9,0.5) (0,0.5) (4,0.5) (1,0.5) (6,0.5) (5,0.5) "
                     "(9,0.5) (7,0.5) (2,0.5) (1,0.5)",
                     "c128[4,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0) (6,0) (7,0)"},
          .attrs = {{"partial_pivoting", false}},
          .outputs =
              {"c128[4,2] (0.7996397960760181,0.025780604620173952) "
               "(0.9958908791335993,0.028412392164434613) (-2.74971203220267,0.8719136995826302) "
               "(-2.620123859651559,0.6984669216012414) "
               "(-0.19682580785561632,0.010535545033643234) "
               "(-0.47481502659958763,0.07608516840324507) "
               "(1.2298774883686843,-0.10541227705803542) "
               "(1.490889078275419,-0.11682443884823214)"},
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,3,4] 1 2 9 0 4 1 6 5 9 7 2 1 2 4 18 0 8 2 12 10 18 14 4 2",
                     "f64[2,4,1] 0 1 2 3 4 5 6 7"},
          .outputs = {"f64[2,4,1] 0.38461538461538464 -1.538461538461538 -0.07692307692307701 "
                      "0.6153846153846154 0.583916083916084 -0.3356643356643354 "
                      "-0.6258741258741259 0.8251748251748252"},
      },
      {
          .name = "singular",
          .inputs = {"f64[3,3] 0", "f64[3,1] 1"},
          .outputs = {"f64[3,1] nan"},
      },
      {
          .name = "singular without pivoting",
          .inputs = {"f64[3,3] 0", "f64[3,1] 1"},
          .attrs = {{"partial_pivoting", false}},
          .outputs = {"f64[3,1] nan"},
      },
      {
          .name = "one row",
          .inputs = {"f64[3,1] 5 2 7", "f64[1,2] 1"},
          .outputs = {"f64[1,2] 0.5"},
      },
      {
          .name = "no rows",
          .inputs = {"f64[3,0]", "f64[0,2]"},
          .outputs = {"f64[0,2]"},
      },
      {
          .name = "two diagonals",
          .inputs = {"f64[2,3] 1", "f64[3,1] 1"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
      {
          .name = "rows differ",
          .inputs = {"f64[3,3] 1", "f64[2,1] 1"},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
      {
          .name = "perturbed without pivoting",
          .inputs = {"f64[3,3] 1", "f64[3,1] 1"},
          .attrs = {{"partial_pivoting", false}, {"perturb_singular", true}},
          .error = "Setting perturb_singular requires also setting partial_pivoting.",
      },
  };
}

TROUPE_OP_CASES(TridiagonalMatMul) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[1,4] 1 2 9 0", "f32[1,4] 4 1 6 5", "f32[1,4] 9 7 2 1",
                     "f32[4,2] 0 1 2 3 4 5 6 7"},
          .outputs = {"f32[4,2] 2 7 10 20 82 99 34 40"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64",
          .inputs = {"f64[1,4] 1 2 9 0", "f64[1,4] 4 1 6 5", "f64[1,4] 9 7 2 1",
                     "f64[4,2] 0 1 2 3 4 5 6 7"},
          .outputs = {"f64[4,2] 2 7 10 20 82 99 34 40"},
      },
      {
          .name = "complex64",
          .inputs = {"c64[1,4] (1,0.5) (2,0.5) (9,0.5) (0,0.5)",
                     "c64[1,4] (4,0.5) (1,0.5) (6,0.5) (5,0.5)",
                     "c64[1,4] (9,0.5) (7,0.5) (2,0.5) (1,0.5)",
                     "c64[4,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0) (6,0) (7,0)"},
          .outputs = {"c64[4,2] (2,1) (7,2) (10,3) (20,4.5) (82,6) (99,7.5) (34,5) (40,6)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128",
          .inputs = {"c128[1,4] (1,0.5) (2,0.5) (9,0.5) (0,0.5)",
                     "c128[1,4] (4,0.5) (1,0.5) (6,0.5) (5,0.5)",
                     "c128[1,4] (9,0.5) (7,0.5) (2,0.5) (1,0.5)",
                     "c128[4,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0) (6,0) (7,0)"},
          .outputs = {"c128[4,2] (2,1) (7,2) (10,3) (20,4.5) (82,6) (99,7.5) (34,5) (40,6)"},
      },
      {
          .name = "rows differ",
          .inputs = {"f64[1,3] 1", "f64[1,3] 1", "f64[1,2] 1", "f64[3,1] 1"},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
      {
          .name = "two rows of a diagonal",
          .inputs = {"f64[2,3] 1", "f64[1,3] 1", "f64[1,3] 1", "f64[3,1] 1"},
          .error = "Dimensions must be equal, but are 2 and 1",
      },
  };
}

} // namespace
} // namespace troupe
