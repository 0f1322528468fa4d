// Cases of AvgPool and AvgPoolGrad; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(AvgPool) {
  return {
      {
          .name = "valid",
          .inputs = {"f32[1,4,4,1] -2.5 2.5 -0.5 -3 -1 1 -2 -3.5 3 -4 3.5 0.5 0 2 1.5 -1.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,1] 0 -2.25 0.25 1"},
      },
      {
          .name = "overlapping windows",
          .inputs = {"f32[1,4,3,2] 4.5 -6 5 -3 1 2 -4.5 0 -1.5 -4 -1 -3.5 2.5 -5.5 -5 -2.5 4 "
                     "3.5 3 -0.5 5.5 0.5 1.5 -2"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,3,2,2] 0.875 -3.25 0.875 -2.125 -2.125 -3 -0.875 -1.625 1.5 -2 "
                      "1.5 -0.125"},
      },
      {
          .name = "same",
          .inputs = {"f32[1,5,5,1] 2.75 2.25 -0.25 5.25 1.25 1.75 0.25 -5.25 -5.75 4.75 0.75 "
                     "-4.25 4.25 -3.25 -2.75 -3.75 3.75 -1.75 -0.75 5.75 3.25 -6.25 -2.25 "
                     "-4.75 -1.25"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,3,3,1] 1.75 -0.5833333 1.375 -0.875 -0.33333334 -0.25 -1.5 "
                      "-4.4166665 -3"},
      },
      {
          .name = "windows that leave gaps",
          .inputs = {"f32[1,5,5,1] 4.75 4.25 -6.25 -4.75 -0.25 -1.25 -3.25 -0.75 -5.25 -4.25 "
                     "3.25 2.25 1.25 1.75 5.75 0.25 -2.75 -1.75 2.75 3.75 -2.25 -5.75 -3.75 "
                     "5.25 0.75"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 3, 3, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,1] 4.5 -2.5 -1.25 3.25"},
      },
      {
          .name = "same, window larger than the image",
          .inputs = {"f32[1,2,2,1] -1 -0.5 0 0.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 5, 5, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,2,2,1] -0.25"},
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
          .outputs = {"f32[2,1,2,3] 1.4166666 0.8333333 0.16666667 -2.9166667 -2.9166667 2.25 "
                      "3.1666667 5.4166665 -6.5 5.25 -3.4166667 -5.4166665"},
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
          .name = "valid, double",
          .inputs = {"f64[1,4,4,1] -2.5 2.5 -0.5 -3 -1 1 -2 -3.5 3 -4 3.5 0.5 0 2 1.5 -1.5"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f64[1,2,2,1] 0 -2.25 0.25 1"},
      },
      {
          .name = "overlapping windows, double",
          .inputs = {"f64[1,4,3,2] 4.5 -6 5 -3 1 2 -4.5 0 -1.5 -4 -1 -3.5 2.5 -5.5 -5 -2.5 4 "
                     "3.5 3 -0.5 5.5 0.5 1.5 -2"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f64[1,3,2,2] 0.875 -3.25 0.875 -2.125 -2.125 -3 -0.875 -1.625 1.5 -2 "
                      "1.5 -0.125"},
      },
      {
          .name = "same, double",
          .inputs = {"f64[1,5,5,1] 2.75 2.25 -0.25 5.25 1.25 1.75 0.25 -5.25 -5.75 4.75 0.75 "
                     "-4.25 4.25 -3.25 -2.75 -3.75 3.75 -1.75 -0.75 5.75 3.25 -6.25 -2.25 "
                     "-4.75 -1.25"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f64[1,3,3,1] 1.75 -0.5833333333333334 1.375 -0.875 -0.3333333333333333 "
                      "-0.25 -1.5 -4.416666666666667 -3"},
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
          .outputs = {"f32[1,2,1,1] inf -inf"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "NaN spoils its window",
          .inputs = {"f32[1,4,2,1] nan 1 2 3 1 2 3 4"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,1,1] nan 2.5"},
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
          .error = "AvgPool requires the ksize attribute to contain 4 values, but got: 5",
      },
      {
          .name = "five strides",
          .inputs = {"f32[1,2,2,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "AvgPool requires the stride attribute to contain 4 values, but got: 5",
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
          .name = "window over the depth",
          .inputs = {"f32[1,2,2,2] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 1, 2}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 2}},
                    {"padding", std::string("VALID")}},
          .error = "Non-spatial pooling is not yet supported",
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
          .inputs = {"f32[1,2,2,2] 1 2 3 4 5 6 7 12"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")},
                    {"data_format", std::string("NCHW")}},
          .outputs = {"f32[1,2,1,2] 2 3 6 9"},
      },
  };
}

TROUPE_OP_CASES(AvgPoolGrad) {
  return {
      {
          .name = "valid",
          .inputs = {"i32[4] 1 4 4 1", "f32[1,2,2,1] -1.625 1.125 -0.125 1.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,4,4,1] -0.40625 -0.40625 0.28125 0.28125 -0.40625 -0.40625 "
                      "0.28125 0.28125 -0.03125 -0.03125 0.28125 0.28125 -0.03125 -0.03125 "
                      "0.28125 0.28125"},
      },
      {
          .name = "overlapping windows",
          .inputs = {"i32[4] 1 4 3 2",
                     "f32[1,3,2,2] 1.625 1.875 1.625 0.125 -0.875 -1.875 -0.125 -0.375 0.125 "
                     "0.125 0.375 0.375"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,4,3,2] 0.40625 0.46875 0.8125 0.5 0.40625 0.03125 0.1875 0 "
                      "0.5625 -0.0625 0.375 -0.0625 -0.1875 -0.4375 -0.125 -0.4375 0.0625 0 "
                      "0.03125 0.03125 0.125 0.125 0.09375 0.09375"},
      },
      {
          .name = "same",
          .inputs = {"i32[4] 1 5 5 1",
                     "f32[1,3,3,1] -1.875 0.125 0.125 -1.375 -1.375 -1.125 -0.125 -0.875 "
                     "-1.625"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,5,5,1] -0.46875 -0.44791666 0.020833334 0.052083336 0.03125 "
                      "-0.46875 -0.44791666 0.020833334 0.052083336 0.03125 -0.34375 "
                      "-0.5729167 -0.22916667 -0.5104167 -0.28125 -0.34375 -0.5729167 "
                      "-0.22916667 -0.5104167 -0.28125 -0.0625 -0.3541667 -0.2916667 "
                      "-1.1041667 -0.8125"},
      },
      {
          .name = "windows that leave gaps",
          .inputs = {"i32[4] 1 5 5 1", "f32[1,2,2,1] 1.125 -1.875 0.625 1.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 3, 3, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,5,5,1] 0.5625 0.5625 0 -0.9375 -0.9375 0 0 0 0 0 0 0 0 0 0 "
                      "0.3125 0.3125 0 0.5625 0.5625 0 0 0 0 0"},
      },
      {
          .name = "same, window larger than the image",
          .inputs = {"i32[4] 1 2 2 1", "f32[1,2,2,1] -1.125 -1.875 -0.125 1.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 5, 5, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,2,2,1] -0.5"},
      },
      {
          .name = "batch of two, three channels",
          .inputs = {"i32[4] 2 3 3 3",
                     "f32[2,1,2,3] -1.375 1.125 -0.875 0.375 -1.875 1.875 1.625 -1.625 1.875 "
                     "-1.375 -0.625 0.625"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 3, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[2,3,3,3] -0.22916667 0.1875 -0.14583334 -0.16666667 -0.125 "
                      "0.16666666 0.0625 -0.3125 0.3125 -0.22916667 0.1875 -0.14583334 "
                      "-0.16666667 -0.125 0.16666666 0.0625 -0.3125 0.3125 -0.22916667 0.1875 "
                      "-0.14583334 -0.16666667 -0.125 0.16666666 0.0625 -0.3125 0.3125 "
                      "0.27083334 -0.27083334 0.3125 0.04166667 -0.375 0.4166667 -0.22916667 "
                      "-0.10416667 0.10416667 0.27083334 -0.27083334 0.3125 0.04166667 -0.375 "
                      "0.4166667 -0.22916667 -0.10416667 0.10416667 0.27083334 -0.27083334 "
                      "0.3125 0.04166667 -0.375 0.4166667 -0.22916667 -0.10416667 0.10416667"},
      },
      {
          .name = "1 x 1",
          .inputs = {"i32[4] 1 2 2 2",
                     "f32[1,2,2,2] 1.125 -0.875 1.375 1.875 2.125 -0.125 0.625 1.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,2] 1.125 -0.875 1.375 1.875 2.125 -0.125 0.625 1.125"},
      },
      {
          .name = "valid, double",
          .inputs = {"i32[4] 1 4 4 1", "f64[1,2,2,1] -1.625 1.125 -0.125 1.125"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f64[1,4,4,1] -0.40625 -0.40625 0.28125 0.28125 -0.40625 -0.40625 "
                      "0.28125 0.28125 -0.03125 -0.03125 0.28125 0.28125 -0.03125 -0.03125 "
                      "0.28125 0.28125"},
      },
      {
          .name = "overlapping windows, double",
          .inputs = {"i32[4] 1 4 3 2",
                     "f64[1,3,2,2] 1.625 1.875 1.625 0.125 -0.875 -1.875 -0.125 -0.375 0.125 "
                     "0.125 0.375 0.375"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f64[1,4,3,2] 0.40625 0.46875 0.8125 0.5 0.40625 0.03125 0.1875 0 "
                      "0.5625 -0.0625 0.375 -0.0625 -0.1875 -0.4375 -0.125 -0.4375 0.0625 0 "
                      "0.03125 0.03125 0.125 0.125 0.09375 0.09375"},
      },
      {
          .name = "same, double",
          .inputs = {"i32[4] 1 5 5 1",
                     "f64[1,3,3,1] -1.875 0.125 0.125 -1.375 -1.375 -1.125 -0.125 -0.875 "
                     "-1.625"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 3, 1}},
                    {"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f64[1,5,5,1] -0.46875 -0.4479166666666667 0.020833333333333332 "
                      "0.05208333333333333 0.03125 -0.46875 -0.4479166666666667 "
                      "0.020833333333333332 0.05208333333333333 0.03125 -0.34375 "
                      "-0.5729166666666666 -0.22916666666666666 -0.5104166666666666 -0.28125 "
                      "-0.34375 -0.5729166666666666 -0.22916666666666666 -0.5104166666666666 "
                      "-0.28125 -0.0625 -0.35416666666666663 -0.29166666666666663 "
                      "-1.1041666666666665 -0.8125"},
      },
      {
          .name = "no images",
          .inputs = {"i32[4] 0 2 2 1", "f32[0,1,1,1]"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[0,2,2,1]"},
      },
      {
          .name = "three sizes",
          .inputs = {"i32[3] 2 2 1", "f32[1,1,1,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Shape must be rank 4 but is rank 3",
      },
      {
          .name = "gradient of rank 3",
          .inputs = {"i32[4] 1 2 2 1", "f32[1,1,1] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "out_backprop must be 4-dimensional",
      },
      {
          .name = "gradient of another depth",
          .inputs = {"i32[4] 1 2 2 1", "f32[1,1,1,2] 0"},
          .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Expected grad shape to be [1,1,1,1], but got [1,1,1,2]",
      },
      {.name = "more windows than the pool has",
       .inputs = {"i32[4] 1 2 2 1", "f32[1,2,3,1] 1 2 3 4 5 6"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .outputs = {"f32[1,2,2,1] 0.25 1.25 2.25 8.25"},
       .check_gradient = false,
       .no_gradient_reason =
           "TensorFlow takes these gradients, but its pool makes none of this shape"},
      {.name = "gradients of fewer images",
       .inputs = {"i32[4] 2 2 2 1", "f32[1,2,2,1] 4 8 12 16"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .outputs = {"f32[2,2,2,1] 1 5 7 27 0 0 0 0"},
       .check_gradient = false,
       .no_gradient_reason =
           "TensorFlow takes these gradients, but its pool makes none of this shape"},
      {.name = "fewer windows than the pool has",
       .inputs = {"i32[4] 1 3 3 1", "f32[1,1,1,1] 4"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .outputs = {"f32[1,3,3,1] 1 1 0 1 1 0 0 0 0"},
       .check_gradient = false,
       .no_gradient_reason =
           "TensorFlow takes these gradients, but its pool makes none of this shape"},
      {.name = "a window behind the image",
       .inputs = {"i32[4] 1 2 2 1", "f32[1,4,2,1] 0"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .error = "index * stride must be less than or equal to input size"},
      {.name = "a gradient of more images",
       .inputs = {"i32[4] 1 2 2 1", "f32[2,1,1,1] 0"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .error = "Expected grad shape to be [1,1,1,1], but got [2,1,1,1]"},
      {.name = "a negative size",
       .inputs = {"i32[4] 1 -2 2 1", "f32[1,1,1,1] 0"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .error = "Expected a non-negative size, got -2"},
      {.name = "five sizes",
       .inputs = {"i32[5] 1 2 2 1 1", "f32[1,1,1,1] 0"},
       .attrs = {{"ksize", std::vector<std::int64_t>{1, 2, 2, 1}},
                 {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                 {"padding", std::string("VALID")}},
       .error = "out_backprop must be 1-dimensional and 4 elements"},
  };
}

} // namespace
} // namespace troupe
