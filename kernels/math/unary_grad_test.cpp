// The gradient ops of Tanh, Sigmoid, Sqrt, Rsqrt, Reciprocal, Inv.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(TanhGrad) {
  return {
      {.name = "no elements", .inputs = {"f32[0]", "f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "scalars", .inputs = {"f32[] 0.5", "f32[] 2"}, .outputs = {"f32[] 1.5"}},
      {.name = "vectors",
       .inputs = {"f32[4] 0.5 0.25 0.75 0.125", "f32[4] 1 -2 3 0.5"},
       .outputs = {"f32[4] 0.75 -1.875 1.3125 0.4921875"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 0.25 0.75 0.125", "f32[1,2,1,2] 1 -2 3 0.5"},
       .outputs = {"f32[1,2,1,2] 0.75 -1.875 1.3125 0.4921875"}},
      {.name = "dtype f64",
       .inputs = {"f64[2] 0.5 0.25", "f64[2] 1 -2"},
       .outputs = {"f64[2] 0.75 -1.875"}},
      {.name = "NaN and infinities",
       .inputs = {"f32[4] nan inf 0 1", "f32[4] 1 1 1 nan"},
       .outputs = {"f32[4] nan -inf 1 nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "two numbers of elements",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"},
       .error = "The two arguments to a cwise op must have same number of elements, got 2 and 3"},
  };
}

TROUPE_OP_CASES(SigmoidGrad) {
  return {
      {.name = "no elements", .inputs = {"f32[0]", "f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "scalars", .inputs = {"f32[] 0.5", "f32[] 2"}, .outputs = {"f32[] 0.5"}},
      {.name = "vectors",
       .inputs = {"f32[4] 0.5 0.25 0.75 0.125", "f32[4] 1 -2 3 0.5"},
       .outputs = {"f32[4] 0.25 -0.375 0.5625 0.0546875"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 0.25 0.75 0.125", "f32[1,2,1,2] 1 -2 3 0.5"},
       .outputs = {"f32[1,2,1,2] 0.25 -0.375 0.5625 0.0546875"}},
      {.name = "dtype f64",
       .inputs = {"f64[2] 0.5 0.25", "f64[2] 1 -2"},
       .outputs = {"f64[2] 0.25 -0.375"}},
      {.name = "NaN and infinities",
       .inputs = {"f32[4] nan inf 0 1", "f32[4] 1 1 1 nan"},
       .outputs = {"f32[4] nan -inf 0 nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "two numbers of elements",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"},
       .error = "The two arguments to a cwise op must have same number of elements, got 2 and 3"},
  };
}

TROUPE_OP_CASES(SqrtGrad) {
  return {
      {.name = "a gradient of 0 stays 0 where the derivative is infinite",
       .inputs = {"f32[3] 0 0 0", "f32[3] 0 1 1.2e-38"},
       .outputs = {"f32[3] 0 inf inf"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {.name = "no elements", .inputs = {"f32[0]", "f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "scalars", .inputs = {"f32[] 0.5", "f32[] 2"}, .outputs = {"f32[] 2"}},
      {.name = "vectors",
       .inputs = {"f32[4] 0.5 0.25 0.75 0.125", "f32[4] 1 -2 3 0.5"},
       .outputs = {"f32[4] 1 -4 2 2"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 0.25 0.75 0.125", "f32[1,2,1,2] 1 -2 3 0.5"},
       .outputs = {"f32[1,2,1,2] 1 -4 2 2"}},
      {.name = "dtype f64",
       .inputs = {"f64[2] 0.5 0.25", "f64[2] 1 -2"},
       .outputs = {"f64[2] 1 -4"}},
      {.name = "NaN and infinities",
       .inputs = {"f32[4] nan inf 0 1", "f32[4] 1 1 1 nan"},
       .outputs = {"f32[4] nan 0 inf nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "two numbers of elements",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"},
       .error = "The two arguments to a cwise op must have same number of elements, got 2 and 3"},
  };
}

TROUPE_OP_CASES(RsqrtGrad) {
  return {
      {.name = "a gradient of 0 stays 0 where the derivative is infinite",
       .inputs = {"f32[2] inf inf", "f32[2] 0 1"},
       .outputs = {"f32[2] 0 -inf"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {.name = "no elements", .inputs = {"f32[0]", "f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "products near the smallest number and the largest",
       .inputs = {"f32[3] 1e13 1e-13 0.9", "f32[3] 1e-36 2e25 1.2e-38"},
       .outputs = {"f32[3] -500 -1e-14 0"},
       .check_gradient = false,
       .no_gradient_reason = "it has more digits than finite differences tell"},
      {.name = "scalars", .inputs = {"f32[] 0.5", "f32[] 2"}, .outputs = {"f32[] -0.125"}},
      {.name = "vectors",
       .inputs = {"f32[4] 0.5 0.25 0.75 0.125", "f32[4] 1 -2 3 0.5"},
       .outputs = {"f32[4] -0.0625 0.015625 -0.6328125 -0.00048828125"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 0.25 0.75 0.125", "f32[1,2,1,2] 1 -2 3 0.5"},
       .outputs = {"f32[1,2,1,2] -0.0625 0.015625 -0.6328125 -0.00048828125"}},
      {.name = "dtype f64",
       .inputs = {"f64[2] 0.5 0.25", "f64[2] 1 -2"},
       .outputs = {"f64[2] -0.0625 0.015625"}},
      {.name = "NaN and infinities",
       .inputs = {"f32[4] nan inf 0 1", "f32[4] 1 1 1 nan"},
       .outputs = {"f32[4] nan -inf -0 nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "two numbers of elements",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"},
       .error = "The two arguments to a cwise op must have same number of elements, got 2 and 3"},
  };
}

TROUPE_OP_CASES(ReciprocalGrad) {
  return {
      {.name = "a gradient of 0 stays 0 where the derivative is infinite",
       .inputs = {"f32[2] inf inf", "f32[2] 0 1"},
       .outputs = {"f32[2] 0 -inf"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {.name = "no elements", .inputs = {"f32[0]", "f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "scalars", .inputs = {"f32[] 0.5", "f32[] 2"}, .outputs = {"f32[] -0.5"}},
      {.name = "vectors",
       .inputs = {"f32[4] 0.5 0.25 0.75 0.125", "f32[4] 1 -2 3 0.5"},
       .outputs = {"f32[4] -0.25 0.125 -1.6875 -0.0078125"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 0.25 0.75 0.125", "f32[1,2,1,2] 1 -2 3 0.5"},
       .outputs = {"f32[1,2,1,2] -0.25 0.125 -1.6875 -0.0078125"}},
      {.name = "dtype f64",
       .inputs = {"f64[2] 0.5 0.25", "f64[2] 1 -2"},
       .outputs = {"f64[2] -0.25 0.125"}},
      {.name = "NaN and infinities",
       .inputs = {"f32[4] nan inf 0 1", "f32[4] 1 1 1 nan"},
       .outputs = {"f32[4] nan -inf -0 nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "two numbers of elements",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"},
       .error = "The two arguments to a cwise op must have same number of elements, got 2 and 3"},
  };
}

TROUPE_OP_CASES(InvGrad) {
  return {
      {.name = "a gradient of 0 stays 0 where the derivative is infinite",
       .inputs = {"f32[2] inf inf", "f32[2] 0 1"},
       .outputs = {"f32[2] 0 -inf"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {.name = "no elements", .inputs = {"f32[0]", "f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "scalars", .inputs = {"f32[] 0.5", "f32[] 2"}, .outputs = {"f32[] -0.5"}},
      {.name = "vectors",
       .inputs = {"f32[4] 0.5 0.25 0.75 0.125", "f32[4] 1 -2 3 0.5"},
       .outputs = {"f32[4] -0.25 0.125 -1.6875 -0.0078125"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 0.25 0.75 0.125", "f32[1,2,1,2] 1 -2 3 0.5"},
       .outputs = {"f32[1,2,1,2] -0.25 0.125 -1.6875 -0.0078125"}},
      {.name = "dtype f64",
       .inputs = {"f64[2] 0.5 0.25", "f64[2] 1 -2"},
       .outputs = {"f64[2] -0.25 0.125"}},
      {.name = "NaN and infinities",
       .inputs = {"f32[4] nan inf 0 1", "f32[4] 1 1 1 nan"},
       .outputs = {"f32[4] nan -inf -0 nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "two numbers of elements",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"},
       .error = "The two arguments to a cwise op must have same number of elements, got 2 and 3"},
  };
}

} // namespace
} // namespace troupe
