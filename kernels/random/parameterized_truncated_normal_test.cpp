// Cases of ParameterizedTruncatedNormal; numbers are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ParameterizedTruncatedNormal) {
  return {
      {
          .name = "most is inside",
          .inputs = {"i32[1] 10", "f32[] 1", "f32[] 2", "f32[] -3", "f32[] 4"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .outputs = {"f32[10] 2.070558 1.2640731 -2.7582164 1.2072299 0.94629544 2.6937637 "
                      "-1.9633396 3.1558523 3.2137964 -1.8533585"},
      },
      {
          .name = "a narrow part",
          .inputs = {"i32[2] 2 3", "f64[] 0", "f64[] 1", "f64[] 0.5", "f64[] 0.7"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .outputs = {"f64[2,3] 0.674410674054738 0.5722899622316535 0.5850174643557108 "
                      "0.6376236839996207 0.5372309824995743 0.5944924614596772"},
      },
      {
          .name = "a tail",
          .inputs = {"i32[1] 9", "f32[] 0", "f32[] 1", "f32[] 3", "f32[] 20"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .outputs = {"f32[9] 3.0460155 3.5361829 3.361385 3.330207 3.3242335 3.5162807 3.2787433 "
                      "3.0206544 3.364808"},
      },
      {
          .name = "the other tail, without an end",
          .inputs = {"i32[1] 7", "f64[] 0", "f64[] 1", "f64[] -inf", "f64[] -2"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .outputs =
              {"f64[7] -2.0567077638190363 -2.220529470600286 -2.3543434108261327 "
               "-2.123781634639074 -2.696365936807369 -2.3817963710733543 -2.88396998824771"},
      },
      {
          .name = "one row with vectors",
          .inputs = {"i64[2] 1 6", "f32[1] 1", "f32[1] 2", "f32[1] 0", "f32[1] 3"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .outputs = {"f32[1,6] 2.57702 0.51054347 2.276301 0.9094076 0.3686689 1.0080442"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[2] 0 3", "f32[] 1", "f32[] 2", "f32[] -3", "f32[] 4"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "half",
          .inputs = {"i32[1] 4", "f16[] 1", "f16[] 2", "f16[] -3", "f16[] 4"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .outputs = {"f16[4] 2.0703125 1.263671875 -2.7578125 1.20703125"},
      },
      {
          .name = "half, a tail",
          .inputs = {"i32[1] 5", "f16[] 0", "f16[] 1", "f16[] 3", "f16[] 20"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .outputs = {"f16[5] 3.005859375 3.6328125 3.3828125 3.234375 3.375"},
      },
      {
          .name = "rows of their own",
          .inputs = {"i32[2] 2 3", "f32[2] 0 10", "f32[2] 1 1", "f32[2] -1 9", "f32[2] 1 11"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .outputs = {"f32[2,3] 0.7180132865905762 -0.6596376895904541 0.5175340175628662 "
                      "9.606271743774414 9.245779037475586 9.672029495239258"},
      },
      {
          .name = "numbers of their own",
          .inputs = {"i32[1] 4", "f64[1] 0", "f64[1] 1", "f64[1] 0", "f64[1] 1"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .outputs = {"f64[4] 0.8720533702736903 0.4250873217785538 0.18615491249787164 "
                      "0.09682646862536637"},
      },
      {
          .name = "no room between the bounds",
          .inputs = {"i32[1] 4", "f32[] 1", "f32[] 2", "f32[] 4", "f32[] 4"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .error = "Invalid parameters",
      },
      {
          .name = "a negative deviation",
          .inputs = {"i32[1] 4", "f32[] 1", "f32[] -2", "f32[] 3", "f32[] 4"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .error = "Invalid parameters",
      },
      {
          .name = "three means for two rows",
          .inputs = {"i32[2] 2 3", "f32[3] 0 1 2", "f32[] 1", "f32[] -1", "f32[] 1"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
          .error = "Input means should have length 1 or shape[0], got shape: [3]",
      },
      {.name = "no dimensions",
       .inputs = {"i32[0]", "f32[] 0", "f32[] 1", "f32[] -1", "f32[] 1"},
       .error = "Shape tensor must not be empty, got Tensor<type: int32 shape: [0] values: >"},
  };
}

TROUPE_OP_CASES(StatelessParameterizedTruncatedNormal) {
  const std::string seed = "i64[2] 5 9";
  return {
      {
          .name = "most is inside",
          .inputs = {"i32[1] 10", seed, "f32[] 1", "f32[] 2", "f32[] -3", "f32[] 4"},
          .outputs = {"f32[10] 1.42649484 -0.530340195 -1.07543445 -2.21603274 2.15164042 "
                      "-0.236168027 0.0994056463 3.23275089 1.55977488 1.68368173"},
      },
      {
          .name = "samples of two parameters",
          .inputs = {"i64[2] 3 2", "i32[2] 5 9", "f32[2] 0 10", "f32[1] 1", "f32[2] -1 9",
                     "f32[2] 1 11"},
          .outputs = {"f32[3,2] 0.458877563 10.81403 -0.0865154266 9.21838570 -0.679585457 "
                      "10.6804390"},
      },
      {
          .name = "parameters of several shapes, in a tail and far from it",
          .inputs = {"i32[3] 4 1 2", seed, "f64[1,2] 0 0", "f64[] 1", "f64[1,2] 3 0.5",
                     "f64[1] 20"},
          .outputs = {"f64[4,1,2] 3.0544124557766437 1.3699694713182142 3.155014035646624 "
                      "0.9812825702114053 3.412411090586128 1.4782874154300476 3.0051937322750195 "
                      "0.7218756890151621"},
      },
      {
          .name = "bounds without an end",
          .inputs = {"i32[1] 2", seed, "f32[] 0", "f32[] 1", "f32[2] 2 -inf", "f32[2] inf -2"},
          .outputs = {"f32[2] 2.13067603 -2.14779067"},
      },
      {
          .name = "half",
          .inputs = {"i32[1] 4", seed, "f16[] 1", "f16[] 2", "f16[] -3", "f16[] 4"},
          .outputs = {"f16[4] 1.4267578125 -0.5302734375 -1.076171875 -2.216796875"},
      },
      {
          .name = "half, from the middle to one side",
          .inputs = {"i32[1] 4", seed, "f16[] 0", "f16[] 1", "f16[] 0", "f16[] 1"},
          .outputs = {"f16[4] 0.5625 0.6328125 0.41796875 0.1962890625"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[2] 0 3", seed, "f32[] 1", "f32[] 2", "f32[] -3", "f32[] 4"},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "no range",
          .inputs = {"i32[1] 2", seed, "f32[] 0", "f32[] 1", "f32[] 2", "f32[] 2"},
          .error = "Invalid parameters",
      },
      {
          .name = "parameters that do not fit each other",
          .inputs = {"i32[1] 2", seed, "f32[2] 0 0", "f32[3] 1 1 1", "f32[] 2", "f32[] 3"},
          .error =
              "means, stddevs, minvals, maxvals must have compatible batch dimensions: [2] vs. "
              "[3] vs. [] vs. []",
      },
      {
          .name = "a shape that does not end with theirs",
          .inputs = {"i32[1] 3", seed, "f32[2] 0 0", "f32[] 1", "f32[] 2", "f32[] 3"},
          .error = "Shape passed in must end with broadcasted shape.",
      },
      {
          .name = "a seed of three numbers",
          .inputs = {"i32[1] 2", "i64[3] 5 9 1", "f32[] 0", "f32[] 1", "f32[] 2", "f32[] 3"},
          .error = "seed must have shape [2], not [3]",
      },
      {
          .name = "a scalar shape",
          .inputs = {"i32[] 2", seed, "f32[] 0", "f32[] 1", "f32[] 2", "f32[] 3"},
          .error = "Input shape should be a vector, got shape: []",
      },
  };
}

} // namespace
} // namespace troupe
