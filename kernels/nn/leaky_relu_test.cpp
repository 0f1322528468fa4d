// Cases of LeakyRelu, Selu, Softsign and their gradients; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(LeakyRelu) {
  return {
      {
          .name = "more than a register holds, and some",
          .inputs = {"f32[19] -4.5 -4 -3.5 -3 -2.5 -2 -1.5 -1 -0.5 0 0.5 1 1.5 2 2.5 3 3.5 4 4.5"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"f32[19] -1.125 -1 -0.875 -0.75 -0.625 -0.5 -0.375 -0.25 -0.125 0 0.5 1 1.5 "
                      "2 2.5 3 3.5 4 4.5"},
          .check_gradient = false,
          .no_gradient_reason = "the other cases have it",
      },
      {
          .name = "float32",
          .inputs = {"f32[5] -2 -0.5 0.25 1 3"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"f32[5] -0.5 -0.125 0.25 1 3"},
      },
      {
          .name = "float64",
          .inputs = {"f64[5] -2 -0.5 0.25 1 3"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"f64[5] -0.5 -0.125 0.25 1 3"},
      },
      {
          .name = "half: the slope is one, too",
          .inputs = {"f16[2] -3 -7"},
          .attrs = {{"alpha", 0.2F}},
          .outputs = {"f16[2] -0.599609375 -1.3994140625"},
          .tolerance = 1e-9,
          .tolerance_reason = "the next half is another",
      },
      {
          .name = "half",
          .inputs = {"f16[5] -2 -0.5 0.25 1 3"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"f16[5] -0.5 -0.125 0.25 1 3"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[5] -2 -0.5 0.25 1 3"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"bf16[5] -0.5 -0.125 0.25 1 3"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "infinities, NaN and zero",
          .inputs = {"f32[4] inf -inf nan 0"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"f32[4] inf -inf nan 0"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "nothing",
          .inputs = {"f32[0,3]"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"f32[0,3]"},
      },
  };
}

TROUPE_OP_CASES(LeakyReluGrad) {
  return {
      {
          .name = "more than a register holds, and some",
          .inputs = {"f32[19] 5.5 5 4.5 4 3.5 3 2.5 2 1.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5",
                     "f32[19] -4.5 -4 -3.5 -3 -2.5 -2 -1.5 -1 -0.5 0 0.5 1 1.5 2 2.5 3 3.5 4 4.5"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"f32[19] 1.375 1.25 1.125 1 0.875 0.75 0.625 0.5 0.375 0.25 1.5 2 2.5 3 3.5 "
                      "4 4.5 5 5.5"},
          .check_gradient = false,
          .no_gradient_reason = "the other cases have it",
      },
      {
          .name = "float32",
          .inputs = {"f32[5] 1 2 -3 4 5", "f32[5] -2 -0.5 0.25 1 3"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"f32[5] 0.25 0.5 -3 4 5"},
      },
      {
          .name = "float64",
          .inputs = {"f64[5] 1 2 -3 4 5", "f64[5] -2 -0.5 0.25 1 3"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"f64[5] 0.25 0.5 -3 4 5"},
      },
      {
          .name = "half",
          .inputs = {"f16[5] 1 2 -3 4 5", "f16[5] -2 -0.5 0.25 1 3"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"f16[5] 0.25 0.5 -3 4 5"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[5] 1 2 -3 4 5", "bf16[5] -2 -0.5 0.25 1 3"},
          .attrs = {{"alpha", 0.25F}},
          .outputs = {"bf16[5] 0.25 0.5 -3 4 5"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "shapes differ",
          .inputs = {"f64[2] 1 2", "f64[5] -2 -0.5 0.25 1 3"},
          .error = "Dimension 0 in both shapes must be equal, but are 2 and 5",
      },
  };
}

TROUPE_OP_CASES(Selu) {
  return {
      {
          .name = "more than a register holds, and some",
          .inputs = {"f32[19] -4.5 -4 -3.5 -3 -2.5 -2 -1.5 -1 -0.5 0 0.5 1 1.5 2 2.5 3 3.5 4 4.5"},
          .outputs = {"f32[19] -1.73856862 -1.7258986 -1.7050093 -1.6705687 -1.6137858 -1.5201665 "
                      "-1.36581435 -1.1113307 -0.6917582 0 0.5253505 1.050701 1.5760515 2.101402 "
                      "2.62675247 3.152103 3.6774535 4.202804 4.72815444"},
          .check_gradient = false,
          .no_gradient_reason = "the other cases have it",
      },
      {
          .name = "float32",
          .inputs = {"f32[5] -2 -0.5 0.25 1 3"},
          .outputs = {"f32[5] -1.5201665 -0.69175816 0.26267526 1.050701 3.152103"},
      },
      {
          .name = "float64",
          .inputs = {"f64[5] -2 -0.5 0.25 1 3"},
          .outputs = {"f64[5] -1.520166468595695 -0.6917581878028713 0.2626752468388701 "
                      "1.0507009873554805 3.1521029620664414"},
      },
      {
          .name = "half",
          .inputs = {"f16[5] -2 -0.5 0.25 1 3"},
          .outputs = {"f16[5] -1.5205 -0.692 0.2627 1.051 3.152"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[5] -2 -0.5 0.25 1 3"},
          .outputs = {"bf16[5] -1.51562 -0.695312 0.261719 1.04688 3.14062"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "infinities, NaN and zero",
          .inputs = {"f32[4] inf -inf nan 0"},
          .outputs = {"f32[4] inf -1.7580993 nan 0"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "nothing",
          .inputs = {"f32[0,3]"},
          .outputs = {"f32[0,3]"},
      },
  };
}

TROUPE_OP_CASES(SeluGrad) {
  return {
      {
          .name = "more than a register holds, and some",
          .inputs = {"f32[19] 5.5 5 4.5 4 3.5 3 2.5 2 1.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5",
                     "f32[19] -4.5 -4 -3.5 -3 -2.5 -2 -1.5 -1 -0.5 0 0.5 1 1.5 2 2.5 3 3.5 4 4.5"},
          .outputs = {"f32[19] -15.080454 -11.209503 -7.838553 -4.9676026 -2.5966523 -0.725702 "
                      "0.64524835 1.51619868 1.887149 1.050701 1.5760515 2.101402 2.62675247 "
                      "3.152103 3.6774535 4.202804 4.72815444 5.2535049 5.7788554"},
          .check_gradient = false,
          .no_gradient_reason = "the other cases have it",
      },
      {
          .name = "float32",
          .inputs = {"f32[5] 1 2 -3 4 5",
                     "f32[5] -1.5201665 -0.69175816 0.26267526 1.050701 3.152103"},
          .outputs = {"f32[5] 0.2379328 2.1326823 -3.152103 4.202804 5.253505"},
      },
      {
          .name = "float64",
          .inputs = {"f64[5] 1 2 -3 4 5",
                     "f64[5] -1.520166468595695 -0.6917581878028713 0.2626752468388701 "
                     "1.0507009873554805 3.1521029620664414"},
          .outputs = {"f64[5] 0.2379328722516818 2.132682306089011 -3.1521029620664414 "
                      "4.202803949421922 5.253504936777402"},
      },
      {
          .name = "half",
          .inputs = {"f16[5] 1 2 -3 4 5", "f16[5] -1.5205 -0.692 0.2627 1.051 3.152"},
          .outputs = {"f16[5] 0.2373 2.133 -3.152 4.203 5.254"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[5] 1 2 -3 4 5", "bf16[5] -1.51562 -0.695312 0.261719 1.04688 3.14062"},
          .outputs = {"bf16[5] 0.242188 2.125 -3.14062 4.1875 5.25"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "shapes differ",
          .inputs = {"f64[2] 1 2", "f64[5] -2 -0.5 0.25 1 3"},
          .error = "Dimension 0 in both shapes must be equal, but are 2 and 5",
      },
  };
}

TROUPE_OP_CASES(Softsign) {
  return {
      {
          .name = "more than a register holds, and some",
          .inputs = {"f32[19] -4.5 -4 -3.5 -3 -2.5 -2 -1.5 -1 -0.5 0 0.5 1 1.5 2 2.5 3 3.5 4 4.5"},
          .outputs = {"f32[19] -0.8181818 -0.8 -0.7777778 -0.75 -0.71428571 -0.6666667 -0.6 -0.5 "
                      "-0.33333333 0 0.33333333 0.5 0.6 0.6666667 0.71428571 0.75 0.7777778 0.8 "
                      "0.8181818"},
          .check_gradient = false,
          .no_gradient_reason = "the other cases have it",
      },
      {
          .name = "float32",
          .inputs = {"f32[5] -2 -0.5 0.25 1 3"},
          .outputs = {"f32[5] -0.6666667 -0.33333334 0.2 0.5 0.75"},
      },
      {
          .name = "float64",
          .inputs = {"f64[5] -2 -0.5 0.25 1 3"},
          .outputs = {"f64[5] -0.6666666666666666 -0.3333333333333333 0.2 0.5 0.75"},
      },
      {
          .name = "half",
          .inputs = {"f16[5] -2 -0.5 0.25 1 3"},
          .outputs = {"f16[5] -0.6665 -0.3333 0.2 0.5 0.75"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[5] -2 -0.5 0.25 1 3"},
          .outputs = {"bf16[5] -0.667969 -0.333984 0.200195 0.5 0.75"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "infinities, NaN and zero",
          .inputs = {"f32[4] inf -inf nan 0"},
          .outputs = {"f32[4] nan nan nan 0"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "nothing",
          .inputs = {"f32[0,3]"},
          .outputs = {"f32[0,3]"},
      },
  };
}

TROUPE_OP_CASES(SoftsignGrad) {
  return {
      {
          .name = "more than a register holds, and some",
          .inputs = {"f32[19] 5.5 5 4.5 4 3.5 3 2.5 2 1.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5",
                     "f32[19] -4.5 -4 -3.5 -3 -2.5 -2 -1.5 -1 -0.5 0 0.5 1 1.5 2 2.5 3 3.5 4 4.5"},
          .outputs =
              {"f32[19] 0.18181818 0.2 0.22222222 0.25 0.2857143 0.33333333 0.4 0.5 0.6666667 1 "
               "0.6666667 0.5 0.4 0.33333333 0.2857143 0.25 0.22222222 0.2 0.18181818"},
          .check_gradient = false,
          .no_gradient_reason = "the other cases have it",
      },
      {
          .name = "float32",
          .inputs = {"f32[5] 1 2 -3 4 5", "f32[5] -2 -0.5 0.25 1 3"},
          .outputs = {"f32[5] 0.11111111 0.8888889 -1.92 1 0.3125"},
      },
      {
          .name = "float64",
          .inputs = {"f64[5] 1 2 -3 4 5", "f64[5] -2 -0.5 0.25 1 3"},
          .outputs = {"f64[5] 0.1111111111111111 0.8888888888888888 -1.92 1 0.3125"},
      },
      {
          .name = "half",
          .inputs = {"f16[5] 1 2 -3 4 5", "f16[5] -2 -0.5 0.25 1 3"},
          .outputs = {"f16[5] 0.1111 0.8887 -1.92 1 0.3125"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[5] 1 2 -3 4 5", "bf16[5] -2 -0.5 0.25 1 3"},
          .outputs = {"bf16[5] 0.111328 0.890625 -1.92188 1 0.3125"},
          .tolerance = 0.02,
          .tolerance_reason = "TensorFlow rounds between the operations",
      },
      {
          .name = "shapes differ",
          .inputs = {"f64[2] 1 2", "f64[5] -2 -0.5 0.25 1 3"},
          .error = "Dimension 0 in both shapes must be equal, but are 2 and 5",
      },
  };
}

} // namespace
} // namespace troupe
