// Cases of MaxPool and MaxPoolGrad; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(MaxPool) {
  return {
      {.name = "half: the lowest finite number where a window has none",
       .inputs = {"f16[1,1,4,1] -inf nan 1 nan"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 2, 1}},
                 {"padding", std::string("VALID")}},
       .outputs = {"f16[1,1,2,1] -65504 1"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {.name = "bfloat16: the same",
       .inputs = {"bf16[1,1,2,1] -inf -inf"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 2, 1}},
                 {"padding", std::string("VALID")}},
       .outputs = {"bf16[1,1,1,1] -3.38953e38"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {.name = "NaN does not count",
       .inputs = {"f32[1,2,4,1] nan 1 nan nan 2 3 nan nan"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"padding", std::string("VALID")}},
       .outputs = {"f32[1,1,2,1] 3 -3.4028235e38"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {.name = "a stride beyond all images",
       .inputs = {"f32[1,2,2,1] 1 2 3 4"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 4611686018427387904, 2, 1}},
                 {"padding", std::string("SAME")}},
       .error = "strides of 1,4611686018427387904,2,1 are beyond 2^31 - 1"},
      {.name = "windows in the padding alone",
       .inputs = {"f32[1,0,2,1]"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 2, 1}},
                 {"padding", std::string("EXPLICIT")},
                 {"explicit_paddings", std::vector<std::int64_t>{0, 0, 1, 1, 0, 0, 0, 0}}},
       .error = "lies in the padding alone"},
      {
          .name = "valid",
          .inputs = {"f32[1,4,4,1] -2.5 2.5 -0.5 -3 -1 1 -2 -3.5 3 -4 3.5 0.5 0 2 1.5 -1.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,1] 2.5 -0.5 3 3.5"},
      },
      {
          .name = "overlapping windows",
          .inputs = {"f32[1,4,3,2] 4.5 -6 5 -3 1 2 -4.5 0 -1.5 -4 -1 -3.5 2.5 -5.5 -5 -2.5 4 "
                     "3.5 3 -0.5 5.5 0.5 1.5 -2"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,3,2,2] 5 0 5 2 2.5 0 4 3.5 5.5 0.5 5.5 3.5"},
      },
      {
          .name = "same",
          .inputs = {"f32[1,5,5,1] 2.75 2.25 -0.25 5.25 1.25 1.75 0.25 -5.25 -5.75 4.75 0.75 "
                     "-4.25 4.25 -3.25 -2.75 -3.75 3.75 -1.75 -0.75 5.75 3.25 -6.25 -2.25 "
                     "-4.75 -1.25"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,3,3,1] 2.75 5.25 5.25 3.75 4.25 5.75 3.25 -2.25 -1.25"},
      },
      {
          .name = "windows that leave gaps",
          .inputs = {"f32[1,5,5,1] 4.75 4.25 -6.25 -4.75 -0.25 -1.25 -3.25 -0.75 -5.25 -4.25 "
                     "3.25 2.25 1.25 1.75 5.75 0.25 -2.75 -1.75 2.75 3.75 -2.25 -5.75 -3.75 "
                     "5.25 0.75"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 3, 3, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,1] 4.75 -0.25 0.25 3.75"},
      },
      {
          .name = "same, window larger than the image",
          .inputs = {"f32[1,2,2,1] -1 -0.5 0 0.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 5, 5, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,2,2,1] 0.5"},
      },
      {
          .name = "batch of two, three channels",
          .inputs = {"f32[2,3,3,3] 13 8 7 -4 -10 -13.5 -10.5 4.5 -6.5 3.5 12.5 -2 -1.5 -12 5 "
                     "2.5 1.5 10.5 -3 5.5 -5 0.5 1 9.5 -4.5 -2.5 8.5 10 6.5 -11 12 2 0 11.5 "
                     "-7.5 -12.5 -9.5 6 -11.5 3 -0.5 -7 -8 -13 -1 -5.5 11 -6 9 7.5 -3.5 4 -9 "
                     "-8.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 3, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[2,1,2,3] 13 12.5 9.5 2.5 4.5 10.5 12 11 0 12 7.5 0"},
      },
      {
          .name = "1 x 1",
          .inputs = {"f32[1,2,2,2] -1 0.5 -2 1 -0.5 -1.5 0 1.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,2] -1 0.5 -2 1 -0.5 -1.5 0 1.5"},
      },
      {
          .name = "explicit paddings",
          .inputs = {"f32[1,3,3,1] 1.25 0.25 1.75 -2.25 -1.25 0.75 -1.75 -0.25 -0.75"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 1, 1, 0, 1, 0, 0}}},
          .outputs = {"f32[1,2,3,1] 1.25 1.75 1.75 -0.25 0.75 0.75"},
      },
      {
          .name = "valid, double",
          .inputs = {"f64[1,4,4,1] -2.5 2.5 -0.5 -3 -1 1 -2 -3.5 3 -4 3.5 0.5 0 2 1.5 -1.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f64[1,2,2,1] 2.5 -0.5 3 3.5"},
      },
      {
          .name = "overlapping windows, double",
          .inputs = {"f64[1,4,3,2] 4.5 -6 5 -3 1 2 -4.5 0 -1.5 -4 -1 -3.5 2.5 -5.5 -5 -2.5 4 "
                     "3.5 3 -0.5 5.5 0.5 1.5 -2"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f64[1,3,2,2] 5 0 5 2 2.5 0 4 3.5 5.5 0.5 5.5 3.5"},
      },
      {
          .name = "same, double",
          .inputs = {"f64[1,5,5,1] 2.75 2.25 -0.25 5.25 1.25 1.75 0.25 -5.25 -5.75 4.75 0.75 "
                     "-4.25 4.25 -3.25 -2.75 -3.75 3.75 -1.75 -0.75 5.75 3.25 -6.25 -2.25 "
                     "-4.75 -1.25"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f64[1,3,3,1] 2.75 5.25 5.25 3.75 4.25 5.75 3.25 -2.25 -1.25"},
      },
      {
          .name = "no images",
          .inputs = {"f32[0,2,2,1]"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[0,1,1,1]"},
      },
      {
          .name = "no channels",
          .inputs = {"f32[1,2,2,0]"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,1,1,0]"},
      },
      {
          .name = "infinity",
          .inputs = {"f32[1,4,2,1] inf 1 2 3 -inf -5 -inf -7"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,1,1] inf -5"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "large enough for two threads",
          .inputs = {"f32[8,64,64,8] 1.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[8,32,32,8] 1.5"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
      {
          .name = "rank 3",
          .inputs = {"f32[2,2,2] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Shape must be rank 4 but is rank 3",
      },
      {
          .name = "three sizes of the window",
          .inputs = {"f32[1,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Length for attr 'ksize' of 3 must be at least minimum 4",
      },
      {
          .name = "five sizes of the window",
          .inputs = {"f32[1,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "MaxPool requires the ksize attribute to contain 4 values, but got: 5",
      },
      {
          .name = "five strides",
          .inputs = {"f32[1,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "MaxPool requires the stride attribute to contain 4 values, but got: 5",
      },
      {
          .name = "stride 0",
          .inputs = {"f32[1,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 0, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Stride must be > 0, but got 0",
      },
      {
          .name = "window of size 0",
          .inputs = {"f32[1,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 0, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Sliding window ksize must be positive. The specified or inferred ksize "
                   "is: 1,0,2,1",
      },
      {
          .name = "window over the batch",
          .inputs = {"f32[1,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{2, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Pooling is not yet supported on the batch dimension.",
      },
      {
          .name = "windows over the depth",
          .inputs = {"f32[1,1,2,6] 0 9 2 3 4 5 6 7 8 9 10 -inf"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 1, 3}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 3}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,1,2,2] 9 5 8 10"},
          .check_gradient = false,
          .no_gradient_reason = "MaxPoolGrad refuses the depth, as TensorFlow's does",
      },
      {
          .name = "windows over the depth, which look at every pixel",
          .inputs = {"f64[1,2,1,2] 1 2 4 3"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 1, 2}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 2}},
                    {"padding", std::string("VALID")}},
          .outputs = {"?"},
          .check_gradient = false,
          .no_gradient_reason = "MaxPoolGrad refuses the depth, as TensorFlow's does",
      },
      {
          .name = "windows over the depth of nothing",
          .inputs = {"f32[0,2,2,2]"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 1, 2}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 2}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[0,2,2,1]"},
          .check_gradient = false,
          .no_gradient_reason = "MaxPoolGrad refuses the depth, as TensorFlow's does",
      },
      {
          .name = "windows over the depth that do not divide it",
          .inputs = {"f32[1,1,1,3] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 1, 2}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 2}},
                    {"padding", std::string("VALID")}},
          .error = "Depthwise max pooling requires the depth window to evenly divide the input "
                   "depth",
      },
      {
          .name = "windows over the depth that overlap",
          .inputs = {"f32[1,1,1,4] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 1, 2}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Depthwise max pooling requires the depth window to equal the depth stride",
      },
      {
          .name = "windows over rows and depth",
          .inputs = {"f32[1,2,2,2] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 1, 2}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 2}},
                    {"padding", std::string("VALID")}},
          .error = "MaxPooling supports exactly one of pooling across depth or pooling across "
                   "width/height.",
      },
      {
          .name = "window larger than the image",
          .inputs = {"f32[1,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 5, 5, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Negative dimension size caused by subtracting 5 from 2",
      },
      {
          .name = "NCHW",
          .inputs = {"f32[1,2,2,2] 1 2 3 4 8 7 6 5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")},
                    {"data_format", std::string("NCHW")}},
          .outputs = {"f32[1,2,1,2] 3 4 8 7"},
      },
      {
          .name = "padding as large as the window",
          .inputs = {"f32[1,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 2, 1, 0, 0, 0, 0}}},
          .error = "Top padding 2 needs to be smaller than the window size 2",
      },
  };
}

TROUPE_OP_CASES(MaxPoolGrad) {
  return {
      {.name = "numbers beyond the largest with a sign",
       .inputs = {"u64[1,1,4,1] 1 18446744073709551615 3 2", "u64[1,1,2,1] 18446744073709551615 3",
                  "u64[1,1,2,1] 5 7"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 2, 1}},
                 {"padding", std::string("VALID")}},
       .outputs = {"u64[1,1,4,1] 0 5 7 0"}},
      {
          .name = "valid",
          .inputs = {"f32[1,4,4,1] -2.5 2.5 -0.5 -3 -1 1 -2 -3.5 3 -4 3.5 0.5 0 2 1.5 -1.5",
                     "f32[1,2,2,1] 2.5 -0.5 3 3.5", "f32[1,2,2,1] -1.625 1.125 -0.125 1.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,4,4,1] 0 -1.625 1.125 0 0 0 0 0 -0.125 0 1.125 0 0 0 0 0"},
      },
      {
          .name = "overlapping windows",
          .inputs = {"f32[1,4,3,2] 4.5 -6 5 -3 1 2 -4.5 0 -1.5 -4 -1 -3.5 2.5 -5.5 -5 -2.5 4 "
                     "3.5 3 -0.5 5.5 0.5 1.5 -2",
                     "f32[1,3,2,2] 5 0 5 2 2.5 0 4 3.5 5.5 0.5 5.5 3.5",
                     "f32[1,3,2,2] 1.625 1.875 1.625 0.125 -0.875 -1.875 -0.125 -0.375 0.125 "
                     "0.125 0.375 0.375"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,4,3,2] 0 0 3.25 0 0 0.125 0 0 0 0 0 0 -0.875 0 0 0 -0.125 0 0 0 "
                      "0.5 0.125 0 0"},
      },
      {
          .name = "same",
          .inputs = {"f32[1,5,5,1] 2.75 2.25 -0.25 5.25 1.25 1.75 0.25 -5.25 -5.75 4.75 0.75 "
                     "-4.25 4.25 -3.25 -2.75 -3.75 3.75 -1.75 -0.75 5.75 3.25 -6.25 -2.25 "
                     "-4.75 -1.25",
                     "f32[1,3,3,1] 2.75 5.25 5.25 3.75 4.25 5.75 3.25 -2.25 -1.25",
                     "f32[1,3,3,1] -1.875 0.125 0.125 -1.375 -1.375 -1.125 -0.125 -0.875 "
                     "-1.625"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,5,5,1] -1.875 0 0 0.25 0 0 0 0 0 0 0 0 -1.375 0 0 0 -1.375 0 0 "
                      "-1.125 -0.125 0 -0.875 0 -1.625"},
      },
      {
          .name = "windows that leave gaps",
          .inputs = {"f32[1,5,5,1] 4.75 4.25 -6.25 -4.75 -0.25 -1.25 -3.25 -0.75 -5.25 -4.25 "
                     "3.25 2.25 1.25 1.75 5.75 0.25 -2.75 -1.75 2.75 3.75 -2.25 -5.75 -3.75 "
                     "5.25 0.75",
                     "f32[1,2,2,1] 4.75 -0.25 0.25 3.75", "f32[1,2,2,1] 1.125 -1.875 0.625 1.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 3, 3, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,5,5,1] 1.125 0 0 0 -1.875 0 0 0 0 0 0 0 0 0 0 0.625 0 0 0 1.125 "
                      "0 0 0 0 0"},
      },
      {
          .name = "same, window larger than the image",
          .inputs = {"f32[1,2,2,1] -1 -0.5 0 0.5", "f32[1,2,2,1] 0.5",
                     "f32[1,2,2,1] -1.125 -1.875 -0.125 1.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 5, 5, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,2,2,1] 0 0 0 -2"},
      },
      {
          .name = "batch of two, three channels",
          .inputs = {"f32[2,3,3,3] 13 8 7 -4 -10 -13.5 -10.5 4.5 -6.5 3.5 12.5 -2 -1.5 -12 5 "
                     "2.5 1.5 10.5 -3 5.5 -5 0.5 1 9.5 -4.5 -2.5 8.5 10 6.5 -11 12 2 0 11.5 "
                     "-7.5 -12.5 -9.5 6 -11.5 3 -0.5 -7 -8 -13 -1 -5.5 11 -6 9 7.5 -3.5 4 -9 "
                     "-8.5",
                     "f32[2,1,2,3] 13 12.5 9.5 2.5 4.5 10.5 12 11 0 12 7.5 0",
                     "f32[2,1,2,3] -1.375 1.125 -0.875 0.375 -1.875 1.875 1.625 -1.625 1.875 "
                     "-1.375 -0.625 0.625"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 3, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[2,3,3,3] -1.375 0 0 0 0 0 0 -1.875 0 0 1.125 0 0 0 0 0.375 0 1.875 "
                      "0 0 0 0 0 -0.875 0 0 0 0 0 0 0.25 0 2.5 0 0 0 0 0 0 0 0 0 0 0 0 0 "
                      "-1.625 0 0 -0.625 0 0 0 0"},
      },
      {
          .name = "1 x 1",
          .inputs = {"f32[1,2,2,2] -1 0.5 -2 1 -0.5 -1.5 0 1.5",
                     "f32[1,2,2,2] -1 0.5 -2 1 -0.5 -1.5 0 1.5",
                     "f32[1,2,2,2] 1.125 -0.875 1.375 1.875 2.125 -0.125 0.625 1.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,2] 1.125 -0.875 1.375 1.875 2.125 -0.125 0.625 1.125"},
      },
      {
          .name = "explicit paddings",
          .inputs = {"f32[1,3,3,1] 1.25 0.25 1.75 -2.25 -1.25 0.75 -1.75 -0.25 -0.75",
                     "f32[1,2,3,1] 1.25 1.75 1.75 -0.25 0.75 0.75",
                     "f32[1,2,3,1] 0.125 1.125 1.625 -1.875 -0.625 1.875"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 1, 1, 0, 1, 0, 0}}},
          .outputs = {"f32[1,3,3,1] 0.125 0 2.75 0 0 1.25 0 -1.875 0"},
      },
      {
          .name = "valid, double",
          .inputs = {"f64[1,4,4,1] -2.5 2.5 -0.5 -3 -1 1 -2 -3.5 3 -4 3.5 0.5 0 2 1.5 -1.5",
                     "f64[1,2,2,1] 2.5 -0.5 3 3.5", "f64[1,2,2,1] -1.625 1.125 -0.125 1.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f64[1,4,4,1] 0 -1.625 1.125 0 0 0 0 0 -0.125 0 1.125 0 0 0 0 0"},
      },
      {
          .name = "overlapping windows, double",
          .inputs = {"f64[1,4,3,2] 4.5 -6 5 -3 1 2 -4.5 0 -1.5 -4 -1 -3.5 2.5 -5.5 -5 -2.5 4 "
                     "3.5 3 -0.5 5.5 0.5 1.5 -2",
                     "f64[1,3,2,2] 5 0 5 2 2.5 0 4 3.5 5.5 0.5 5.5 3.5",
                     "f64[1,3,2,2] 1.625 1.875 1.625 0.125 -0.875 -1.875 -0.125 -0.375 0.125 "
                     "0.125 0.375 0.375"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f64[1,4,3,2] 0 0 3.25 0 0 0.125 0 0 0 0 0 0 -0.875 0 0 0 -0.125 0 0 0 "
                      "0.5 0.125 0 0"},
      },
      {
          .name = "same, double",
          .inputs = {"f64[1,5,5,1] 2.75 2.25 -0.25 5.25 1.25 1.75 0.25 -5.25 -5.75 4.75 0.75 "
                     "-4.25 4.25 -3.25 -2.75 -3.75 3.75 -1.75 -0.75 5.75 3.25 -6.25 -2.25 "
                     "-4.75 -1.25",
                     "f64[1,3,3,1] 2.75 5.25 5.25 3.75 4.25 5.75 3.25 -2.25 -1.25",
                     "f64[1,3,3,1] -1.875 0.125 0.125 -1.375 -1.375 -1.125 -0.125 -0.875 "
                     "-1.625"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f64[1,5,5,1] -1.875 0 0 0.25 0 0 0 0 0 0 0 0 -1.375 0 0 0 -1.375 0 0 "
                      "-1.125 -0.125 0 -0.875 0 -1.625"},
      },
      {
          .name = "the first of equals gets it all",
          .inputs = {"f32[1,2,2,1] 1", "f32[1,1,1,1] 1", "f32[1,1,1,1] 1"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,1] 1 0 0 0"},
      },
      {
          .name = "no images",
          .inputs = {"f32[0,2,2,1]", "f32[0,1,1,1]", "f32[0,1,1,1]"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[0,2,2,1]"},
      },
      {
          .name = "input of rank 2",
          .inputs = {"f32[2,2] 0", "f32[1,1,1,1] 1", "f32[1,1,1,1] 1"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Shape must be rank 4 but is rank 2",
      },
      {
          .name = "gradient of rank 3",
          .inputs = {"f32[1,2,2,1] 0", "f32[1,1,1,1] 1", "f32[1,1,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "out_backprop must be 4-dimensional",
      },
      {
          .name = "output of another shape",
          .inputs = {"f32[1,2,2,1] 0", "f32[1,2,1,1] 0", "f32[1,1,1,1] 1"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Expected orig_output shape to be [1,1,1,1], but got [1,2,1,1]",
      },
      {
          .name = "gradient of another shape",
          .inputs = {"f32[1,2,2,1] 0", "f32[1,1,1,1] 1", "f32[1,2,1,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Expected grad shape to be [1,1,1,1], but got [1,2,1,1]",
      },
  };
}

} // namespace
} // namespace troupe
