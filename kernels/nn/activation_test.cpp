// Cases of Relu, Relu6, Elu, Softplus and the ops of their gradients; values are those of
// TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Relu) {
  return {
      {
          .name = "negative and positive",
          .inputs = {"f32[7] -3.5 -1 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f32[7] 0 0 0 0.5 2 7.25 5.5"},
      },
      {
          .name = "double",
          .inputs = {"f64[7] -3.5 -1 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f64[7] 0 0 0 0.5 2 7.25 5.5"},
      },
      {
          .name = "int32",
          .inputs = {"i32[4] -3 0 2 7"},
          .outputs = {"i32[4] 0 0 2 7"},
      },
      {
          .name = "int64",
          .inputs = {"i64[4] -3 0 2 7"},
          .outputs = {"i64[4] 0 0 2 7"},
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] -0.5"},
          .outputs = {"f32[] 0"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "four dimensions",
          .inputs = {"f32[1,2,1,3] 0.375 0.875 -0.625 0.125 1.625 1.625"},
          .outputs = {"f32[1,2,1,3] 0.375 0.875 0 0.125 1.625 1.625"},
      },
      {
          .name = "NaN and infinity",
          .inputs = {"f32[4] nan inf -inf 0"},
          .outputs = {"f32[4] nan inf 0 0"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "large enough for two threads",
          .inputs = {"f32[400000] 2.5"},
          .outputs = {"f32[400000] 2.5"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
  };
}

TROUPE_OP_CASES(ReluGrad) {
  return {
      {.name = "gradients that are no numbers are seen everywhere",
       .inputs = {"f32[2] nan inf", "f32[2] -1 -1"},
       .outputs = {"f32[2] nan nan"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {
          .name = "negative and positive",
          .inputs = {"f32[7] 1 -2 3 -4 5 -6 7", "f32[7] -0.75 -0.5 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f32[7] 0 0 0 -4 5 -6 7"},
      },
      {
          .name = "double",
          .inputs = {"f64[7] 1 -2 3 -4 5 -6 7", "f64[7] -0.75 -0.5 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f64[7] 0 0 0 -4 5 -6 7"},
      },
      {
          .name = "int32",
          .inputs = {"i32[4] 1 2 3 4", "i32[4] -3 0 2 7"},
          .outputs = {"i32[4] 0 0 3 4"},
      },
      {
          .name = "int64",
          .inputs = {"i64[4] 1 2 3 4", "i64[4] -3 0 2 7"},
          .outputs = {"i64[4] 0 0 3 4"},
      },
      {
          .name = "the edges get nothing",
          .inputs = {"f32[2] 1 2", "f32[2] 0 -1"},
          .outputs = {"f32[2] 0"},
          .check_gradient = false,
          .no_gradient_reason = "the gradient jumps at the edges",
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 2", "f32[] 0.5"},
          .outputs = {"f32[] 2"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]", "f32[0]"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "two dimensions",
          .inputs = {"f32[2,3] 0.375 0.875 -0.625 0.125 1.625 1.625",
                     "f32[2,3] 0.825 0.225 0.925 0.425 0.425 -0.375"},
          .outputs = {"f32[2,3] 0.375 0.875 -0.625 0.125 1.625 0"},
      },
      {
          .name = "NaN and infinity",
          .inputs = {"f32[4] 1 2 nan inf", "f32[4] nan -inf 1 2"},
          .outputs = {"f32[4] 0 0 nan inf"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "shapes differ",
          .inputs = {"f32[2] 0", "f32[3] 0"},
          .error = "Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are "
                   "[2] and [3].",
      },
  };
}

TROUPE_OP_CASES(Relu6) {
  return {
      {
          .name = "negative and positive",
          .inputs = {"f32[7] -3.5 -1 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f32[7] 0 0 0 0.5 2 6 5.5"},
      },
      {
          .name = "double",
          .inputs = {"f64[7] -3.5 -1 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f64[7] 0 0 0 0.5 2 6 5.5"},
      },
      {
          .name = "int32",
          .inputs = {"i32[4] -3 0 2 7"},
          .outputs = {"i32[4] 0 0 2 6"},
      },
      {
          .name = "int64",
          .inputs = {"i64[4] -3 0 2 7"},
          .outputs = {"i64[4] 0 0 2 6"},
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] -0.5"},
          .outputs = {"f32[] 0"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "four dimensions",
          .inputs = {"f32[1,2,1,3] 0.375 0.875 -0.625 0.125 1.625 1.625"},
          .outputs = {"f32[1,2,1,3] 0.375 0.875 0 0.125 1.625 1.625"},
      },
      {
          .name = "NaN and infinity",
          .inputs = {"f32[4] nan inf -inf 0"},
          .outputs = {"f32[4] nan 6 0 0"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "large enough for two threads",
          .inputs = {"f32[400000] 2.5"},
          .outputs = {"f32[400000] 2.5"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
  };
}

TROUPE_OP_CASES(Relu6Grad) {
  return {
      {.name = "gradients that are no numbers are seen everywhere",
       .inputs = {"f32[2] nan inf", "f32[2] -1 -1"},
       .outputs = {"f32[2] nan nan"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {
          .name = "negative and positive",
          .inputs = {"f32[7] 1 -2 3 -4 5 -6 7", "f32[7] -0.75 -0.5 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f32[7] 0 0 0 -4 5 0 7"},
      },
      {
          .name = "double",
          .inputs = {"f64[7] 1 -2 3 -4 5 -6 7", "f64[7] -0.75 -0.5 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f64[7] 0 0 0 -4 5 0 7"},
      },
      {
          .name = "int32",
          .inputs = {"i32[4] 1 2 3 4", "i32[4] -3 0 2 7"},
          .outputs = {"i32[4] 0 0 3 0"},
      },
      {
          .name = "int64",
          .inputs = {"i64[4] 1 2 3 4", "i64[4] -3 0 2 7"},
          .outputs = {"i64[4] 0 0 3 0"},
      },
      {
          .name = "the edges get nothing",
          .inputs = {"f32[2] 1 2", "f32[2] 0 6"},
          .outputs = {"f32[2] 0"},
          .check_gradient = false,
          .no_gradient_reason = "the gradient jumps at the edges",
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 2", "f32[] 0.5"},
          .outputs = {"f32[] 2"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]", "f32[0]"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "two dimensions",
          .inputs = {"f32[2,3] 0.375 0.875 -0.625 0.125 1.625 1.625",
                     "f32[2,3] 0.825 0.225 0.925 0.425 0.425 -0.375"},
          .outputs = {"f32[2,3] 0.375 0.875 -0.625 0.125 1.625 0"},
      },
      {
          .name = "NaN and infinity",
          .inputs = {"f32[4] 1 2 nan inf", "f32[4] nan -inf 1 2"},
          .outputs = {"f32[4] 0 0 nan inf"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "shapes differ",
          .inputs = {"f32[2] 0", "f32[3] 0"},
          .error = "Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are "
                   "[2] and [3].",
      },
  };
}

TROUPE_OP_CASES(Elu) {
  return {
      {
          .name = "negative and positive",
          .inputs = {"f32[7] -3.5 -1 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f32[7] -0.9698026 -0.63212055 -0.22119921 0.5 2 7.25 5.5"},
      },
      {
          .name = "double",
          .inputs = {"f64[7] -3.5 -1 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f64[7] -0.9698026165776815 -0.6321205588285577 -0.22119921692859512 "
                      "0.5 2 7.25 5.5"},
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] -0.5"},
          .outputs = {"f32[] -0.39346933"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "four dimensions",
          .inputs = {"f32[1,2,1,3] 0.375 0.875 -0.625 0.125 1.625 1.625"},
          .outputs = {"f32[1,2,1,3] 0.375 0.875 -0.46473855 0.125 1.625 1.625"},
      },
      {
          .name = "NaN and infinity",
          .inputs = {"f32[4] nan inf -inf 0"},
          .outputs = {"f32[4] nan inf -1 0"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "far below zero",
          .inputs = {"f32[2] -100 -50"},
          .outputs = {"f32[2] -1"},
      },
  };
}

TROUPE_OP_CASES(EluGrad) {
  return {
      {
          .name = "negative and positive",
          .inputs = {"f32[7] 1 -2 3 -4 5 -6 7", "f32[7] -0.75 -0.5 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f32[7] 0.25 -1 2.25 -4 5 -6 7"},
      },
      {
          .name = "double",
          .inputs = {"f64[7] 1 -2 3 -4 5 -6 7", "f64[7] -0.75 -0.5 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f64[7] 0.25 -1 2.25 -4 5 -6 7"},
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 2", "f32[] 0.5"},
          .outputs = {"f32[] 2"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]", "f32[0]"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "two dimensions",
          .inputs = {"f32[2,3] 0.375 0.875 -0.625 0.125 1.625 1.625",
                     "f32[2,3] 0.825 0.225 0.925 0.425 0.425 -0.375"},
          .outputs = {"f32[2,3] 0.375 0.875 -0.625 0.125 1.625 1.015625"},
      },
      {
          .name = "shapes differ",
          .inputs = {"f32[2] 0", "f32[3] 0"},
          .error = "Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are "
                   "[2] and [3].",
      },
  };
}

TROUPE_OP_CASES(Softplus) {
  return {
      {
          .name = "negative and positive",
          .inputs = {"f32[7] -3.5 -1 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f32[7] 0.029750418 0.3132617 0.5759394 0.974077 2.126928 7.25071 "
                      "5.5040784"},
      },
      {
          .name = "double",
          .inputs = {"f64[7] -3.5 -1 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f64[7] 0.029750418272620566 0.3132616875182228 0.5759394198788435 "
                      "0.9740769841801067 2.1269280110429727 7.250709922334339 "
                      "5.50407844327057"},
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] -0.5"},
          .outputs = {"f32[] 0.474077"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "four dimensions",
          .inputs = {"f32[1,2,1,3] 0.375 0.875 -0.625 0.125 1.625 1.625"},
          .outputs = {"f32[1,2,1,3] 0.89812326 1.2234446 0.4287007 0.757599 1.8047447 "
                      "1.8047447"},
      },
      {
          .name = "NaN and infinity",
          .inputs = {"f32[4] nan inf -inf 0"},
          .outputs = {"f32[4] nan inf 0 0.6931472"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "far from zero",
          .inputs = {"f32[4] 100 -100 50 -50"},
          .outputs = {"f32[4] 100 0 50 1.9287499e-22"},
      },
  };
}

TROUPE_OP_CASES(SoftplusGrad) {
  return {
      {
          .name = "negative and positive",
          .inputs = {"f32[7] 1 -2 3 -4 5 -6 7", "f32[7] -0.75 -0.5 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f32[7] 0.3208213 -0.75508136 1.3134705 -2.4898374 4.403985 -5.9957423 "
                      "6.9715095"},
      },
      {
          .name = "double",
          .inputs = {"f64[7] 1 -2 3 -4 5 -6 7", "f64[7] -0.75 -0.5 -0.25 0.5 2 7.25 5.5"},
          .outputs = {"f64[7] 0.320821300824607 -0.7550813375962908 1.3134704973426057 "
                      "-2.4898373248074184 4.403985389889412 -5.995741977605397 "
                      "6.971509035988728"},
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 2", "f32[] 0.5"},
          .outputs = {"f32[] 1.2449187"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]", "f32[0]"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "two dimensions",
          .inputs = {"f32[2,3] 0.375 0.875 -0.625 0.125 1.625 1.625",
                     "f32[2,3] 0.825 0.225 0.925 0.425 0.425 -0.375"},
          .outputs = {"f32[2,3] 0.26073623 0.48651212 -0.4475374 0.07558489 0.98260355 "
                      "0.6619168"},
      },
      {
          .name = "shapes differ",
          .inputs = {"f32[2] 0", "f32[3] 0"},
          .error = "Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are "
                   "[2] and [3].",
      },
  };
}

} // namespace
} // namespace troupe
