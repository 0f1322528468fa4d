// Cases of Conv2D; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Conv2D) {
  return {
      {
          .name = "valid",
          .inputs = {"f32[1,5,4,2] -0.125 1.125 -1.875 -0.625 -1.375 -1.625 -1.125 -0.375 "
                     "-0.375 0.375 -0.125 0.875 -1.125 1.625 -1.875 0.875 -0.125 0.375 "
                     "-1.375 -1.125 1.375 1.875 -0.625 0.875 1.625 1.625 -1.625 -1.625 "
                     "-1.125 1.625 -1.375 -0.125 1.875 0.375 0.875 -0.625 0.875 1.375 -1.875 "
                     "1.125",
                     "f32[2,3,2,3] 0.125 -0.875 -0.875 -0.375 -0.375 2.125 -0.125 1.125 "
                     "1.125 -0.625 -0.375 -0.375 -1.375 2.125 1.875 0.375 -0.625 1.625 0.875 "
                     "-0.375 0.125 0.125 1.875 0.375 0.875 -1.625 -0.625 -1.625 -1.125 1.875 "
                     "1.875 0.875 1.125 -0.125 1.875 -0.125"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,4,2,3] -2.65625 -1.96875 -4.25 -4.65625 0.46875 -1.5 4.34375 "
                      "5.28125 1.375 -2.78125 -11.46875 -0.75 0.0625 9.5625 2.71875 -7.71875 "
                      "-3.28125 1.3125 7.90625 -4.03125 0.8125 -3.0625 -6.6875 -7.03125"},
      },
      {
          .name = "same, odd filter",
          .inputs = {"f32[1,4,4,1] -0.125 -1.875 0.375 -0.125 -0.125 -0.625 -1.125 0.625 "
                     "-0.625 -0.875 0.625 0.125 -1.375 0.125 -1.125 1.375",
                     "f32[3,3,1,2] 0.875 -1.625 -0.625 0.625 -0.625 1.875 -1.125 -0.375 "
                     "0.375 0.125 -1.125 -1.125 0.625 -0.875 -0.125 -1.625 -0.625 -0.625"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,4,4,2] 2.46875 2.6875 -0.28125 1.21875 1.75 2.875 -1.25 -0.1875 "
                      "2.53125 -1.34375 1.328125 2.546875 -2.921875 2.109375 2.28125 -0.9375 "
                      "1.3125 1.8125 0.484375 -1.171875 0.203125 2.609375 -2.90625 0.75 "
                      "0.28125 -2.34375 2.46875 3.4375 -3.34375 0.3125 2.25 -0.34375"},
      },
      {
          .name = "same, even filter",
          .inputs = {"f32[1,3,4,1] 0.375 0.875 -0.625 0.125 1.625 1.625 -1.375 -1.125 -1.625 "
                     "-0.125 -1.875 -0.125",
                     "f32[2,2,1,1] 1.375 -1.875 -1.125 0.625"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,3,4,1] -1.9375 -0.3125 -0.25 1.4375 0.9375 3.78125 2.25 -1.40625 "
                      "-2 3.34375 -2.34375 -0.171875"},
      },
      {
          .name = "stride 2, valid",
          .inputs = {"f32[1,5,6,1] 1.875 0.375 2.125 0.875 0.875 -1.125 2.125 -1.875 -0.875 "
                     "-0.125 1.125 -1.125 1.625 2.125 -1.125 0.625 -1.875 -0.375 -1.625 "
                     "1.875 -0.125 1.875 1.375 1.625 -1.125 -1.625 0.625 -1.125 1.125 -0.125",
                     "f32[3,2,1,2] 1.625 0.375 -0.125 -0.375 0.375 0.375 1.375 -0.875 0.125 "
                     "-0.375 -1.375 -0.875"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,3,2] -1.5 0.53125 1.84375 0.125 0.71875 3.1875 6.4375 -0.59375 "
                      "2.25 -1.59375 0.0625 -1.78125"},
      },
      {
          .name = "strides differ, same",
          .inputs = {"f32[1,5,5,2] -0.875 1.625 -1.125 1.875 0.125 0.625 1.125 0.125 -0.625 "
                     "-1.125 -1.625 1.125 -0.125 -1.125 1.625 -0.875 -0.125 -0.625 0.625 "
                     "0.375 0.625 -0.875 -0.625 -0.875 -0.625 -1.375 -1.125 1.875 1.875 "
                     "-1.125 -1.875 -1.125 0.875 1.125 -1.875 0.375 -1.875 0.125 0.625 2.125 "
                     "-0.875 1.375 1.625 1.875 -1.875 0.125 2.125 -0.375 1.375 0.375",
                     "f32[3,3,2,1] -0.125 -0.375 -1.125 0.125 -1.875 2.125 1.375 1.125 0.875 "
                     "-1.875 -0.375 -0.375 -1.125 1.125 0.625 1.875 -0.625 -0.875"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 2, 3, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,3,2,1] -3.5 3.78125 0.9375 10.53125 3.03125 2.75"},
      },
      {
          .name = "stride larger than the filter",
          .inputs = {"f32[1,5,5,1] 1.625 -0.625 1.375 -1.625 -1.375 0.625 0.125 -0.125 "
                     "-0.625 0.625 -0.125 1.125 0.125 0.375 0.625 2.125 1.375 -0.125 1.625 "
                     "1.375 -1.625 0.875 1.375 1.125 0.875",
                     "f32[1,2,1,2] -1.625 2.125 0.125 -0.875"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 3, 4, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f32[1,2,2,2] -2.71875 4 2.234375 -2.921875 -3.28125 3.3125 -2.234375 "
                      "2.921875"},
      },
      {
          .name = "dilation, valid",
          .inputs = {"f32[1,6,6,1] -1.625 1.125 -0.125 1.125 2.125 0.375 0.125 -1.625 -0.875 "
                     "0.125 0.875 1.375 -0.375 -1.625 -0.625 1.875 -1.125 -0.125 1.875 "
                     "-1.875 0.625 1.875 -0.875 0.375 1.875 -1.375 0.125 1.125 0.875 -0.125 "
                     "-1.125 0.125 -0.375 0.125 -0.375 1.375",
                     "f32[2,3,1,1] 2.125 -0.625 0.875 -1.125 -0.375 1.375"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")},
                    {"dilations", std::vector<std::int64_t>{1, 2, 2, 1}}},
          .outputs = {"f32[1,4,2,1] -2.40625 2.96875 -1.96875 -0.40625 -2.34375 -3.78125 "
                      "3.71875 -3.125"},
      },
      {
          .name = "dilation, same",
          .inputs = {"f32[1,4,5,1] 1.625 1.875 1.625 0.125 -0.875 -1.875 -0.125 -0.375 0.125 "
                     "0.125 0.375 0.375 1.125 0.875 0.625 -0.125 -0.625 2.125 -0.625 -0.875",
                     "f32[3,2,1,2] -1.625 -0.875 -0.125 -0.625 0.375 0.375 1.375 1.875 0.125 "
                     "-0.125 -1.625 1.625"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")},
                    {"dilations", std::vector<std::int64_t>{1, 2, 3, 1}}},
          .outputs = {"f32[1,4,5,2] 0.40625 4.875 -0.59375 2.21875 -1.46875 0.03125 0.75 "
                      "0.46875 0.15625 -0.0625 -3.96875 2.75 0.46875 -1.46875 1.46875 "
                      "-1.15625 0.125 -0.40625 -0.03125 0.125 1.34375 1.09375 -1.3125 0.28125 "
                      "-1.9375 0.21875 -2.21875 -1 0.125 0.21875 2.96875 4.21875 2.125 "
                      "0.34375 -1.25 -1.84375 1.40625 1.125 -0.4375 -0.34375"},
      },
      {
          .name = "explicit paddings",
          .inputs = {"f32[1,3,3,1] -1.875 0.125 0.125 -1.375 -1.375 -1.125 -0.125 -0.875 "
                     "-1.625",
                     "f32[2,2,1,1] -0.375 -0.125 0.125 -1.625"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 2, 1, 0, 1, 0, 0}}},
          .outputs = {"f32[1,5,3,1] 0 0 0 -0.4375 -0.1875 0.015625 2.75 1.59375 -0.1875 "
                      "2.09375 3.1875 0.21875 0.15625 0.53125 0.609375"},
      },
      {
          .name = "explicit paddings, stride and dilation",
          .inputs = {"f32[1,4,4,1] 1.125 -1.875 0.625 1.125 0.125 -0.875 -1.125 1.125 -1.125 "
                     "-1.625 0.875 1.875 -1.875 0.125 1.375 0.625",
                     "f32[2,2,1,2] 1.875 -1.125 1.625 -1.625 0.375 -0.625 -0.875 0.375"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 2, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"dilations", std::vector<std::int64_t>{1, 1, 2, 1}},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 1, 0, 2, 1, 0, 0}}},
          .outputs = {"f32[1,2,5,2] -0.984375 0.421875 1.640625 -0.703125 -0.125 -0.46875 "
                      "-1.6875 1.59375 0.234375 -0.390625 1.1875 -0.625 0 0.8125 -2.78125 "
                      "2.71875 -2.0625 0.875 -1.78125 0.71875"},
      },
      {
          .name = "1 x 1",
          .inputs = {"f32[1,2,3,3] -1.125 -1.875 -0.125 1.125 -0.125 0.125 -1.875 0.125 "
                     "1.875 1.625 1.125 -1.375 1.625 1.625 -1.125 0.625 -1.875 -1.375",
                     "f32[1,1,3,2] -0.625 -1.125 -0.625 0.875 0.375 -0.375"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,3,2] 1.828125 -0.328125 -0.578125 -1.421875 1.796875 1.515625 "
                      "-2.234375 -0.328125 -2.453125 0.015625 0.265625 -1.828125"},
      },
      {
          .name = "1 x 1 with stride",
          .inputs = {"f32[1,3,3,2] -1.375 1.125 -0.875 0.375 -1.875 1.875 1.625 -1.625 1.875 "
                     "-1.375 -0.625 0.625 1.875 1.625 -1.875 0.125 0.375 0.125",
                     "f32[1,1,2,2] 1.375 -1.125 1.625 0.125"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,2] -0.0625 1.6875 0.46875 2.34375 5.21875 -1.90625 0.71875 "
                      "-0.40625"},
      },
      {
          .name = "one channel in, batch of three",
          .inputs = {"f32[3,3,3,1] 1.125 -0.875 1.375 1.875 2.125 -0.125 0.625 1.125 0.625 "
                     "1.125 -1.625 -0.625 -1.625 1.625 -0.375 0.875 -0.875 -0.375 -1.875 "
                     "-0.375 1.875 -1.125 -0.625 1.875 -1.625 -1.625 0.625",
                     "f32[2,2,1,3] -1.625 0.125 1.625 -0.125 0.625 -0.625 0.375 -0.875 "
                     "-0.875 1.875 0.625 -1.875"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[3,2,2,3] 2.96875 -0.71875 -3.25 1.8125 -1.1875 -3.90625 -0.96875 "
                      "1.71875 -0.9375 -1.84375 -0.40625 1.375 0.8125 1.5625 1.21875 2.625 "
                      "-2.25 -2.96875 1.125 -0.5 -2.78125 -3.625 0.5 4.34375 1.5 0.125 "
                      "-0.65625 3.65625 2.84375 -4.75 -1.75 -0.125 3.03125 1.34375 2.90625 "
                      "-1.9375"},
      },
      {
          .name = "filter as large as the image",
          .inputs = {"f32[2,2,3,2] 0.125 1.125 1.625 -1.875 -0.625 1.875 0.125 -0.625 0.375 "
                     "-0.875 1.375 -0.625 0.375 -1.875 0.875 -1.125 1.875 -0.375 1.125 1.125 "
                     "1.625 -1.375 -0.625 0.125",
                     "f32[2,3,2,2] 0.375 -0.375 -1.625 0.125 -1.375 0.125 -0.875 0.375 0.375 "
                     "-0.875 -1.625 -0.125 1.125 0.875 1.625 -0.125 0.375 -1.875 1.625 0.375 "
                     "1.875 1.625 0.875 1.625"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[2,1,1,2] -5.78125 0.28125 4.6875 -5.8125"},
      },
      {
          .name = "valid, double",
          .inputs = {"f64[1,5,4,2] -0.125 1.125 -1.875 -0.625 -1.375 -1.625 -1.125 -0.375 "
                     "-0.375 0.375 -0.125 0.875 -1.125 1.625 -1.875 0.875 -0.125 0.375 "
                     "-1.375 -1.125 1.375 1.875 -0.625 0.875 1.625 1.625 -1.625 -1.625 "
                     "-1.125 1.625 -1.375 -0.125 1.875 0.375 0.875 -0.625 0.875 1.375 -1.875 "
                     "1.125",
                     "f64[2,3,2,3] 0.125 -0.875 -0.875 -0.375 -0.375 2.125 -0.125 1.125 "
                     "1.125 -0.625 -0.375 -0.375 -1.375 2.125 1.875 0.375 -0.625 1.625 0.875 "
                     "-0.375 0.125 0.125 1.875 0.375 0.875 -1.625 -0.625 -1.625 -1.125 1.875 "
                     "1.875 0.875 1.125 -0.125 1.875 -0.125"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f64[1,4,2,3] -2.65625 -1.96875 -4.25 -4.65625 0.46875 -1.5 4.34375 "
                      "5.28125 1.375 -2.78125 -11.46875 -0.75 0.0625 9.5625 2.71875 -7.71875 "
                      "-3.28125 1.3125 7.90625 -4.03125 0.8125 -3.0625 -6.6875 -7.03125"},
      },
      {
          .name = "strides differ, same, double",
          .inputs = {"f64[1,5,5,2] -0.875 1.625 -1.125 1.875 0.125 0.625 1.125 0.125 -0.625 "
                     "-1.125 -1.625 1.125 -0.125 -1.125 1.625 -0.875 -0.125 -0.625 0.625 "
                     "0.375 0.625 -0.875 -0.625 -0.875 -0.625 -1.375 -1.125 1.875 1.875 "
                     "-1.125 -1.875 -1.125 0.875 1.125 -1.875 0.375 -1.875 0.125 0.625 2.125 "
                     "-0.875 1.375 1.625 1.875 -1.875 0.125 2.125 -0.375 1.375 0.375",
                     "f64[3,3,2,1] -0.125 -0.375 -1.125 0.125 -1.875 2.125 1.375 1.125 0.875 "
                     "-1.875 -0.375 -0.375 -1.125 1.125 0.625 1.875 -0.625 -0.875"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 2, 3, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f64[1,3,2,1] -3.5 3.78125 0.9375 10.53125 3.03125 2.75"},
      },
      {
          .name = "dilation, same, double",
          .inputs = {"f64[1,4,5,1] 1.625 1.875 1.625 0.125 -0.875 -1.875 -0.125 -0.375 0.125 "
                     "0.125 0.375 0.375 1.125 0.875 0.625 -0.125 -0.625 2.125 -0.625 -0.875",
                     "f64[3,2,1,2] -1.625 -0.875 -0.125 -0.625 0.375 0.375 1.375 1.875 0.125 "
                     "-0.125 -1.625 1.625"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")},
                    {"dilations", std::vector<std::int64_t>{1, 2, 3, 1}}},
          .outputs = {"f64[1,4,5,2] 0.40625 4.875 -0.59375 2.21875 -1.46875 0.03125 0.75 "
                      "0.46875 0.15625 -0.0625 -3.96875 2.75 0.46875 -1.46875 1.46875 "
                      "-1.15625 0.125 -0.40625 -0.03125 0.125 1.34375 1.09375 -1.3125 0.28125 "
                      "-1.9375 0.21875 -2.21875 -1 0.125 0.21875 2.96875 4.21875 2.125 "
                      "0.34375 -1.25 -1.84375 1.40625 1.125 -0.4375 -0.34375"},
      },
      {
          .name = "explicit paddings, double",
          .inputs = {"f64[1,3,3,1] -1.875 0.125 0.125 -1.375 -1.375 -1.125 -0.125 -0.875 "
                     "-1.625",
                     "f64[2,2,1,1] -0.375 -0.125 0.125 -1.625"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 2, 1, 0, 1, 0, 0}}},
          .outputs = {"f64[1,5,3,1] 0 0 0 -0.4375 -0.1875 0.015625 2.75 1.59375 -0.1875 "
                      "2.09375 3.1875 0.21875 0.15625 0.53125 0.609375"},
      },
      {
          .name = "no images",
          .inputs = {"f32[0,2,2,1]", "f32[1,1,1,2] 0.375 0.875"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[0,2,2,2]"},
      },
      {
          .name = "images of no rows in padding",
          .inputs = {"f32[1,0,4,2]", "f32[3,3,2,2] 1"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 2, 2, 1, 1, 0, 0}}},
          .outputs = {"f32[1,2,4,2] 0"},
      },
      {
          .name = "images of no columns in padding, double",
          .inputs = {"f64[2,4,0,1]", "f64[3,3,1,2] 1"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 0, 0}}},
          .outputs = {"f64[2,4,2,2] 0"},
      },
      {
          .name = "an image of no rows in padding, large enough for two threads",
          .inputs = {"f32[1,0,256,64]", "f32[3,3,64,64] 1"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 2, 3, 1, 1, 0, 0}}},
          .outputs = {"f32[1,3,256,64] 0"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
      {
          .name = "no output channels",
          .inputs = {"f32[1,2,2,1] 0", "f32[1,1,1,0]"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,0]"},
      },
      {
          .name = "NaN and infinity reach the windows that see them",
          .inputs = {"f32[1,3,3,1] nan 1 2 0 inf 1 3 0.5 1", "f32[2,2,1,1] 1"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,2,2,1] nan inf inf inf"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "large enough for two threads",
          .inputs = {"f32[4,34,34,16] 1", "f32[3,3,16,24] 0.5"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[4,32,32,24] 72"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
      {
          .name = "input of rank 3",
          .inputs = {"f32[2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Shape must be rank 4 but is rank 3",
      },
      {
          .name = "filter of rank 3",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Shape must be rank 4 but is rank 3",
      },
      {
          .name = "depths do not fit",
          .inputs = {"f32[1,2,2,3] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Depth of input (3) is not a multiple of input depth of filter (2)",
      },
      {
          .name = "groups do not fit",
          .inputs = {"f32[1,2,2,4] 0", "f32[1,1,2,3] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Depth of output (3) is not a multiple of the number of groups (2)",
      },
      {
          .name = "two groups",
          .inputs = {"f32[1,1,2,4] 1 2 3 4 -1 0 0.5 2", "f32[1,1,2,4] 1 2 3 4 5 6 7 8"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .outputs = {"f32[1,1,2,4] 11 14 37 44 -1 -2 15.5 18"},
      },
      {
          .name = "a group for each channel, in double",
          .inputs = {"f64[1,2,2,3] 1 2 3 4 5 6 7 8 9 10 11 12",
                     "f64[2,2,1,3] 1 0 0 0 1 0 0 0 1 1 1 1"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")}},
          .outputs = {"f64[1,2,2,3] 11 16 21 4 0 12 7 11 0 10 0 0"},
      },
      {
          .name = "three strides",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Conv2D on data format NHWC requires the stride attribute to contain 4 values, "
                   "but got: 3",
      },
      {
          .name = "stride 0",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 0, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Stride must be > 0, but got 0",
      },
      {
          .name = "stride in the batch",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{2, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Current implementation does not yet support strides in the batch and "
                   "depth dimensions.",
      },
      {
          .name = "three dilations",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")},
                    {"dilations", std::vector<std::int64_t>{1, 1, 1}}},
          .error = "Conv2D requires the dilation attribute to contain 4 values, but got: 3",
      },
      {
          .name = "dilation 0",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")},
                    {"dilations", std::vector<std::int64_t>{1, 0, 1, 1}}},
          .error = "Dilation rate must be >= 1, but got 0",
      },
      {
          .name = "dilation in depth",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")},
                    {"dilations", std::vector<std::int64_t>{1, 1, 1, 2}}},
          .error = "Current implementation does not yet support dilations in the batch and "
                   "depth dimensions.",
      },
      {
          .name = "window larger than the image",
          .inputs = {"f32[1,2,2,2] 0", "f32[4,4,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "Negative dimension size caused by subtracting 4 from 2",
      },
      {
          .name = "empty filter",
          .inputs = {"f32[1,2,2,2] 0", "f32[0,1,2,2]"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("SAME")}},
          .error = "filter must not have zero elements (i.e. all dimensions must be "
                   "non-zero)",
      },
      {
          .name = "filter without depth",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,0,2]"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")}},
          .error = "filter depth must be stricly positive, got 0",
      },
      {
          .name = "explicit paddings without EXPLICIT",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 1, 1, 1, 1, 0, 0}}},
          .error = "explicit_paddings attribute must be empty if the padding attribute is "
                   "not EXPLICIT",
      },
      {
          .name = "six explicit paddings",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, 1, 1, 1, 1}}},
          .error = "explicit_paddings attribute must contain 8 values, but got: 6",
      },
      {
          .name = "explicit padding of the batch",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{1, 0, 1, 1, 1, 1, 0, 0}}},
          .error = "Nonzero explicit padding in the batch or depth dimensions is not "
                   "supported",
      },
      {
          .name = "negative explicit padding",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("EXPLICIT")},
                    {"explicit_paddings", std::vector<std::int64_t>{0, 0, -1, 1, 1, 1, 0, 0}}},
          .error = "All elements of explicit_paddings must be nonnegative",
      },
      {
          .name = "NCHW",
          .inputs = {"f32[1,2,2,2] 0", "f32[1,1,2,2] 0"},
          .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                    {"padding", std::string("VALID")},
                    {"data_format", std::string("NCHW")}},
          .error = "The Conv2D op currently only supports the NHWC tensor format on the "
                   "CPU. The op was given the format: NCHW",
      },
  };
}

} // namespace
} // namespace troupe
