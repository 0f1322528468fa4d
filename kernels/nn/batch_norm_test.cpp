// Cases of BatchNormWithGlobalNormalization and its gradient.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(BatchNormWithGlobalNormalization) {
  return {
      {
          .name = "f64 scaled",
          .inputs = {"f64[1,2,2,2] 0.375 -1.75 -1.75 -1.25 -1.375 -1.625 -1.5 0.25",
                     "f64[2] -1.25 1.75", "f64[2] 1.5 1.25", "f64[2] 0.875 -1",
                     "f64[2] 1.875 1.75"},
          .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", true}},
          .outputs = {"f64[1,2,2,2] 3.3619341800317684 -6.4761765120846215 0.1097894830671482 "
                      "-5.6938655817868185 0.683697370766787 -6.2805987795101705 "
                      "0.4923947415335741 -3.3469327908934092"},
          .tolerance = 1e-9,
          .tolerance_reason = "computed in double",
      },
      {
          .name = "f64",
          .inputs = {"f64[1,2,2,2] 0.875 -0.125 1.375 1 0.625 1.625 0.5 -0.5", "f64[2] 0.25 -1.25",
                     "f64[2] 0.75 1.625", "f64[2] 1.125 1.875", "f64[2] 1.75 1.375"},
          .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", false}},
          .outputs = {"f64[1,2,2,2] 1.8462071918311647 2.7572511879554766 2.4231729452960966 "
                      "3.6395023759109533 1.5577243150986988 4.129641924775107 1.4134828767324659 "
                      "2.4631674586369843"},
          .tolerance = 1e-9,
          .tolerance_reason = "computed in double",
      },
      {
          .name = "f32 scaled",
          .inputs = {"f32[1,2,2,2] -1.625 -0 1.75 1.125 -0 -0.125 -1.125 -1.25",
                     "f32[2] -1.75 1.625", "f32[2] 1.5 0.75", "f32[2] -0.375 -1.75",
                     "f32[2] 0.875 1.625"},
          .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", true}},
          .outputs = {"f32[1,2,2,2] -0.28572544 -4.7971005 2.1246877 -2.6875694 0.87484384 "
                      "-5.0314927 0.0713728 -7.1410236"},
          .tolerance = 1e-5,
          .tolerance_reason = "computed in double",
      },
      {
          .name = "f16 scaled",
          .inputs = {"f16[1,2,2,2] 0.625 -0.125 -0.875 0.625 1.875 -0.25 -1.75 -1.75",
                     "f16[2] -1.625 1.875", "f16[2] 1.25 1.75", "f16[2] -1.375 -1",
                     "f16[2] 1.5 1.875"},
          .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", true}},
          .outputs = {"f16[1,2,2,2] 1.6425781 -3.8339844 -0.36914062 -2.7714844 3.3183594 "
                      "-4.0117188 -1.5429688 -6.1367188"},
          .tolerance = 5e-3,
          .tolerance_reason = "computed in double",
      },
      {.name = "a vector of three",
       .inputs = {"f32[1,1,1,2] 1", "f32[2] 1", "f32[3] 1", "f32[2] 1", "f32[2] 1"},
       .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", true}},
       .error = "var has 3 elements for 2 channels"},
      {.name = "a matrix",
       .inputs = {"f32[1,2] 1", "f32[2] 1", "f32[2] 1", "f32[2] 1", "f32[2] 1"},
       .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", true}},
       .error = "input must be 4-dimensional"},
  };
}

TROUPE_OP_CASES(BatchNormWithGlobalNormalizationGrad) {
  return {
      {
          .name = "f64 scaled",
          .inputs = {"f64[1,2,2,2] -0.625 -1.75 1.5 -0.875 1 -1.375 0.75 1.375",
                     "f64[2] 0.875 -0.625", "f64[2] 1.625 0.75", "f64[2] 1 1.125",
                     "f64[1,2,2,2] 1.5 -1.375 1.5 1.25 1.875 -0.5 -1.125 -1"},
          .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", true}},
          .outputs = {"f64[1,2,2,2] 1.1763349172739688 -1.7849877997821326 1.1763349172739688 "
                      "1.6227161816201205 1.470418646592461 -0.6490864726480482 "
                      "-0.8822511879554765 -1.2981729452960964",
                      "f64[2] -2.940837293184922 2.1095310361061568",
                      "f64[2] 0.22607912769826385 0.3376157168603302", "f64[2] 3.75 -1.625",
                      "f64[2] -0.7352093232962305 -0.45075449489447794"},
          .tolerance = 1e-9,
          .tolerance_reason = "computed in double",
      },
      {
          .name = "f64",
          .inputs = {"f64[1,2,2,2] 1.25 1.875 0.75 -0.125 -0.875 1.375 1.5 -1.625",
                     "f64[2] -1.125 1.375", "f64[2] 1.75 1", "f64[2] 0.875 1.125",
                     "f64[1,2,2,2] 0.125 -1.625 1.375 0.125 1.125 -1.125 1.875 1"},
          .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", false}},
          .outputs = {"f64[1,2,2,2] 0.09446413235350187 -1.6241881088290977 1.0391054558885207 "
                      "0.12493754683300752 0.8501771911815168 -1.1244379214970677 "
                      "1.4169619853025281 0.9995003746640602",
                      "f64[2] -3.400708764726067 1.6241881088290977",
                      "f64[2] -1.7432166057051577 1.9970037454877805", "f64[2] 4.5 -1.625",
                      "f64[2] 0"},
          .tolerance = 1e-9,
          .tolerance_reason = "computed in double",
      },
      {
          .name = "f32 scaled",
          .inputs = {"f32[1,2,2,2] -0.625 1.75 0.75 1.375 -1.875 -1.75 1 -0.75",
                     "f32[2] 0.125 -1.375", "f32[2] 2 1.25", "f32[2] 1.75 0.625",
                     "f32[1,2,2,2] -0.125 -1.75 1.5 -0.25 -1.75 -1.75 0.125 -1.75"},
          .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", true}},
          .outputs = {"f32[1,2,2,2] -0.15464096 -0.97788864 1.8556914 -0.13969839 -2.1649733 "
                      "-0.97788864 0.15464096 -0.97788864",
                      "f32[2] 0.30928192 3.0733643", "f32[2] -1.4345441 1.4726398",
                      "f32[2] -0.25 -5.5", "f32[2] 3.2805974 -5.895272"},
          .tolerance = 1e-5,
          .tolerance_reason = "computed in double",
      },
      {
          .name = "f16 scaled",
          .inputs = {"f16[1,2,2,2] -1.25 -0.25 -0 0.375 0.5 -0.5 0.5 -1.375", "f16[2] -0.875 1.25",
                     "f16[2] 0.75 0.875", "f16[2] 0.875 1.25",
                     "f16[1,2,2,2] -2 -1.875 -0.125 -1.375 0.75 1.125 0.375 0.75"},
          .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", true}},
          .outputs = {"f16[1,2,2,2] -2.0195312 -2.5039062 -0.1262207 -1.8359375 0.7573242 "
                      "1.5029297 0.3786621 1.0019531",
                      "f16[2] 1.0097656 1.8359375", "f16[2] -1.4707031 -0.059539795",
                      "f16[2] -1 -1.375", "f16[2] 2.5234375 0.083496094"},
          .tolerance = 1e-2,
          .tolerance_reason = "computed in double",
      },
      {.name = "another gradient",
       .inputs = {"f32[1,1,1,2] 1", "f32[2] 1", "f32[2] 1", "f32[2] 1", "f32[1,1,2,2] 1"},
       .attrs = {{"variance_epsilon", 0.001F}, {"scale_after_normalization", true}},
       .error = "out_backprop must be of the input's shape"},
      {.name = "a gradient of rank 3",
       .inputs = {"f32[1,1,1,2] 0", "f32[2] 1", "f32[2] 1", "f32[2] 1", "f32[1,1,2] 1"},
       .attrs = {{"variance_epsilon", 0.1F}, {"scale_after_normalization", true}},
       .error = "out_backprop must be 4-dimensional[1,1,2]"},
  };
}

} // namespace
} // namespace troupe
