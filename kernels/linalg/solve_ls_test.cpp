// Cases of MatrixSolveLs; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(MatrixSolveLs) {
  return {
      {
          .name = "float32 tall",
          .inputs = {"f32[3,2] 4 1 -2 5 0.25 -1.5", "f32[3,2] 0 1 2 3 4 5", "f64[] 0.1"},
          .attrs = {{"fast", true}},
          .outputs = {"f32[2,2] -0.11215402 0.06200959 0.11587366 0.31376758"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 wide",
          .inputs = {"f32[2,3] 4 1 0.5 -2 5 -1", "f32[2,2] 0 1 2 3", "f64[] 0.1"},
          .attrs = {{"fast", true}},
          .outputs = {"f32[3,2] -0.08117887 0.10059115 0.353932 0.624234 -0.061178274 -0.06911969"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 tall, slowly",
          .inputs = {"f32[3,2] 4 1 -2 5 0.25 -1.5", "f32[3,2] 0 1 2 3 4 5", "f64[] 0"},
          .attrs = {{"fast", false}},
          .outputs = {"f32[2,2] -0.112615846 0.062722765 0.11617964 0.31503922"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32 wide, slowly",
          .inputs = {"f32[2,3] 4 1 0.5 -2 5 -1", "f32[2,2] 0 1 2 3", "f64[] 0"},
          .attrs = {{"fast", false}},
          .outputs =
              {"f32[3,2] -0.08114798 0.101929665 0.35526967 0.62691736 -0.06135577 -0.069272645"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64 tall",
          .inputs = {"f64[3,2] 4 1 -2 5 0.25 -1.5", "f64[3,2] 0 1 2 3 4 5", "f64[] 0.1"},
          .attrs = {{"fast", true}},
          .outputs = {"f64[2,2] -0.11215402108891102 0.062009591005078 0.1158736548697775 "
                      "0.31376758880625655"},
          .tolerance = 1e-10,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "float64 wide",
          .inputs = {"f64[2,3] 4 1 0.5 -2 5 -1", "f64[2,2] 0 1 2 3", "f64[] 0.1"},
          .attrs = {{"fast", true}},
          .outputs = {"f64[3,2] -0.0811788582017118 0.10059119385864296 0.35393197839152124 "
                      "0.6242340460993949 -0.06117826994911614 -0.06911967999058792"},
          .tolerance = 1e-10,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "float64 tall, slowly",
          .inputs = {"f64[3,2] 4 1 -2 5 0.25 -1.5", "f64[3,2] 0 1 2 3 4 5", "f64[] 0"},
          .attrs = {{"fast", false}},
          .outputs = {"f64[2,2] -0.11261582323592315 0.0627227369921595 0.1161796151104775 "
                      "0.31503920171062"},
          .tolerance = 1e-10,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "float64 wide, slowly",
          .inputs = {"f64[2,3] 4 1 0.5 -2 5 -1", "f64[2,2] 0 1 2 3", "f64[] 0"},
          .attrs = {{"fast", false}},
          .outputs = {"f64[3,2] -0.0811479465611083 0.10192973775358737 0.3552696684809502 "
                      "0.6269173676397826 -0.061355764473033175 -0.06927263730826326"},
          .tolerance = 1e-10,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "complex64 tall",
          .inputs = {"c64[3,2] (4,4) (1,1) (-2,1) (5,5) (0.25,0.5) (-1.5,-1)",
                     "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)", "f64[] 0.1"},
          .attrs = {{"fast", true}},
          .outputs = {"c64[2,2] (-0.047170933,-0.08116848) (0.05383843,-0.20430858) "
                      "(0.052814733,-0.09292753) (0.097978674,-0.20499551)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64 wide",
          .inputs = {"c64[2,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1)",
                     "c64[2,2] (0,0) (1,0) (2,0) (3,0)", "f64[] 0.1"},
          .attrs = {{"fast", true}},
          .outputs = {"c64[3,2] (-0.045609035,0.036974315) (0.05690057,-0.054907937) "
                      "(0.19926277,-0.1726944) (0.2834513,-0.31001964) (-0.034428176,0.047712363) "
                      "(-0.026429994,0.059640452)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64 tall, slowly",
          .inputs = {"c64[3,2] (4,4) (1,1) (-2,1) (5,5) (0.25,0.5) (-1.5,-1)",
                     "c64[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)", "f64[] 0"},
          .attrs = {{"fast", false}},
          .outputs = {"c64[2,2] (-0.047245145,-0.08135917) (0.05414922,-0.20481928) "
                      "(0.052863125,-0.0930689) (0.09801003,-0.20542845)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64 wide, slowly",
          .inputs = {"c64[2,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1)",
                     "c64[2,2] (0,0) (1,0) (2,0) (3,0)", "f64[] 0"},
          .attrs = {{"fast", false}},
          .outputs = {"c64[3,2] (-0.045618914,0.03727399) (0.057301823,-0.054798327) "
                      "(0.19972181,-0.17301807) (0.28400555,-0.31070933) "
                      "(-0.034492344,0.047844224) (-0.026425587,0.059805285)"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128 tall",
          .inputs = {"c128[3,2] (4,4) (1,1) (-2,1) (5,5) (0.25,0.5) (-1.5,-1)",
                     "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)", "f64[] 0.1"},
          .attrs = {{"fast", true}},
          .outputs = {"c128[2,2] (-0.04717092320716481,-0.08116847037303687) "
                      "(0.053838429485733204,-0.20430855602692055) "
                      "(0.05281473155205402,-0.09292752690069388) "
                      "(0.09797866802082147,-0.20499551121925788)"},
          .tolerance = 1e-10,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "complex128 wide",
          .inputs = {"c128[2,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1)",
                     "c128[2,2] (0,0) (1,0) (2,0) (3,0)", "f64[] 0.1"},
          .attrs = {{"fast", true}},
          .outputs =
              {"c128[3,2] (-0.04560902438754385,0.03697430617825157) "
               "(0.05690057896892611,-0.05490795168985866) (0.199262727906745,-0.1726943641858457) "
               "(0.28345123044734477,-0.3100195941682441) "
               "(-0.03442817132166539,0.04771235318211506) "
               "(-0.026429986826519647,0.05964044147764381)"},
          .tolerance = 1e-10,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "complex128 tall, slowly",
          .inputs = {"c128[3,2] (4,4) (1,1) (-2,1) (5,5) (0.25,0.5) (-1.5,-1)",
                     "c128[3,2] (0,0) (1,0) (2,0) (3,0) (4,0) (5,0)", "f64[] 0"},
          .attrs = {{"fast", false}},
          .outputs = {"c128[2,2] (-0.04724516041694873,-0.08135914444294035) "
                      "(0.05414918099363739,-0.2048192771084337) "
                      "(0.052863137945038545,-0.09306890483281438) "
                      "(0.09801001759848374,-0.20542845539461213)"},
          .tolerance = 1e-10,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "complex128 wide, slowly",
          .inputs = {"c128[2,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1)",
                     "c128[2,2] (0,0) (1,0) (2,0) (3,0)", "f64[] 0"},
          .attrs = {{"fast", false}},
          .outputs =
              {"c128[3,2] (-0.04561891515994439,0.037273991655076485) "
               "(0.05730180806675941,-0.05479833101529909) "
               "(0.1997218358831711,-0.1730180806675939) (0.2840055632823367,-0.3107093184979139) "
               "(-0.03449235048678722,0.047844228094575815) "
               "(-0.02642559109874828,0.05980528511821977)"},
          .tolerance = 1e-10,
          .tolerance_reason = "condition of the matrices",
      },
      {
          .name = "rank deficient",
          .inputs = {"f64[2,2] 0", "f64[2,1] 1", "f64[] 0"},
          .error = "Input matrix was rank deficient or ill-conditioned. Try setting fast=False",
      },
      {
          .name = "a negative regularizer",
          .inputs = {"f64[2,2] 1", "f64[2,1] 1", "f64[] -1"},
          .error = "l2_regularizer must be >= 0.",
      },
      {
          .name = "a vector of regularizers",
          .inputs = {"f64[2,2] 1", "f64[2,1] 1", "f64[1] 0"},
          .error = "Shape must be rank 0 but is rank 1",
      },
      {.name = "more right sides than equations",
       .inputs = {"f32[2,2] 1", "f32[3,1] 1", "f64[] -1"},
       .error = "Input matrix and rhs are incompatible."},
      {.name = "no matrices, whatever the regularizer",
       .inputs = {"f32[0,2,1]", "f32[0,2,4]", "f64[] -1"},
       .outputs = {"f32[0,1,4]"}},
  };
}

TROUPE_OP_CASES(BatchMatrixSolveLs) {
  return {
      {.name = "a matrix",
       .inputs = {"f32[3,2] 1 0 0 1 1 1", "f32[3,1] 1 2 3", "f64[] 0"},
       .outputs = {"f32[2,1] 1 1.9999998"}},
      {.name = "regularised",
       .inputs = {"f64[3,2] 1 0 0 1 1 1", "f64[3,1] 1 2 3", "f64[] 1"},
       .outputs = {"f64[2,1] 0.8750000000000004 1.3749999999999993"}},
      {.name = "rows that do not fit",
       .inputs = {"f32[3,2] 1", "f32[2,1] 1", "f64[] 0"},
       .error = "Input matrix and rhs are incompatible."},
  };
}

} // namespace
} // namespace troupe
