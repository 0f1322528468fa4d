// Cases of BiasAdd, BiasAddV1 and BiasAddGrad; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(BiasAdd) {
  return {
      {
          .name = "a matrix",
          .inputs = {"f32[2,3] -0.125 1.125 -1.875 -0.625 -1.375 -1.625", "f32[3] 1 -2 3"},
          .outputs = {"f32[2,3] 0.875 -0.875 1.125 0.375 -3.375 1.375"},
      },
      {
          .name = "images",
          .inputs = {"f32[2,1,2,3] -0.125 1.125 -1.875 -0.625 -1.375 -1.625 -1.125 -0.375 "
                     "-0.375 0.375 -0.125 0.875",
                     "f32[3] 1 -2 3"},
          .outputs = {"f32[2,1,2,3] 0.875 -0.875 1.125 0.375 -3.375 1.375 -0.125 -2.375 2.625 "
                      "1.375 -2.125 3.875"},
      },
      {
          .name = "float64",
          .inputs = {"f64[3,5] -0.125 -1.875 0.375 -0.125 -0.125 -0.625 -1.125 0.625 -0.625 "
                     "-0.875 0.625 0.125 -1.375 0.125 -1.125",
                     "f64[5] 0.375 0.875 -0.625 0.125 1.625"},
          .outputs = {"f64[3,5] 0.25 -1 -0.25 0 1.5 -0.25 -0.25 0 -0.5 0.75 1 1 -2 0.25 0.5"},
      },
      {
          .name = "int32",
          .inputs = {"i32[3,5] 0 -1 0 0 0 0 -1 0 0 0 0 0 -1 0 -1", "i32[5] 0 0 0 0 1"},
          .outputs = {"i32[3,5] 0 -1 0 0 1 0 -1 0 0 1 0 0 -1 0 0"},
      },
      {
          .name = "int64",
          .inputs = {"i64[3,5] 0 -1 0 0 0 0 -1 0 0 0 0 0 -1 0 -1", "i64[5] 0 0 0 0 1"},
          .outputs = {"i64[3,5] 0 -1 0 0 1 0 -1 0 0 1 0 0 -1 0 0"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "f32[3] 1 2 3"},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "no channels",
          .inputs = {"f32[2,0]", "f32[0]"},
          .outputs = {"f32[2,0]"},
      },
      {
          .name = "NaN and infinity",
          .inputs = {"f32[2,2] nan 1 inf -inf", "f32[2] 1 inf"},
          .outputs = {"f32[2,2] nan inf inf nan"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "large enough for two threads",
          .inputs = {"f32[2000,300] 1.5", "f32[300] 0.25"},
          .outputs = {"f32[2000,300] 1.75"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
      {
          .name = "channels second in a vector of rows",
          .inputs = {"f32[2,3,4] 1.875 0.375 2.125 0.875 0.875 -1.125 2.125 -1.875 -0.875 "
                     "-0.125 1.125 -1.125 1.625 2.125 -1.125 0.625 -1.875 -0.375 -1.625 "
                     "1.875 -0.125 1.875 1.375 1.625",
                     "f32[3] 1 -2 3"},
          .attrs = {{"data_format", std::string("NCHW")}},
          .outputs = {"f32[2,3,4] 2.875 1.375 3.125 1.875 -1.125 -3.125 0.125 -3.875 2.125 "
                      "2.875 4.125 1.875 2.625 3.125 -0.125 1.625 -3.875 -2.375 -3.625 -0.125 "
                      "2.875 4.875 4.375 4.625"},
      },
      {
          .name = "channels second in images",
          .inputs = {"f32[2,3,2,2] 1.875 0.375 2.125 0.875 0.875 -1.125 2.125 -1.875 -0.875 "
                     "-0.125 1.125 -1.125 1.625 2.125 -1.125 0.625 -1.875 -0.375 -1.625 "
                     "1.875 -0.125 1.875 1.375 1.625",
                     "f32[3] 1 -2 3"},
          .attrs = {{"data_format", std::string("NCHW")}},
          .outputs = {"f32[2,3,2,2] 2.875 1.375 3.125 1.875 -1.125 -3.125 0.125 -3.875 2.125 "
                      "2.875 4.125 1.875 2.625 3.125 -0.125 1.625 -3.875 -2.375 -3.625 -0.125 "
                      "2.875 4.875 4.375 4.625"},
      },
      {
          .name = "channels second, int32",
          .inputs = {"i32[2,3,1,2] 5 2 0 -4 3 2 3 -3 4 5 2 2", "i32[3] 0 -5 -2"},
          .attrs = {{"data_format", std::string("NCHW")}},
          .outputs = {"i32[2,3,1,2] 5 2 -5 -9 1 0 3 -3 -1 0 0 0"},
      },
      {
          .name = "channels second, sizes differ",
          .inputs = {"f32[2,2,3,3] 0", "f32[3] 0"},
          .attrs = {{"data_format", std::string("NCHW")}},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
      {
          .name = "a vector is refused",
          .inputs = {"f32[2] 0", "f32[2] 0"},
          .error = "Shape must be at least rank 2 but is rank 1",
      },
      {
          .name = "a matrix of biases is refused",
          .inputs = {"f32[2,2] 0", "f32[2,2] 0"},
          .error = "Shape must be rank 1 but is rank 2",
      },
      {
          .name = "sizes differ",
          .inputs = {"f32[2,2] 0", "f32[3] 0"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
      {.name = "channels before the rows",
       .inputs = {"f32[1,2,3,4] 1", "f32[5] 1"},
       .attrs = {{"data_format", std::string("NCHW")}},
       .error = "Must provide as many biases as the last dimension of the input tensor: [5] vs. "
                "[1,2,3,4]"},
  };
}

TROUPE_OP_CASES(BiasAddV1) {
  return {
      {
          .name = "a matrix",
          .inputs = {"f32[2,3] -0.125 1.125 -1.875 -0.625 -1.375 -1.625", "f32[3] 1 -2 3"},
          .outputs = {"f32[2,3] 0.875 -0.875 1.125 0.375 -3.375 1.375"},
      },
      {
          .name = "images",
          .inputs = {"f32[2,1,2,3] -0.125 1.125 -1.875 -0.625 -1.375 -1.625 -1.125 -0.375 "
                     "-0.375 0.375 -0.125 0.875",
                     "f32[3] 1 -2 3"},
          .outputs = {"f32[2,1,2,3] 0.875 -0.875 1.125 0.375 -3.375 1.375 -0.125 -2.375 2.625 "
                      "1.375 -2.125 3.875"},
      },
      {
          .name = "float64",
          .inputs = {"f64[3,5] -0.125 -1.875 0.375 -0.125 -0.125 -0.625 -1.125 0.625 -0.625 "
                     "-0.875 0.625 0.125 -1.375 0.125 -1.125",
                     "f64[5] 0.375 0.875 -0.625 0.125 1.625"},
          .outputs = {"f64[3,5] 0.25 -1 -0.25 0 1.5 -0.25 -0.25 0 -0.5 0.75 1 1 -2 0.25 0.5"},
      },
      {
          .name = "int32",
          .inputs = {"i32[3,5] 0 -1 0 0 0 0 -1 0 0 0 0 0 -1 0 -1", "i32[5] 0 0 0 0 1"},
          .outputs = {"i32[3,5] 0 -1 0 0 1 0 -1 0 0 1 0 0 -1 0 0"},
      },
      {
          .name = "int64",
          .inputs = {"i64[3,5] 0 -1 0 0 0 0 -1 0 0 0 0 0 -1 0 -1", "i64[5] 0 0 0 0 1"},
          .outputs = {"i64[3,5] 0 -1 0 0 1 0 -1 0 0 1 0 0 -1 0 0"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "f32[3] 1 2 3"},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "no channels",
          .inputs = {"f32[2,0]", "f32[0]"},
          .outputs = {"f32[2,0]"},
      },
      {
          .name = "NaN and infinity",
          .inputs = {"f32[2,2] nan 1 inf -inf", "f32[2] 1 inf"},
          .outputs = {"f32[2,2] nan inf inf nan"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "large enough for two threads",
          .inputs = {"f32[2000,300] 1.5", "f32[300] 0.25"},
          .outputs = {"f32[2000,300] 1.75"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
      {
          .name = "a vector is refused",
          .inputs = {"f32[2] 0", "f32[2] 0"},
          .error = "Shape must be at least rank 2 but is rank 1",
      },
      {
          .name = "a matrix of biases is refused",
          .inputs = {"f32[2,2] 0", "f32[2,2] 0"},
          .error = "Shape must be rank 1 but is rank 2",
      },
      {
          .name = "sizes differ",
          .inputs = {"f32[2,2] 0", "f32[3] 0"},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
  };
}

TROUPE_OP_CASES(BiasAddGrad) {
  return {
      {
          .name = "a matrix",
          .inputs = {"f32[3,2] -0.125 1.125 -1.875 -0.625 -1.375 -1.625"},
          .outputs = {"f32[2] -3.375 -1.125"},
      },
      {
          .name = "images",
          .inputs = {"f32[2,2,1,3] -0.125 -1.875 0.375 -0.125 -0.125 -0.625 -1.125 0.625 "
                     "-0.625 -0.875 0.625 0.125"},
          .outputs = {"f32[3] -2.25 -0.75 -0.75"},
      },
      {
          .name = "float64",
          .inputs = {"f64[3,5] -0.125 -1.875 0.375 -0.125 -0.125 -0.625 -1.125 0.625 -0.625 "
                     "-0.875 0.625 0.125 -1.375 0.125 -1.125"},
          .outputs = {"f64[5] -0.125 -2.875 -0.375 -0.625 -2.125"},
      },
      {
          .name = "int32",
          .inputs = {"i32[3,5] 0 -1 0 0 0 0 -1 0 0 0 0 0 -1 0 -1"},
          .outputs = {"i32[5] 0 -2 -1 0 -1"},
      },
      {
          .name = "int64",
          .inputs = {"i64[3,5] 0 -1 0 0 0 0 -1 0 0 0 0 0 -1 0 -1"},
          .outputs = {"i64[5] 0 -2 -1 0 -1"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]"},
          .outputs = {"f32[3] 0"},
      },
      {
          .name = "no channels",
          .inputs = {"f32[3,0]"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "channels second",
          .inputs = {"f32[2,3,2,2] 0.375 0.875 -0.625 0.125 1.625 1.625 -1.375 -1.125 -1.625 "
                     "-0.125 -1.875 -0.125 0.625 -0.875 0.875 0.375 -1.875 0.375 -0.875 "
                     "-0.125 -0.625 0.875 -0.125 -1.125"},
          .attrs = {{"data_format", std::string("NCHW")}},
          .outputs = {"f32[3] 1.75 -1.75 -4.75"},
      },
      {
          .name = "channels second in a vector of rows",
          .inputs = {"f32[2,3,4] 0.375 0.875 -0.625 0.125 1.625 1.625 -1.375 -1.125 -1.625 "
                     "-0.125 -1.875 -0.125 0.625 -0.875 0.875 0.375 -1.875 0.375 -0.875 "
                     "-0.125 -0.625 0.875 -0.125 -1.125"},
          .attrs = {{"data_format", std::string("NCHW")}},
          .outputs = {"f32[3] 1.75 -1.75 -4.75"},
      },
      {
          .name = "NaN and infinity stay in their channel",
          .inputs = {"f32[2,3] nan 1 inf 1 2 3"},
          .outputs = {"f32[3] nan 3 inf"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "large enough for two threads",
          .inputs = {"f32[8000,300] 0.5"},
          .outputs = {"f32[300] 4000"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
      {
          .name = "a vector is refused",
          .inputs = {"f32[2] 0"},
          .error = "Shape must be at least rank 2 but is rank 1",
      },
  };
}

} // namespace
} // namespace troupe
