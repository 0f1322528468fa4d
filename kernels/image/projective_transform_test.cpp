// Cases of ImageProjectiveTransformV2 and V3; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ImageProjectiveTransformV2) {
  return {
      {
          .name = "constant, nearest",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("CONSTANT")}},
          .outputs = {"f32[2,5,4,1] 0 6 3 3 6 0 8 7 9 3 8 9 0 8 2 0 0 6 0 0 0 0 0 0 0 0 0 0 4 9 4 "
                      "0 9 8 4 0 9 5 2 0"},
      },
      {
          .name = "far away, constant, nearest",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("CONSTANT")}},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "constant, bilinear",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("CONSTANT")}},
          .outputs = {"f32[2,5,4,1] 1.8000001 5.405941 4.0146089 3.2045436 5.7438564 4.100194 "
                      "7.2400002 6.5685725 8.812501 2.8334575 6.2011662 6.7603302 2.9628787 "
                      "6.1939058 2.2439239 3.1299813 0 2.2795691 0.27433175 0 0 0 0 0 0 0 0 0 "
                      "4.875 4.875 4.875 1.5 7.625 8 6.125 2 5.375 7.375 4.125 1.25"},
      },
      {
          .name = "far away, constant, bilinear",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("CONSTANT")}},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "reflect, nearest",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("REFLECT")}},
          .outputs = {"f32[2,5,4,1] 6 6 3 3 6 0 8 7 9 3 8 9 8 8 2 9 6 6 6 3 9 8 4 4 4 9 4 4 4 9 4 "
                      "4 9 8 4 4 9 5 2 2"},
      },
      {
          .name = "far away, reflect, nearest",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("REFLECT")}},
          .outputs = {"f32[1,3,3,1] 1 5 1 0 7 0 1 5 1"},
      },
      {
          .name = "reflect, bilinear",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("REFLECT")}},
          .outputs = {"f32[2,5,4,1] 6 6 4.0146089 3.2045436 5.7438564 4.100194 7.2400002 6.5685725 "
                      "8.812501 2.8334575 6.2011662 6.7603302 8.1914892 6.1939058 2.2916672 "
                      "7.9896908 5.2618151 6 4.2978725 4.091413 7.125 8.125 5.375 3.5 6.875 7 "
                      "6.375 4 6.5 6.5 6.5 4 7.625 8 6.125 4 5.375 7.375 4.125 2.5"},
      },
      {
          .name = "far away, reflect, bilinear",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("REFLECT")}},
          .outputs = {"f32[1,3,3,1] 1 5 1 0 7 0 1 5 1"},
      },
      {
          .name = "wrap, nearest",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4"},
          .attrs = {{"interpolation", std::string("NEAREST")}, {"fill_mode", std::string("WRAP")}},
          .outputs = {"f32[2,5,4,1] 2 9 3 3 6 0 8 7 9 3 8 9 5 8 6 6 8 0 6 0 9 5 2 5 1 7 6 2 1 7 6 "
                      "2 9 8 4 9 9 5 2 5"},
      },
      {
          .name = "far away, wrap, nearest",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3"},
          .attrs = {{"interpolation", std::string("NEAREST")}, {"fill_mode", std::string("WRAP")}},
          .outputs = {"f32[1,3,3,1] 5"},
      },
      {
          .name = "wrap, bilinear",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4"},
          .attrs = {{"interpolation", std::string("BILINEAR")}, {"fill_mode", std::string("WRAP")}},
          .outputs = {"f32[2,5,4,1] 3.4000003 8.8613863 4.0146089 3.2045436 5.7438564 4.100194 "
                      "7.2400002 6.5685725 8.812501 2.8334575 6.2011662 6.7603302 4.6170216 "
                      "6.1939058 6 6 6.2325134 0 6 3.9501374 5.375 7.375 4.125 6 3.75 4.75 5.75 "
                      "2.75 3.5 4 6.5 2 7.625 8 6.125 7.75 5.375 7.375 4.125 6"},
      },
      {
          .name = "far away, wrap, bilinear",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")}, {"fill_mode", std::string("WRAP")}},
          .outputs = {"f32[1,3,3,1] 5"},
      },
      {
          .name = "nearest, nearest",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("NEAREST")}},
          .outputs = {"f32[2,5,4,1] 6 6 3 3 6 0 8 7 9 3 8 9 8 8 2 9 6 6 6 2 4 9 4 4 4 9 4 4 4 9 4 "
                      "4 9 8 4 4 9 5 2 2"},
      },
      {
          .name = "far away, nearest, nearest",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("NEAREST")}},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "nearest, bilinear",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("NEAREST")}},
          .outputs = {"f32[2,5,4,1] 6 6 4.0146089 3.2045436 5.7438564 4.100194 7.2400002 6.5685725 "
                      "8.812501 2.8334575 6.2011662 6.7603302 8.1914892 6.1939058 2.2916672 "
                      "7.9896908 6.5652175 6 4.2978725 3.8421056 6.5 6.5 6.5 4 6.5 6.5 6.5 4 6.5 "
                      "6.5 6.5 4 7.625 8 6.125 4 5.375 7.375 4.125 2.5"},
      },
      {
          .name = "far away, nearest, bilinear",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("NEAREST")}},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "u8",
          .inputs = {"u8[2,3,3,2] 8 3 5 5 7 5 8 0 8 5 1 0 7 0 2 8 4 2 3 9 1 6 1 5 7 8 3 5 3 0 5 7 "
                     "8 5 5 0",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"u8[2,2,3,2] 0"},
      },
      {
          .name = "i32",
          .inputs = {"i32[2,3,3,2] 6 2 0 8 3 1 6 7 1 4 5 7 7 4 9 5 3 2 4 4 3 5 1 7 8 9 9 1 1 3 5 6 "
                     "4 1 8 7",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"i32[2,2,3,2] 0"},
      },
      {
          .name = "i64",
          .inputs = {"i64[2,3,3,2] 6 2 0 8 3 1 6 7 1 4 5 7 7 4 9 5 3 2 4 4 3 5 1 7 8 9 9 1 1 3 5 6 "
                     "4 1 8 7",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"i64[2,2,3,2] 0"},
      },
      {
          .name = "f16",
          .inputs = {"f16[2,3,3,2] 6 2 0 8 3 1 6 7 1 4 5 7 7 4 9 5 3 2 4 4 3 5 1 7 8 9 9 1 1 3 5 6 "
                     "4 1 8 7",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"f16[2,2,3,2] 0"},
      },
      {
          .name = "bf16",
          .inputs = {"bf16[2,3,3,2] 9 9 4 9 5 9 3 3 8 5 5 2 3 3 7 5 1 4 4 2 9 6 7 6 7 9 9 3 6 9 7 "
                     "5 5 1 3 2",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"bf16[2,2,3,2] 0"},
      },
      {
          .name = "f32",
          .inputs = {"f32[2,3,3,2] 6 2 0 8 3 1 6 7 1 4 5 7 7 4 9 5 3 2 4 4 3 5 1 7 8 9 9 1 1 3 5 6 "
                     "4 1 8 7",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"f32[2,2,3,2] 0"},
      },
      {
          .name = "f64",
          .inputs = {"f64[2,3,3,2] 6 2 0 8 3 1 6 7 1 4 5 7 7 4 9 5 3 2 4 4 3 5 1 7 8 9 9 1 1 3 5 6 "
                     "4 1 8 7",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"f64[2,2,3,2] 0"},
      },
      {
          .name = "one pixel",
          .inputs = {"f32[1,1,1,1] 3", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 2"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("REFLECT")}},
          .outputs = {"f32[1,2,2,1] 3"},
      },
      {
          .name = "a horizon",
          .inputs = {"f32[1,2,2,1] 3 0 5 3", "f32[1,8] 1 0 0 0 1 0 -1 0", "i32[2] 2 3"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .outputs = {"f32[1,2,3,1] 3 0 0 5 0 0"},
      },
      {
          .name = "places that are no numbers",
          .inputs = {"f32[1,2,2,1] 3 0 5 3", "f32[1,8] nan 0 0 0 inf 1e30 0 0", "i32[2] 2 2"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .outputs = {"?"},
      },
      {
          .name = "another interpolation",
          .inputs = {"f32[1,2,2,1] 3 0 5 3", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 2"},
          .attrs = {{"interpolation", std::string("CUBIC")}},
          .error = "Invalid interpolation CUBIC",
      },
      {
          .name = "another mode",
          .inputs = {"f32[1,2,2,1] 3 0 5 3", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 2"},
          .attrs = {{"interpolation", std::string("NEAREST")}, {"fill_mode", std::string("NONE")}},
          .error = "Invalid mode NONE",
      },
      {
          .name = "three transforms of two",
          .inputs = {"f32[2,2,2,1] 5 7 6 7 0 5 3 3", "f32[3,8] 0", "i32[2] 2 2"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .error = "Input transform should be num_images x 8 or 1 x 8",
      },
      {
          .name = "no size",
          .inputs = {"f32[2,2,2,1] 5 7 6 7 0 5 3 3", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 0 2"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .error = "output dimensions must be positive",
      },
      {
          .name = "three sizes",
          .inputs = {"f32[2,2,2,1] 5 7 6 7 0 5 3 3", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0",
                     "i32[3] 1 1 1"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .error = "ust be equal",
      },
      {
          .name = "no images",
          .inputs = {"f32[0,2,2,1]", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 2"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .outputs = {"f32[0,2,2,1]"},
      },
  };
}

TROUPE_OP_CASES(ImageProjectiveTransformV3) {
  return {
      {
          .name = "constant, nearest",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("CONSTANT")}},
          .outputs = {"f32[2,5,4,1] 2.5 6 3 3 6 0 8 7 9 3 8 9 2.5 8 2 2.5 2.5 6 2.5 2.5 2.5 2.5 "
                      "2.5 2.5 2.5 2.5 2.5 2.5 4 9 4 2.5 9 8 4 2.5 9 5 2 2.5"},
      },
      {
          .name = "far away, constant, nearest",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("CONSTANT")}},
          .outputs = {"f32[1,3,3,1] 2.5"},
      },
      {
          .name = "constant, bilinear",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("CONSTANT")}},
          .outputs = {"f32[2,5,4,1] 3.5500002 5.6534657 4.0146089 3.2045436 5.7438564 4.100194 "
                      "7.2400002 6.5685725 8.812501 2.8334575 6.2011662 6.7603302 4.5586238 "
                      "6.1939058 2.2960076 4.6506 2.5 3.8297489 2.6147578 2.5 2.5 2.5 2.5 2.5 2.5 "
                      "2.5 2.5 2.5 5.5 5.5 5.5 3.0625 7.625 8 6.125 3.25 5.375 7.375 4.125 2.5"},
      },
      {
          .name = "far away, constant, bilinear",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("CONSTANT")}},
          .outputs = {"f32[1,3,3,1] 2.5"},
      },
      {
          .name = "reflect, nearest",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("REFLECT")}},
          .outputs = {"f32[2,5,4,1] 6 6 3 3 6 0 8 7 9 3 8 9 8 8 2 9 6 6 6 3 9 8 4 4 4 9 4 4 4 9 4 "
                      "4 9 8 4 4 9 5 2 2"},
      },
      {
          .name = "far away, reflect, nearest",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("REFLECT")}},
          .outputs = {"f32[1,3,3,1] 1 5 1 0 7 0 1 5 1"},
      },
      {
          .name = "reflect, bilinear",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("REFLECT")}},
          .outputs = {"f32[2,5,4,1] 6 6 4.0146089 3.2045436 5.7438564 4.100194 7.2400002 6.5685725 "
                      "8.812501 2.8334575 6.2011662 6.7603302 8.1914892 6.1939058 2.2916672 "
                      "7.9896908 5.2618151 6 4.2978725 4.091413 7.125 8.125 5.375 3.5 6.875 7 "
                      "6.375 4 6.5 6.5 6.5 4 7.625 8 6.125 4 5.375 7.375 4.125 2.5"},
      },
      {
          .name = "far away, reflect, bilinear",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("REFLECT")}},
          .outputs = {"f32[1,3,3,1] 1 5 1 0 7 0 1 5 1"},
      },
      {
          .name = "wrap, nearest",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")}, {"fill_mode", std::string("WRAP")}},
          .outputs = {"f32[2,5,4,1] 2 9 3 3 6 0 8 7 9 3 8 9 5 8 6 6 8 0 6 0 9 5 2 5 1 7 6 2 1 7 6 "
                      "2 9 8 4 9 9 5 2 5"},
      },
      {
          .name = "far away, wrap, nearest",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")}, {"fill_mode", std::string("WRAP")}},
          .outputs = {"f32[1,3,3,1] 5"},
      },
      {
          .name = "wrap, bilinear",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")}, {"fill_mode", std::string("WRAP")}},
          .outputs = {"f32[2,5,4,1] 3.4000003 8.8613863 4.0146089 3.2045436 5.7438564 4.100194 "
                      "7.2400002 6.5685725 8.812501 2.8334575 6.2011662 6.7603302 4.6170216 "
                      "6.1939058 6 6 6.2325134 0 6 3.9501374 5.375 7.375 4.125 6 3.75 4.75 5.75 "
                      "2.75 3.5 4 6.5 2 7.625 8 6.125 7.75 5.375 7.375 4.125 6"},
      },
      {
          .name = "far away, wrap, bilinear",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")}, {"fill_mode", std::string("WRAP")}},
          .outputs = {"f32[1,3,3,1] 5"},
      },
      {
          .name = "nearest, nearest",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("NEAREST")}},
          .outputs = {"f32[2,5,4,1] 6 6 3 3 6 0 8 7 9 3 8 9 8 8 2 9 6 6 6 2 4 9 4 4 4 9 4 4 4 9 4 "
                      "4 9 8 4 4 9 5 2 2"},
      },
      {
          .name = "far away, nearest, nearest",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("NEAREST")}},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "nearest, bilinear",
          .inputs = {"f32[2,4,5,1] 6 6 6 3 0 9 0 8 3 3 8 3 8 7 5 6 2 9 3 8 4 9 4 9 4 9 7 9 8 4 5 0 "
                     "9 5 2 2 6 1 7 6",
                     "f32[2,8] 0.8 -0.6 1.2 0.6 0.8 -0.7 0.01 -0.02 1 0 1.5 0 1 -2.25 0 0",
                     "i32[2] 5 4", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("NEAREST")}},
          .outputs = {"f32[2,5,4,1] 6 6 4.0146089 3.2045436 5.7438564 4.100194 7.2400002 6.5685725 "
                      "8.812501 2.8334575 6.2011662 6.7603302 8.1914892 6.1939058 2.2916672 "
                      "7.9896908 6.5652175 6 4.2978725 3.8421056 6.5 6.5 6.5 4 6.5 6.5 6.5 4 6.5 "
                      "6.5 6.5 4 7.625 8 6.125 4 5.375 7.375 4.125 2.5"},
      },
      {
          .name = "far away, nearest, bilinear",
          .inputs = {"f32[1,3,3,1] 1 7 5 9 0 3 0 3 7", "f32[1,8] 3 0 -7 0 -2.5 11 0 0",
                     "i32[2] 3 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")},
                    {"fill_mode", std::string("NEAREST")}},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "u8",
          .inputs = {"u8[2,3,3,2] 8 3 5 5 7 5 8 0 8 5 1 0 7 0 2 8 4 2 3 9 1 6 1 5 7 8 3 5 3 0 5 7 "
                     "8 5 5 0",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"u8[2,2,3,2] 2"},
      },
      {
          .name = "i32",
          .inputs = {"i32[2,3,3,2] 6 2 0 8 3 1 6 7 1 4 5 7 7 4 9 5 3 2 4 4 3 5 1 7 8 9 9 1 1 3 5 6 "
                     "4 1 8 7",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"i32[2,2,3,2] 2"},
      },
      {
          .name = "i64",
          .inputs = {"i64[2,3,3,2] 6 2 0 8 3 1 6 7 1 4 5 7 7 4 9 5 3 2 4 4 3 5 1 7 8 9 9 1 1 3 5 6 "
                     "4 1 8 7",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"i64[2,2,3,2] 2"},
      },
      {
          .name = "f16",
          .inputs = {"f16[2,3,3,2] 6 2 0 8 3 1 6 7 1 4 5 7 7 4 9 5 3 2 4 4 3 5 1 7 8 9 9 1 1 3 5 6 "
                     "4 1 8 7",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"f16[2,2,3,2] 2.5"},
      },
      {
          .name = "bf16",
          .inputs = {"bf16[2,3,3,2] 9 9 4 9 5 9 3 3 8 5 5 2 3 3 7 5 1 4 4 2 9 6 7 6 7 9 9 3 6 9 7 "
                     "5 5 1 3 2",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"bf16[2,2,3,2] 2.5"},
      },
      {
          .name = "f32",
          .inputs = {"f32[2,3,3,2] 6 2 0 8 3 1 6 7 1 4 5 7 7 4 9 5 3 2 4 4 3 5 1 7 8 9 9 1 1 3 5 6 "
                     "4 1 8 7",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"f32[2,2,3,2] 2.5"},
      },
      {
          .name = "f64",
          .inputs = {"f64[2,3,3,2] 6 2 0 8 3 1 6 7 1 4 5 7 7 4 9 5 3 2 4 4 3 5 1 7 8 9 9 1 1 3 5 6 "
                     "4 1 8 7",
                     "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 3", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("BILINEAR")}},
          .outputs = {"f64[2,2,3,2] 2.5"},
      },
      {
          .name = "one pixel",
          .inputs = {"f32[1,1,1,1] 3", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 2", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")},
                    {"fill_mode", std::string("REFLECT")}},
          .outputs = {"f32[1,2,2,1] 3"},
      },
      {
          .name = "a horizon",
          .inputs = {"f32[1,2,2,1] 3 0 5 3", "f32[1,8] 1 0 0 0 1 0 -1 0", "i32[2] 2 3",
                     "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .outputs = {"f32[1,2,3,1] 3 2.5 2.5 5 2.5 2.5"},
      },
      {
          .name = "places that are no numbers",
          .inputs = {"f32[1,2,2,1] 3 0 5 3", "f32[1,8] nan 0 0 0 inf 1e30 0 0", "i32[2] 2 2",
                     "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .outputs = {"?"},
      },
      {
          .name = "another interpolation",
          .inputs = {"f32[1,2,2,1] 3 0 5 3", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 2",
                     "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("CUBIC")}},
          .error = "Invalid interpolation CUBIC",
      },
      {
          .name = "another mode",
          .inputs = {"f32[1,2,2,1] 3 0 5 3", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 2",
                     "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")}, {"fill_mode", std::string("NONE")}},
          .error = "Invalid mode NONE",
      },
      {
          .name = "three transforms of two",
          .inputs = {"f32[2,2,2,1] 5 7 6 7 0 5 3 3", "f32[3,8] 0", "i32[2] 2 2", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .error = "Input transform should be num_images x 8 or 1 x 8",
      },
      {
          .name = "no size",
          .inputs = {"f32[2,2,2,1] 5 7 6 7 0 5 3 3", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 0 2",
                     "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .error = "output dimensions must be positive",
      },
      {
          .name = "three sizes",
          .inputs = {"f32[2,2,2,1] 5 7 6 7 0 5 3 3", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0",
                     "i32[3] 1 1 1", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .error = "ust be equal",
      },
      {
          .name = "no images",
          .inputs = {"f32[0,2,2,1]", "f32[1,8] 1 0 1.5 0 1 -2.25 0 0", "i32[2] 2 2", "f32[] 2.5"},
          .attrs = {{"interpolation", std::string("NEAREST")}},
          .outputs = {"f32[0,2,2,1]"},
      },
  };
}

} // namespace
} // namespace troupe
