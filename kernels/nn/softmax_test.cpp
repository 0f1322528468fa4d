// Cases of Softmax and LogSoftmax; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Softmax) {
  return {
      {
          .name = "rows",
          .inputs = {"f32[2,3] 1 2 3 -1 0.5 0.25"},
          .outputs = {"f32[2,3] 0.09003057 0.24472848 0.66524094 0.111457475 0.49951774 "
                      "0.3890248"},
      },
      {
          .name = "double",
          .inputs = {"f64[2,3] 1 2 3 -1 0.5 0.25"},
          .outputs = {"f64[2,3] 0.09003057317038046 0.2447284710547976 0.6652409557748219 "
                      "0.11145747105020273 0.4995177298132149 0.3890247991365822"},
      },
      {
          .name = "a vector",
          .inputs = {"f32[3] 1 2 0.5"},
          .outputs = {"f32[3] 0.2312239 0.6285317 0.14024438"},
      },
      {
          .name = "three dimensions",
          .inputs = {"f32[2,2,3] -0.875 1.625 -1.125 1.875 0.125 0.625 1.125 0.125 -0.625 "
                     "-1.125 -1.625 1.125"},
          .outputs = {"f32[2,2,3] 0.071626596 0.87259054 0.055782843 0.68480074 0.119000524 "
                      "0.1961987 0.6486542 0.23862655 0.1127192 0.090136655 0.054670643 "
                      "0.8551928"},
      },
      {
          .name = "one column",
          .inputs = {"f32[2,1] 5 -3"},
          .outputs = {"f32[2,1] 1"},
      },
      {
          .name = "odd width",
          .inputs = {"f32[2,19] 1.625 -0.625 1.375 -1.625 -1.375 0.625 0.125 -0.125 -0.625 "
                     "0.625 -0.125 1.125 0.125 0.375 0.625 2.125 1.375 -0.125 1.625 1.375 "
                     "-1.625 0.875 1.375 1.125 0.875 0.375 -1.375 1.875 -0.375 -1.125 0.875 "
                     "2.125 -0.875 0.875 0.625 0.875 1.875 -0.375"},
          .outputs = {"f32[2,19] 0.118064605 0.012443918 0.09194881 0.0045778616 0.005878091 "
                      "0.043433543 0.026343774 0.020516552 0.012443918 0.043433543 "
                      "0.020516552 0.0716098 0.026343774 0.033826075 0.043433543 0.19465563 "
                      "0.09194881 0.020516552 0.118064605 0.078647956 0.0039156512 0.0477024 "
                      "0.078647956 0.06125109 0.0477024 0.028932966 0.0050277957 0.12966856 "
                      "0.013666965 0.0064558173 0.0477024 0.16649772 0.008289433 0.0477024 "
                      "0.037150666 0.0477024 0.12966856 0.013666965"},
      },
      {
          .name = "large logits do not overflow",
          .inputs = {"f32[3,2] 1000 1000 -1000 -1000 1000 0"},
          .outputs = {"f32[3,2] 0.5 0.5 0.5 0.5 1 0"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences cannot see probabilities of 0 and 1",
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,2]"},
          .outputs = {"f32[0,2]"},
      },
      {
          .name = "no columns",
          .inputs = {"f32[2,0]"},
          .outputs = {"f32[2,0]"},
      },
      {
          .name = "a logit of minus infinity",
          .inputs = {"f32[2,2] -inf 1 0 -inf"},
          .outputs = {"f32[2,2] 0 1 1 0"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "NaN spoils its row",
          .inputs = {"f32[2,2] nan nan 1 1"},
          .outputs = {"f32[2,2] nan nan 0.5 0.5"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "infinity spoils its row",
          .inputs = {"f32[2,2] -inf -inf 1 1"},
          .outputs = {"f32[2,2] nan nan 0.5 0.5"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "a scalar is refused",
          .inputs = {"f32[] 1"},
          .error = "Shape must be at least rank 1 but is rank 0",
      },
  };
}

TROUPE_OP_CASES(LogSoftmax) {
  return {
      {
          .name = "rows",
          .inputs = {"f32[2,3] 1 2 3 -1 0.5 0.25"},
          .outputs = {"f32[2,3] -2.407606 -1.4076059 -0.40760595 -2.1941123 -0.6941122 "
                      "-0.9441122"},
      },
      {
          .name = "double",
          .inputs = {"f64[2,3] 1 2 3 -1 0.5 0.25"},
          .outputs = {"f64[2,3] -2.4076059644443806 -1.4076059644443804 -0.4076059644443804 "
                      "-2.1941121864019144 -0.6941121864019144 -0.9441121864019144"},
      },
      {
          .name = "a vector",
          .inputs = {"f32[3] 1 2 0.5"},
          .outputs = {"f32[3] -1.4643688 -0.4643688 -1.9643688"},
      },
      {
          .name = "three dimensions",
          .inputs = {"f32[2,2,3] -0.875 1.625 -1.125 1.875 0.125 0.625 1.125 0.125 -0.625 "
                     "-1.125 -1.625 1.125"},
          .outputs = {"f32[2,2,3] -2.636289 -0.13628888 -2.886289 -0.37862733 -2.1286273 "
                      "-1.6286273 -0.4328555 -1.4328555 -2.1828556 -2.4064283 -2.9064283 "
                      "-0.15642838"},
      },
      {
          .name = "one column",
          .inputs = {"f32[2,1] 5 -3"},
          .outputs = {"f32[2,1] 0"},
      },
      {
          .name = "odd width",
          .inputs = {"f32[2,19] 1.625 -0.625 1.375 -1.625 -1.375 0.625 0.125 -0.125 -0.625 "
                     "0.625 -0.125 1.125 0.125 0.375 0.625 2.125 1.375 -0.125 1.625 1.375 "
                     "-1.625 0.875 1.375 1.125 0.875 0.375 -1.375 1.875 -0.375 -1.125 0.875 "
                     "2.125 -0.875 0.875 0.625 0.875 1.875 -0.375"},
          .outputs = {"f32[2,19] -2.1365232 -4.3865232 -2.3865232 -5.3865232 -5.1365232 "
                      "-3.1365232 -3.6365232 -3.8865232 -4.3865232 -3.1365232 -3.8865232 "
                      "-2.6365232 -3.6365232 -3.3865232 -3.1365232 -1.6365232 -2.3865232 "
                      "-3.8865232 -2.1365232 -2.5427737 -5.5427737 -3.0427737 -2.5427737 "
                      "-2.7927737 -3.0427737 -3.5427737 -5.2927737 -2.0427737 -4.2927737 "
                      "-5.0427737 -3.0427737 -1.7927737 -4.7927737 -3.0427737 -3.2927737 "
                      "-3.0427737 -2.0427737 -4.2927737"},
      },
      {
          .name = "large logits do not overflow",
          .inputs = {"f32[3,2] 1000 1000 -1000 -1000 1000 0"},
          .outputs = {"f32[3,2] -0.6931472 -0.6931472 -0.6931472 -0.6931472 0 -1000"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences cannot see probabilities of 0 and 1",
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,2]"},
          .outputs = {"f32[0,2]"},
      },
      {
          .name = "no columns",
          .inputs = {"f32[2,0]"},
          .outputs = {"f32[2,0]"},
      },
      {
          .name = "a logit of minus infinity",
          .inputs = {"f32[2,2] -inf 1 0 -inf"},
          .outputs = {"f32[2,2] -inf 0 0 -inf"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "NaN spoils its row",
          .inputs = {"f32[2,2] nan nan 1 1"},
          .outputs = {"f32[2,2] nan nan -0.6931472 -0.6931472"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "infinity spoils its row",
          .inputs = {"f32[2,2] -inf -inf 1 1"},
          .outputs = {"f32[2,2] nan nan -0.6931472 -0.6931472"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "a scalar is refused",
          .inputs = {"f32[] 1"},
          .error = "Shape must be at least rank 1 but is rank 0",
      },
  };
}

} // namespace
} // namespace troupe
