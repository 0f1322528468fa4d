// Cases of the softmax cross entropies; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SoftmaxCrossEntropyWithLogits) {
  return {
      {
          .name = "rows",
          .inputs = {"f32[2,3] 1 2 3 -1 0.5 0.25", "f32[2,3] 0.25 0.5 0.25 1 0 0"},
          .outputs = {"f32[2] 1.4076059 2.1941123",
                      "f32[2,3] -0.15996942 -0.25527152 0.41524094 -0.88854253 0.49951774 "
                      "0.3890248"},
      },
      {
          .name = "double",
          .inputs = {"f64[2,3] 1 2 3 -1 0.5 0.25", "f64[2,3] 0.25 0.5 0.25 1 0 0"},
          .outputs = {"f64[2] 1.4076059644443806 2.1941121864019144",
                      "f64[2,3] -0.15996942682961954 -0.2552715289452024 0.4152409557748218 "
                      "-0.8885425289497972 0.4995177298132149 0.3890247991365822"},
      },
      {
          .name = "one row",
          .inputs = {"f32[1,3] 1 2 3", "f32[1,3] 0.25 0.5 0.25"},
          .outputs = {"f32[1] 1.4076059", "f32[1,3] -0.15996942 -0.25527152 0.41524094"},
      },
      {
          .name = "logits of one row serve all",
          .inputs = {"f32[1,3] 1 2 3", "f32[2,3] 0.25 0.5 0.25 1 0 0"},
          .outputs = {"f32[2] 1.4076059 2.407606",
                      "f32[2,3] -0.15996942 -0.25527152 0.41524094 -0.90996945 0.24472848 "
                      "0.66524094"},
      },
      {
          .name = "labels of one row serve all",
          .inputs = {"f32[2,3] 1 2 3 -1 0.5 0.25", "f32[1,3] 0.25 0.5 0.25"},
          .outputs = {"f32[2] 1.4076059 1.1316122",
                      "f32[2,3] -0.15996942 -0.25527152 0.41524094 -0.13854253 -0.00048226118 "
                      "0.1390248"},
      },
      {
          .name = "labels of rank 1 serve all",
          .inputs = {"f32[2,3] 1 2 3 -1 0.5 0.25", "f32[3] 0 1 0"},
          .outputs = {"f32[2] 1.4076059 0.6941122",
                      "f32[2,3] 0.09003057 -0.75527155 0.66524094 0.111457475 -0.50048226 "
                      "0.3890248"},
      },
      {
          .name = "logits of one column serve all",
          .inputs = {"f32[2,1] 1 2", "f32[2,3] 0.25 0.5 0.25 1 0 0"},
          .outputs = {"f32[2] 1.0986123",
                      "f32[2,3] 0.08333334 -0.16666666 0.08333334 -0.6666666 0.33333334 "
                      "0.33333334"},
      },
      {
          .name = "labels of one column serve all",
          .inputs = {"f32[2,4] 1 2 3 0 0 1 1 2", "f32[2,1] 0.25"},
          .outputs = {"f32[2] 1.9401896 1.6265235",
                      "f32[2,4] -0.16285568 -0.013117164 0.39391428 -0.2179414 -0.17767051 "
                      "-0.053388074 -0.053388074 0.28444666"},
      },
      {
          .name = "large logits do not overflow",
          .inputs = {"f32[2,2] 1000 0 -1000 0", "f32[2,2] 0 1 0 1"},
          .outputs = {"f32[2] 1000 0", "f32[2,2] 1 -1 0 0"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences of such large losses are coarse",
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "f32[0,3]"},
          .outputs = {"f32[0]", "f32[0,3]"},
      },
      {
          .name = "no classes",
          .inputs = {"f32[2,0]", "f32[2,0]"},
          .outputs = {"f32[2] 0", "f32[2,0]"},
      },
      {
          .name = "NaN stays in its row",
          .inputs = {"f32[2,2] nan 1 1 1", "f32[2,2] 0 1 0.5 0.5"},
          .outputs = {"f32[2] nan 0.6931472", "f32[2,2] nan nan 0 0"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "shapes that do not broadcast",
          .inputs = {"f32[2,3] 0", "f32[2,2] 0"},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
      {
          .name = "two vectors are refused",
          .inputs = {"f32[3] 0", "f32[3] 0"},
          .error = "Shape must be broadcasted with rank 2, but is rank 1",
      },
      {
          .name = "three dimensions are refused",
          .inputs = {"f32[3,3,3] 0", "f32[3,3] 0"},
          .error = "Shape must be broadcasted with rank 2, but is rank 3",
      },
  };
}

TROUPE_OP_CASES(SparseSoftmaxCrossEntropyWithLogits) {
  return {
      {
          .name = "int32 labels",
          .inputs = {"f32[2,3] 1 2 3 -1 0.5 0.25", "i32[2] 2 0"},
          .outputs = {"f32[2] 0.40760595 2.1941123",
                      "f32[2,3] 0.09003057 0.24472848 -0.33475906 -0.88854253 0.49951774 "
                      "0.3890248"},
      },
      {
          .name = "int64 labels",
          .inputs = {"f32[2,3] 1 2 3 -1 0.5 0.25", "i64[2] 2 0"},
          .outputs = {"f32[2] 0.40760595 2.1941123",
                      "f32[2,3] 0.09003057 0.24472848 -0.33475906 -0.88854253 0.49951774 "
                      "0.3890248"},
      },
      {
          .name = "double",
          .inputs = {"f64[2,3] 1 2 3 -1 0.5 0.25", "i64[2] 1 2"},
          .outputs = {"f64[2] 1.4076059644443804 0.9441121864019144",
                      "f64[2,3] 0.09003057317038046 -0.7552715289452023 0.6652409557748218 "
                      "0.11145747105020275 0.4995177298132149 -0.6109752008634177"},
      },
      {
          .name = "one class",
          .inputs = {"f32[2,1] 5 -3", "i32[2] 0"},
          .outputs = {"f32[2] 0", "f32[2,1] 0"},
      },
      {
          .name = "odd width",
          .inputs = {"f32[2,19] 1.625 -0.625 1.375 -1.625 -1.375 0.625 0.125 -0.125 -0.625 "
                     "0.625 -0.125 1.125 0.125 0.375 0.625 2.125 1.375 -0.125 1.625 1.375 "
                     "-1.625 0.875 1.375 1.125 0.875 0.375 -1.375 1.875 -0.375 -1.125 0.875 "
                     "2.125 -0.875 0.875 0.625 0.875 1.875 -0.375",
                     "i32[2] 18 0"},
          .outputs = {"f32[2] 2.1365232 2.5427737",
                      "f32[2,19] 0.118064605 0.012443918 0.09194881 0.0045778616 0.005878091 "
                      "0.043433543 0.026343774 0.020516554 0.012443918 0.043433543 "
                      "0.020516554 0.0716098 0.026343774 0.033826075 0.043433543 0.19465563 "
                      "0.09194881 0.020516554 -0.8819354 -0.921352 0.0039156512 0.0477024 "
                      "0.07864795 0.06125109 0.0477024 0.028932966 0.0050277957 0.12966855 "
                      "0.013666965 0.0064558173 0.0477024 0.16649772 0.008289433 0.0477024 "
                      "0.037150662 0.0477024 0.12966855 0.013666965"},
      },
      {
          .name = "large logits do not overflow",
          .inputs = {"f32[2,2] 1000 0 -1000 0", "i32[2] 1"},
          .outputs = {"f32[2] 1000 0", "f32[2,2] 1 -1 0 0"},
          .check_gradient = false,
          .no_gradient_reason = "finite differences of such large losses are coarse",
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "i64[0]"},
          .outputs = {"f32[0]", "f32[0,3]"},
      },
      {
          .name = "NaN stays in its row",
          .inputs = {"f32[2,2] nan 1 1 1", "i32[2] 0 1"},
          .outputs = {"f32[2] nan 0.6931472", "f32[2,2] nan nan 0.5 -0.5"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "a label too large",
          .inputs = {"f32[2,3] 0", "i32[2] 1 3"},
          .error = "Received a label value of 3 which is outside the valid range of [0, "
                   "3).  Label values: 1 3",
      },
      {
          .name = "the smallest label is told where it is negative",
          .inputs = {"f32[4,3] 0", "i64[4] 7 -1 -2 9"},
          .error = "Received a label value of -2 which is outside",
      },
      {
          .name = "a negative label",
          .inputs = {"f32[2,3] 0", "i64[2] -1 1"},
          .error = "Received a label value of -1 which is outside the valid range of [0, "
                   "3).  Label values: -1 1",
      },
      {
          .name = "a vector of logits",
          .inputs = {"f32[3] 0", "i32[3] 1 2 0"},
          .error = "Shape must be rank 2 but is rank 1",
      },
      {
          .name = "a matrix of labels",
          .inputs = {"f32[2,3] 0", "i32[1,2] 0"},
          .error = "Shape must be rank 1 but is rank 2",
      },
      {
          .name = "another number of labels",
          .inputs = {"f32[2,3] 0", "i32[1] 1"},
          .error = "Dimensions must be equal, but are 2 and 1",
      },
      {
          .name = "no classes",
          .inputs = {"f32[2,0]", "i32[2] 0"},
          .error = "Must have at least one class, but got logits shape [2,0]",
      },
  };
}

} // namespace
} // namespace troupe
