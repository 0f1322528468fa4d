// Special functions of two and three numbers.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Xlogy) {
  return {
      {
          .name = "denormals count as 0",
          .inputs = {"f32[2] 0.5 -2", "f32[2] 1e-40 1e-44"},
          .outputs = {"f32[2] -inf inf"},
          .check_gradient = false,
          .no_gradient_reason = "differences are larger than denormals",
      },
      {
          .name = "half, whose logarithm is rounded, too",
          .inputs = {"f16[12] 0.1 0.55 0.99 1.43 1.88 2.3 2.8 3.2 3.7 4.1 4.5 5",
                     "f16[12] 0.3 1.09 1.88 2.67 3.46 4.26 5 5.8 6.6 7.4 8.2 9"},
          .outputs = {"f16[12] -0.12036133 0.047302246 0.625 1.4042969 2.3339844 3.3339844 "
                      "4.5078125 5.625 6.984375 8.2109375 9.4765625 10.984375"},
          .check_gradient = false,
          .no_gradient_reason = "half is too coarse for differences",
      },
      {.name = "float",
       .inputs = {"f32[4] 0 0 2 3", "f32[4] 0 2 0.5 4"},
       .outputs = {"f32[4] 0 0 -1.38629436 4.15888309"},
       .check_gradient = false,
       .no_gradient_reason = "infinite at 0"},
      {.name = "double",
       .inputs = {"f64[3] 0.5 1 2.5", "f64[3] 1 2 0.5"},
       .outputs = {"f64[3] 0 0.6931471805599453 -1.7328679513998633"}},
      {.name = "half", .inputs = {"f16[2] 1 2", "f16[2] 1 4"}, .outputs = {"f16[2] 0 2.7734375"}},
      {.name = "bfloat16",
       .inputs = {"bf16[2] 1 2", "bf16[2] 1 4"},
       .outputs = {"bf16[2] 0 2.765625"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (1,2) (0,0)", "c128[2] (2,-1) (3,0)"},
       .outputs = {"c128[2] (1.7320141742186625,1.1457903034332944) (0,0)"},
       .check_gradient = false,
       .no_gradient_reason = "infinite at 0"},
      {.name = "broadcast",
       .inputs = {"f32[2,1] 1 2", "f32[3] 1 2 4"},
       .outputs = {"f32[2,3] 0 0.693147182 1.38629436 0 1.38629436 2.77258873"}},
      {.name = "a scalar", .inputs = {"f32[] 2", "f32[2] 1 2"}, .outputs = {"f32[2] 0 1.38629436"}},
      {.name = "nothing", .inputs = {"f32[0]", "f32[] 1"}, .outputs = {"f32[0]"}},
      {.name = "shapes differ", .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"}, .error = "2"},
  };
}

TROUPE_OP_CASES(Xlog1py) {
  return {
      {
          .name = "half, whose logarithm is rounded, too",
          .inputs = {"f16[12] 0.1 0.55 0.99 1.43 1.88 2.3 2.8 3.2 3.7 4.1 4.5 5",
                     "f16[12] 0.3 1.09 1.88 2.67 3.46 4.26 5 5.8 6.6 7.4 8.2 9"},
          .outputs = {"f16[12] 0.026245117 0.40527344 1.046875 1.8583984 2.8105469 3.8203125 "
                      "5.0195312 6.1328125 7.5078125 8.734375 9.984375 11.515625"},
          .check_gradient = false,
          .no_gradient_reason = "half is too coarse for differences",
      },
      {.name = "float",
       .inputs = {"f32[4] 0 0 2 3", "f32[4] 0 2 0.5 4"},
       .outputs = {"f32[4] 0 0 0.810930192 4.82831383"},
       .check_gradient = false,
       .no_gradient_reason = "infinite at 0"},
      {.name = "double",
       .inputs = {"f64[3] 0.5 1 2.5", "f64[3] 1 2 0.5"},
       .outputs = {"f64[3] 0.34657359027997264 1.0986122886681096 1.013662770270411"}},
      {.name = "half",
       .inputs = {"f16[2] 1 2", "f16[2] 1 4"},
       .outputs = {"f16[2] 0.693359375 3.21875"}},
      {.name = "bfloat16",
       .inputs = {"bf16[2] 1 2", "bf16[2] 1 4"},
       .outputs = {"bf16[2] 0.69140625 3.21875"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (1,2) (0,0)", "c128[2] (2,-1) (3,0)"},
       .outputs = {"c128[2] (1.7947936552903072,1.9808345385974038) (0,0)"},
       .check_gradient = false,
       .no_gradient_reason = "infinite at 0"},
      {.name = "broadcast",
       .inputs = {"f32[2,1] 1 2", "f32[3] 1 2 4"},
       .outputs = {"f32[2,3] 0.693147182 1.09861231 1.60943794 1.38629436 2.19722462 3.21887589"}},
      {.name = "a scalar",
       .inputs = {"f32[] 2", "f32[2] 1 2"},
       .outputs = {"f32[2] 1.38629436 2.19722462"}},
      {.name = "nothing", .inputs = {"f32[0]", "f32[] 1"}, .outputs = {"f32[0]"}},
      {.name = "shapes differ", .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"}, .error = "2"},
  };
}

TROUPE_OP_CASES(Xdivy) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0 0 2 3", "f32[4] 0 2 0.5 4"},
       .outputs = {"f32[4] 0 0 4 0.75"},
       .check_gradient = false,
       .no_gradient_reason = "infinite at 0"},
      {.name = "double",
       .inputs = {"f64[3] 0.5 1 2.5", "f64[3] 1 2 0.5"},
       .outputs = {"f64[3] 0.5 0.5 5"}},
      {.name = "half", .inputs = {"f16[2] 1 2", "f16[2] 1 4"}, .outputs = {"f16[2] 1 0.5"}},
      {.name = "bfloat16", .inputs = {"bf16[2] 1 2", "bf16[2] 1 4"}, .outputs = {"bf16[2] 1 0.5"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (1,2) (0,0)", "c128[2] (2,-1) (3,0)"},
       .outputs = {"c128[2] (0,1) (0,0)"},
       .check_gradient = false,
       .no_gradient_reason = "infinite at 0"},
      {.name = "broadcast",
       .inputs = {"f32[2,1] 1 2", "f32[3] 1 2 4"},
       .outputs = {"f32[2,3] 1 0.5 0.25 2 1 0.5"}},
      {.name = "a scalar", .inputs = {"f32[] 2", "f32[2] 1 2"}, .outputs = {"f32[2] 2 1"}},
      {.name = "nothing", .inputs = {"f32[0]", "f32[] 1"}, .outputs = {"f32[0]"}},
      {.name = "shapes differ", .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"}, .error = "2"},
  };
}

TROUPE_OP_CASES(Igamma) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.5 1 3 9", "f32[4] 0.25 2 2.5 30"},
       .outputs = {"f32[4] 0.520499825 0.864664733 0.45618692 0.999997973"}},
      {.name = "double",
       .inputs = {"f64[4] 0.5 1 3 9", "f64[4] 0.25 2 2.5 30"},
       .outputs =
           {"f64[4] 0.5204998778130466 0.8646647167633873 0.4561868841166704 0.9999979539240957"}},
      {.name = "at the borders",
       .inputs = {"f32[9] 1 1 0 0 -1 nan inf inf 0.5", "f32[9] 0 inf 1 0 0 0 1 inf -1"},
       .outputs = {"f32[9] 0 1 nan 0 0 0 0 0 nan"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
      {.name = "broadcast",
       .inputs = {"f32[] 2", "f32[2,2] 1 2 3 4"},
       .outputs = {"f32[2,2] 0.264241129 0.5939942 0.800851703 0.908421814"}},
  };
}

TROUPE_OP_CASES(Igammac) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.5 1 3 9", "f32[4] 0.25 2 2.5 30"},
       .outputs = {"f32[4] 0.479500175 0.135335281 0.543813109 2.04607704e-06"}},
      {.name = "double",
       .inputs = {"f64[4] 0.5 1 3 9", "f64[4] 0.25 2 2.5 30"},
       .outputs = {"f64[4] 0.47950012218695337 0.1353352832366127 0.5438131158833296 "
                   "2.0460759042705695e-06"}},
      {.name = "at the borders",
       .inputs = {"f32[9] 1 1 0 0 -1 nan inf inf 0.5", "f32[9] 0 inf 1 0 0 0 1 inf -1"},
       .outputs = {"f32[9] 1 0 nan nan nan nan 1 0 nan"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
      {.name = "broadcast",
       .inputs = {"f32[] 2", "f32[2,2] 1 2 3 4"},
       .outputs = {"f32[2,2] 0.735758901 0.406005859 0.199148282 0.0915782005"}},
  };
}

TROUPE_OP_CASES(IgammaGradA) {
  return {
      {.name = "of nothing, and of an infinite shape",
       .inputs = {"f64[4] inf inf nan 0", "f64[4] 1 0 0 0"},
       .outputs = {"f64[4] 0 0 0 0"}},
      {.name = "float",
       .inputs = {"f32[3] 0.5 1 3", "f32[3] 0.25 2 2.5"},
       .outputs = {"f32[3] -0.797947228 -0.220825449 -0.247117385"}},
      {.name = "double",
       .inputs = {"f64[3] 0.5 1 3", "f64[3] 0.25 2 2.5"},
       .outputs = {"f64[3] -0.797947316783223 -0.22082542621185938 -0.24711735748326835"}},
      {.name = "in the upper tail, by integrals of high precision",
       .inputs = {"f64[2] 3 10", "f64[2] 60 50"},
       .outputs = {"f64[2] -5.1959295826872728e-23 -2.121014061317579e-12"}},
  };
}

TROUPE_OP_CASES(Zeta) {
  return {
      {.name = "poles of an infinite power",
       .inputs = {"f64[4] inf inf 2 3", "f64[4] -1 0 -1 -1"},
       .outputs = {"f64[4] inf inf inf nan"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {.name = "float",
       .inputs = {"f32[3] 1.5 2 4", "f32[3] 1 0.5 3"},
       .outputs = {"f32[3] 2.61237526 4.93480206 0.0198232345"},
       .gradient_inputs = {1}},
      {.name = "double",
       .inputs = {"f64[4] 1.5 2 4 12", "f64[4] 1 0.5 3 20"},
       .outputs =
           {"f64[4] 2.612375348685488 4.93480220054468 0.019823233711138193 5.780781169441057e-16"},
       .gradient_inputs = {1}},
      {.name = "far below 0",
       .inputs = {"f64[3] 2 3 4", "f64[3] -1000.5 -2000.25 -123.75"},
       .outputs = {"f64[3] 9.868605400173442 -62.01255323569333 259.757575916903"},
       .check_gradient = false,
       .no_gradient_reason = "differences cancel there"},
      {.name = "at its pole",
       .inputs = {"f32[5] 1 2 0.5 3 1", "f32[5] 2 0 3 -1 nan"},
       .outputs = {"f32[5] inf inf nan nan inf"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
      {.name = "of infinities",
       .inputs = {"f32[8] 2 3 2 inf inf inf inf inf", "f32[8] inf -inf -inf 0.25 1 2 -1.5 inf"},
       .outputs = {"f32[8] 0 nan inf inf 1 0 inf 0"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
  };
}

TROUPE_OP_CASES(Polygamma) {
  return {
      {.name = "float",
       .inputs = {"f32[3] 0 1 2", "f32[3] 1.5 0.5 3"},
       .outputs = {"f32[3] 0.0364899635 4.93480206 -0.154113799"},
       .gradient_inputs = {1}},
      {.name = "double",
       .inputs = {"f64[4] 0 1 2 5", "f64[4] 1.5 0.5 3 2"},
       .outputs =
           {"f64[4] 0.03648997397857645 4.93480220054468 -0.15411380631918856 2.081167438133896"},
       .gradient_inputs = {1}},
      {.name = "no derivative",
       .inputs = {"f32[2] -1 0.5", "f32[2] 1 1"},
       .outputs = {"f32[2] nan nan"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
  };
}

TROUPE_OP_CASES(NextAfter) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0 1 1 -1", "f32[4] 1 2 0 0"},
       .outputs = {"f32[4] 1.40129846e-45 1.00000012 0.99999994 -0.99999994"}},
      {.name = "double",
       .inputs = {"f64[2] 1 1", "f64[2] 2 1"},
       .outputs = {"f64[2] 1.0000000000000002 1"},
       .check_gradient = false,
       .no_gradient_reason = "TensorFlow says 1"},
      {.name = "broadcast",
       .inputs = {"f32[] 1", "f32[2] 2 0"},
       .outputs = {"f32[2] 1.00000012 0.99999994"},
       .check_gradient = false,
       .no_gradient_reason = "TensorFlow says 1"},
  };
}

TROUPE_OP_CASES(Betainc) {
  return {
      {.name = "float",
       .inputs = {"f32[3] 0.5 1 3", "f32[3] 2 3 0.5", "f32[3] 0.25 0.5 0.75"},
       .outputs = {"f32[3] 0.68750006 0.875 0.207031235"},
       .gradient_inputs = {2}},
      {.name = "double",
       .inputs = {"f64[4] 0.5 1 3 20", "f64[4] 2 3 0.5 30", "f64[4] 0.25 0.5 0.75 0.4"},
       .outputs = {"f64[4] 0.6875 0.875 0.20703124999999997 0.5077001996576339"},
       .gradient_inputs = {2}},
      {.name = "at the ends and beyond",
       .inputs = {"f32[3] 1 1 1", "f32[3] 2 2 2", "f32[3] 0 1 2"},
       .outputs = {"f32[3] 0 1 nan"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
      {.name = "scalars",
       .inputs = {"f32[] 1", "f32[] 2", "f32[2] 0.25 0.5"},
       .outputs = {"f32[2] 0.4375 0.75"},
       .gradient_inputs = {2}},
      {.name = "shapes differ",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3", "f32[] 0.5"},
       .error = "2"},
      {.name = "first and third differ",
       .inputs = {"f32[2] 1", "f32[] 1", "f32[3] 1"},
       .error = "Shapes of a and x are inconsistent: [2] vs. [3]"},
      {.name = "second and third differ",
       .inputs = {"f32[] 1", "f32[2] 1", "f32[3] 1"},
       .error = "Shapes of b and x are inconsistent: [2] vs. [3]"},
  };
}

TROUPE_OP_CASES(RandomGammaGrad) {
  return {
      {
          .name = "what is not finite, and what no gamma distribution gives",
          .inputs = {"f64[6] 0.5 0.5 inf -1 nan inf", "f64[6] inf -inf -1 inf 0 1"},
          .outputs = {"f64[6] 0 nan nan nan 0 0"},
      },
      {
          .name = "far out: log(x) - digamma(a) and what is left of 1 / x",
          .inputs = {"f64[2] 1 2", "f64[2] 1e8 1e9"},
          .outputs = {"f64[2] 18.9978964188539 20.300481523148425"},
      },
      {
          .name = "samples",
          .inputs = {"f64[6] 0.5 1 2 10 100 0.01", "f64[6] 0.3 1 5 8 110 0.001"},
          .outputs = {"f64[6] 1.0098019459488548 1.1735630272247275 "
                      "1.6580687280597055 0.9075477177235494 1.050160621245713 "
                      "0.6354138007185822"},
          .tolerance = 1e-7,
          .tolerance_reason = "TensorFlow stops its series earlier",
      },
      {
          .name = "spread",
          .inputs = {"f32[2,1] 1 2", "f32[2] 0.5 3"},
          .outputs = {"f32[2,2] 0.80697906 1.937912 0.49802664 1.3217986"},
          .tolerance = 1e-5,
          .tolerance_reason = "TensorFlow computes in float",
      },
      {
          .name = "in the upper tail, by integrals of high precision",
          .inputs = {"f64[6] 0.6787 1 5 30 10 100", "f64[6] 33.94 50 100 120 2000 145"},
          .outputs = {"f64[6] 4.7907811145219429 4.5088537802597938 3.2375351046891018 "
                      "1.8580942127623186 5.3738219415786109 1.1992489654166232"},
      },
      {
          .name = "none",
          .inputs = {"f64[5] 1 -1 nan 0 inf", "f64[5] 0 1 1 0 1"},
          .outputs = {"f64[5] 0 nan nan 0 0"},
      },
  };
}

} // namespace
} // namespace troupe
