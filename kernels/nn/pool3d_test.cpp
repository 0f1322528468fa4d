// Cases of AvgPool3D, MaxPool3D and their gradients; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(AvgPool3D) {
  return {
      {
          .name = "no padding float32",
          .inputs = {"f32[1,2,4,2,2] 0.5 0.125 -1.375 -0.25 1.5 1.375 -1.5 -0.125 -1.75 0.25 0 "
                     "-1.875 0.875 1.25 -1.125 -0.375 -0.5 1.625 -1.25 0.75 -0.875 -0.625 1.875 "
                     "0.375 0.625 -2 -1 1.75 -1.625 1.125 1 -0.75"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,1,2,1,2] -0.203125 0.40625 -0.375 -0.078125"},
      },
      {
          .name = "no padding bfloat16",
          .inputs = {"bf16[1,2,4,2,2] 0.375 -1.125 -0.875 -0.125 0.5 1 1.875 -0.25 0.875 -1.25 "
                     "0.625 0.75 -1 -0.75 -1.5 -0.5 -1.75 0.125 -1.875 1.25 -1.375 -0.375 1.75 "
                     "-0.625 1.125 0.25 1.5 -2 1.625 0 1.375 -1.625"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"bf16[1,1,2,1,2] -0.171875 -0.015625 0.578125 -0.640625"},
          .tolerance = 0.05,
          .tolerance_reason = "TensorFlow rounds partial sums",
      },
      {
          .name = "same padding float32",
          .inputs = {"f32[2,2,2,3,1] 0.75 0.625 -0.75 0 1 1.125 -0.875 -0.25 -1.25 -0.375 0.25 "
                     "-1.125 0.125 0.375 -1 -0.5 0.875 0.5 -1.5 1.375 -1.375 -0.625 -0.125 1.25"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[2,2,1,2,1] 0.0625 -0.40625 -0.5625 -0.75 0.09375 -0.15625 -0.0625 0"},
      },
      {
          .name = "same padding bfloat16",
          .inputs = {"bf16[2,2,2,3,1] 0.5 1.25 0.125 -0.625 1 -1.5 0.75 0.625 -1.25 -0.375 -0.5 "
                     "-1.375 0.875 -0.875 -1.125 -0.125 1.125 0.25 1.375 0 -0.75 -0.25 -1 0.375"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs =
              {"bf16[2,2,1,2,1] 0.78125 0.1875 0.6875 -0.3125 0.34375 -0.6875 0.6875 -0.375"},
          .tolerance = 0.05,
          .tolerance_reason = "TensorFlow rounds partial sums",
      },
      {
          .name = "nothing",
          .inputs = {"f32[0,2,2,2,1]"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[0,1,1,1,1]"},
      },
      {
          .name = "an image",
          .inputs = {"f32[2,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Shape must be rank 5 but is rank 4",
      },
      {
          .name = "windows over the depth",
          .inputs = {"f32[1,2,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 2}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Pooling is not yet supported on the depth dimension.",
      },
      {
          .name = "no stride",
          .inputs = {"f32[1,2,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 0, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Stride must be > 0, but got 0",
      },
      {
          .name = "a window too large",
          .inputs = {"f32[1,2,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 9, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Negative dimension size caused by subtracting 9 from 2",
      },
  };
}

TROUPE_OP_CASES(AvgPool3DGrad) {
  return {
      {
          .name = "no padding float32",
          .inputs = {"i32[5] 1 2 4 2 2", "f32[1,1,2,1,2] -0.25 0.125 -0.125 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,4,2,2] -0.03125 0.015625 -0.03125 0.015625 -0.03125 0.015625 "
                      "-0.03125 0.015625 -0.015625 0 -0.015625 0 -0.015625 0 -0.015625 0 -0.03125 "
                      "0.015625 -0.03125 0.015625 -0.03125 0.015625 -0.03125 0.015625 -0.015625 0 "
                      "-0.015625 0 -0.015625 0 -0.015625 0"},
      },
      {
          .name = "no padding bfloat16",
          .inputs = {"i32[5] 1 2 4 2 2", "bf16[1,1,2,1,2] 0.125 0 -0.25 -0.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"bf16[1,2,4,2,2] 0.015625 0 0.015625 0 0.015625 0 0.015625 0 -0.03125 "
                      "-0.015625 -0.03125 -0.015625 -0.03125 -0.015625 -0.03125 -0.015625 0.015625 "
                      "0 0.015625 0 0.015625 0 0.015625 0 -0.03125 -0.015625 -0.03125 -0.015625 "
                      "-0.03125 -0.015625 -0.03125 -0.015625"},
          .tolerance = 0.05,
          .tolerance_reason = "TensorFlow rounds partial sums",
      },
      {
          .name = "same padding float32",
          .inputs = {"i32[5] 2 2 2 3 1",
                     "f32[2,2,1,2,1] -0.25 -0.125 -0.375 0.375 0.25 0 0.125 -0.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[2,2,2,3,1] -0.0625 -0.09375 -0.03125 0 0 0 -0.25 -0.09375 0.15625 0 0 0 "
                      "0.0625 0.0625 0 0 0 0 0.125 -0.125 -0.25 0 0 0"},
      },
      {
          .name = "same padding bfloat16",
          .inputs = {"i32[5] 2 2 2 3 1",
                     "bf16[2,2,1,2,1] -0.125 0.375 0 -0.25 -0.375 0.25 -0.5 0.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"bf16[2,2,2,3,1] -0.03125 0.0625 0.09375 0 0 0 -0.03125 -0.0625 -0.03125 0 0 "
                      "0 -0.09375 -0.03125 0.0625 0 0 0 -0.34375 -0.21875 0.125 0 0 0"},
          .tolerance = 0.05,
          .tolerance_reason = "TensorFlow rounds partial sums",
      },
      {
          .name = "a window behind the volume",
          .inputs = {"i32[5] 1 2 2 2 1", "f32[1,3,1,1,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "index * stride must be less than or equal to input size",
      },
      {
          .name = "four sizes",
          .inputs = {"i32[4] 1 2 2 2", "f32[1,2,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Shape must be rank 5 but is rank 4",
      },
      {.name = "more windows than the pool has",
       .inputs = {"i32[5] 1 2 2 2 1", "f32[1,2,2,2,1] 1 2 3 4 5 6 7 8"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .outputs = {"f32[1,2,2,2,1] 0.125 0.625 0.875 3.375 1.375 4.875 5.625 19.125"},
       .check_gradient = false,
       .no_gradient_reason =
           "TensorFlow takes these gradients, but its pool makes none of this shape"},
      {.name = "a gradient of more volumes",
       .inputs = {"i32[5] 1 2 2 2 1", "f32[2,1,1,1,1] 0"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .error =
           "Expected first dimension of tensor_in_shape and out_backprop to match, got 1 and 2"},
      {.name = "a gradient of another depth",
       .inputs = {"i32[5] 1 2 2 2 1", "f32[1,1,1,1,2] 0"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .error =
           "Expected last dimension of tensor_in_shape and out_backprop to match, got 1 and 2"},
      {.name = "a negative size",
       .inputs = {"i32[5] 1 2 -2 2 1", "f32[1,1,1,1,1] 0"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .error = "Expected a non-negative size, got -2"},
  };
}

TROUPE_OP_CASES(MaxPool3D) {
  return {
      {
          .name = "no padding float32",
          .inputs = {"f32[1,2,4,2,2] 0.5 0.125 -1.375 -0.25 1.5 1.375 -1.5 -0.125 -1.75 0.25 0 "
                     "-1.875 0.875 1.25 -1.125 -0.375 -0.5 1.625 -1.25 0.75 -0.875 -0.625 1.875 "
                     "0.375 0.625 -2 -1 1.75 -1.625 1.125 1 -0.75"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,1,2,1,2] 1.875 1.625 1 1.75"},
          .gradient_inputs = {0},
      },
      {
          .name = "no padding bfloat16",
          .inputs = {"bf16[1,2,4,2,2] 0.375 -1.125 -0.875 -0.125 0.5 1 1.875 -0.25 0.875 -1.25 "
                     "0.625 0.75 -1 -0.75 -1.5 -0.5 -1.75 0.125 -1.875 1.25 -1.375 -0.375 1.75 "
                     "-0.625 1.125 0.25 1.5 -2 1.625 0 1.375 -1.625"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"bf16[1,1,2,1,2] 1.875 1.25 1.625 0.75"},
      },
      {
          .name = "same padding float32",
          .inputs = {"f32[2,2,2,3,1] 0.75 0.625 -0.75 0 1 1.125 -0.875 -0.25 -1.25 -0.375 0.25 "
                     "-1.125 0.125 0.375 -1 -0.5 0.875 0.5 -1.5 1.375 -1.375 -0.625 -0.125 1.25"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[2,2,1,2,1] 0.75 0.625 -0.25 -0.25 1.375 1.375 1.375 1.375"},
          .gradient_inputs = {0},
      },
      {
          .name = "same padding bfloat16",
          .inputs = {"bf16[2,2,2,3,1] 0.5 1.25 0.125 -0.625 1 -1.5 0.75 0.625 -1.25 -0.375 -0.5 "
                     "-1.375 0.875 -0.875 -1.125 -0.125 1.125 0.25 1.375 0 -0.75 -0.25 -1 0.375"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"bf16[2,2,1,2,1] 1.25 1.25 0.75 0.625 1.375 0 1.375 0"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0,2,2,2,1]"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[0,1,1,1,1]"},
      },
      {
          .name = "an image",
          .inputs = {"f32[2,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Shape must be rank 5 but is rank 4",
      },
      {
          .name = "windows over the depth",
          .inputs = {"f32[1,2,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 2}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Pooling is not yet supported on the depth dimension.",
      },
      {
          .name = "no stride",
          .inputs = {"f32[1,2,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 0, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Stride must be > 0, but got 0",
      },
      {
          .name = "a window too large",
          .inputs = {"f32[1,2,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 9, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Negative dimension size caused by subtracting 9 from 2",
      },
  };
}

TROUPE_OP_CASES(MaxPool3DGrad) {
  return {
      {
          .name = "every maximum of a window has the gradient",
          .inputs = {"f32[1,2,2,2,1] 0 1 0 1 0 0 0 1", "f32[1,1,1,1,1] 1", "f32[1,1,1,1,1] 5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,2,1] 0 5 0 5 0 0 0 5"},
          .check_gradient = false,
          .no_gradient_reason = "TensorFlow's MaxPool3DGradGrad reads the first maximum alone",
      },
      {
          .name = "no padding float32",
          .inputs = {"f32[1,2,4,2,2] 0.5 0.125 -1.375 -0.25 1.5 1.375 -1.5 -0.125 -1.75 0.25 0 "
                     "-1.875 0.875 1.25 -1.125 -0.375 -0.5 1.625 -1.25 0.75 -0.875 -0.625 1.875 "
                     "0.375 0.625 -2 -1 1.75 -1.625 1.125 1 -0.75",
                     "f32[1,1,2,1,2] 1.875 1.625 1 1.75", "f32[1,1,2,1,2] -0.25 0.125 -0.125 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,4,2,2] 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.125 0 0 0 0 -0.25 0 0 0 "
                      "0 0 0 0 -0.125 0"},
          .gradient_inputs = {2},
      },
      {
          .name = "no padding bfloat16",
          .inputs = {"bf16[1,2,4,2,2] 0.375 -1.125 -0.875 -0.125 0.5 1 1.875 -0.25 0.875 -1.25 "
                     "0.625 0.75 -1 -0.75 -1.5 -0.5 -1.75 0.125 -1.875 1.25 -1.375 -0.375 1.75 "
                     "-0.625 1.125 0.25 1.5 -2 1.625 0 1.375 -1.625",
                     "bf16[1,1,2,1,2] 1.875 1.25 1.625 0.75",
                     "bf16[1,1,2,1,2] 0.125 0 -0.25 -0.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"bf16[1,2,4,2,2] 0 0 0 0 0 0 0.125 0 0 0 0 -0.125 0 0 0 0 0 0 0 0 0 0 0 0 0 "
                      "0 0 0 -0.25 0 0 0"},
      },
      {
          .name = "same padding float32",
          .inputs = {"f32[2,2,2,3,1] 0.75 0.625 -0.75 0 1 1.125 -0.875 -0.25 -1.25 -0.375 0.25 "
                     "-1.125 0.125 0.375 -1 -0.5 0.875 0.5 -1.5 1.375 -1.375 -0.625 -0.125 1.25",
                     "f32[2,2,1,2,1] 0.75 0.625 -0.25 -0.25 1.375 1.375 1.375 1.375",
                     "f32[2,2,1,2,1] -0.25 -0.125 -0.375 0.375 0.25 0 0.125 -0.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs =
              {"f32[2,2,2,3,1] -0.25 -0.125 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -0.125 0 0 0 0"},
          .gradient_inputs = {2},
      },
      {
          .name = "same padding bfloat16",
          .inputs = {"bf16[2,2,2,3,1] 0.5 1.25 0.125 -0.625 1 -1.5 0.75 0.625 -1.25 -0.375 -0.5 "
                     "-1.375 0.875 -0.875 -1.125 -0.125 1.125 0.25 1.375 0 -0.75 -0.25 -1 0.375",
                     "bf16[2,2,1,2,1] 1.25 1.25 0.75 0.625 1.375 0 1.375 0",
                     "bf16[2,2,1,2,1] -0.125 0.375 0 -0.25 -0.375 0.25 -0.5 0.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs =
              {"bf16[2,2,2,3,1] 0 0.25 0 0 0 0 0 -0.25 0 0 0 0 0 0 0 0 0 0 -0.875 0.375 0 0 0 0"},
      },
      {
          .name = "a gradient of another shape",
          .inputs = {"f32[1,2,2,2,1] 0", "f32[1,1,1,1,1] 0", "f32[1,2,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Expected grad shape to be [1,1,1,1,1], but got [1,2,2,2,1]",
      },
      {.name = "an output of rank 4",
       .inputs = {"f32[1,2,2,2,1] 0", "f32[1,1,1,1] 0", "f32[1,1,1,1,1] 0"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .error = "tensor_out must be 5-dimensional"},
      {.name = "a gradient of rank 4",
       .inputs = {"f32[1,2,2,2,1] 0", "f32[1,1,1,1,1] 0", "f32[1,1,1,1] 0"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .error = "out_backprop must be 5-dimensional"},
  };
}

TROUPE_OP_CASES(MaxPool3DGradGrad) {
  return {
      {
          .name = "no padding float32",
          .inputs = {"f32[1,2,4,2,2] 0.5 0.125 -1.375 -0.25 1.5 1.375 -1.5 -0.125 -1.75 0.25 0 "
                     "-1.875 0.875 1.25 -1.125 -0.375 -0.5 1.625 -1.25 0.75 -0.875 -0.625 1.875 "
                     "0.375 0.625 -2 -1 1.75 -1.625 1.125 1 -0.75",
                     "f32[1,1,2,1,2] 1.875 1.625 1 1.75",
                     "f32[1,2,4,2,2] -1.25 0.375 0.625 -1.625 1.625 0.875 1.875 1.25 1.125 -0.375 "
                     "1.5 -0.5 -1 0.75 -1.5 -1.75 -0.875 0.25 -2 -0.25 0.125 0.5 -1.375 0 -0.125 "
                     "-1.875 -0.625 1.75 -1.125 1.375 1 -0.75"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,1,2,1,2] -1.375 0.25 1 1.75"},
      },
      {
          .name = "no padding bfloat16",
          .inputs = {"bf16[1,2,4,2,2] 0.375 -1.125 -0.875 -0.125 0.5 1 1.875 -0.25 0.875 -1.25 "
                     "0.625 0.75 -1 -0.75 -1.5 -0.5 -1.75 0.125 -1.875 1.25 -1.375 -0.375 1.75 "
                     "-0.625 1.125 0.25 1.5 -2 1.625 0 1.375 -1.625",
                     "bf16[1,1,2,1,2] 1.875 1.25 1.625 0.75",
                     "bf16[1,2,4,2,2] 1.625 -0.375 -1.375 -2 1.25 -1.25 1.875 1.125 0.375 0.125 "
                     "-1.625 1.75 -0.25 -1.125 -1.75 -1 0.625 0.25 1.375 -1.5 -0.5 0.75 0 -0.75 "
                     "0.5 -0.625 1.5 1 0.875 -0.125 -1.875 -0.875"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"bf16[1,1,2,1,2] 1.875 -1.5 0.875 1.75"},
      },
      {
          .name = "same padding float32",
          .inputs = {"f32[2,2,2,3,1] 0.75 0.625 -0.75 0 1 1.125 -0.875 -0.25 -1.25 -0.375 0.25 "
                     "-1.125 0.125 0.375 -1 -0.5 0.875 0.5 -1.5 1.375 -1.375 -0.625 -0.125 1.25",
                     "f32[2,2,1,2,1] 0.75 0.625 -0.25 -0.25 1.375 1.375 1.375 1.375",
                     "f32[2,2,2,3,1] -1.25 1.25 0.75 0.375 1.375 -1 0.25 0.125 0.5 -0.375 -0.75 "
                     "-0.125 -0.25 -1.125 -0.875 1.125 -1.375 0.875 -0.625 -1.5 0.625 0 1 -0.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[2,2,1,2,1] -1.25 1.25 0.125 0.125 -1.5 -1.5 -1.5 -1.5"},
      },
      {
          .name = "same padding bfloat16",
          .inputs = {"bf16[2,2,2,3,1] 0.5 1.25 0.125 -0.625 1 -1.5 0.75 0.625 -1.25 -0.375 -0.5 "
                     "-1.375 0.875 -0.875 -1.125 -0.125 1.125 0.25 1.375 0 -0.75 -0.25 -1 0.375",
                     "bf16[2,2,1,2,1] 1.25 1.25 0.75 0.625 1.375 0 1.375 0",
                     "bf16[2,2,2,3,1] 1.375 0.125 0.875 -1.125 -1.375 -0.5 1.25 -1.5 -1 -0.75 "
                     "-1.25 0.5 -0.375 -0.875 0.375 1 0.75 0.625 1.125 -0.125 0 -0.625 -0.25 0.25"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"bf16[2,2,1,2,1] 0.125 0.125 1.25 -1.5 1.125 -0.125 1.125 -0.125"},
      },
      {.name = "a gradient of rank 4",
       .inputs = {"f32[1,2,2,2,1] 0", "f32[1,1,1,1,1] 0", "f32[2,2,2,1] 0"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .error = "out_grad_backprop must be 5-dimensional"},
  };
}

} // namespace
} // namespace troupe
