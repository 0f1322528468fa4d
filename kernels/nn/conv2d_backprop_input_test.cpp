// Cases of Conv2DBackpropInput; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "kernels/nn/testing/convolution_cases.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {

using testing::ConvolutionCase;
using testing::OpCase;
using testing::sizes_of;

namespace {

TROUPE_OP_CASES(Conv2DBackpropInput) {
  auto row = [](const ConvolutionCase& c) {
    return OpCase{.name = c.name,
                  .inputs = {sizes_of(c.image), c.filter, c.gradient},
                  .attrs = c.attrs,
                  .outputs = {c.image_gradient}};
  };
  return testing::with_convolution_cases(
      row,
      {
          {
              .name = "bands of rows see their neighbours",
              .inputs = {"i32[4] 1 5 40 128", "f32[5,1,128,128] 0.5", "f32[1,1,40,128] 1"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .outputs = {"f32[1,5,40,128] 64"},
          },
          {
              .name = "two sizes",
              .inputs = {"i32[2] 2 3", "f32[1,2,1,2] 0.375 0.875 0.625 0.375",
                         "f32[1,2,2,2] -0.125 -1.875 0.375 -0.125 -0.125 -0.625 -1.125 0.625"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .outputs = {"f32[1,2,3,1] -1.6875 -0.75 0.1875 -0.59375 -0.1875 -0.46875"},
          },
          {
              .name = "no images",
              .inputs = {"i32[4] 0 2 2 1", "f32[1,1,1,2] 0.375 0.875", "f32[0,2,2,2]"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .outputs = {"f32[0,2,2,1]"},
          },
          {
              .name = "large enough for two threads",
              .inputs = {"i32[4] 4 32 32 16", "f32[1,1,16,200] 0.5", "f32[4,32,32,200] 1"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .outputs = {"f32[4,32,32,16] 100"},
              .check_gradient = false,
              .no_gradient_reason = "too many elements for finite differences",
          },
          {
              .name = "three sizes",
              .inputs = {"i32[3] 1 2 2", "f32[1,1,2,2] 0", "f32[1,2,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 "
                       "values, but got: 3",
          },
          {
              .name = "a matrix of sizes",
              .inputs = {"i32[1,4] 1 2 2 2", "f32[1,1,2,2] 0", "f32[1,2,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Shape must be rank 1 but is rank 2",
          },
          {
              .name = "filter of rank 3",
              .inputs = {"i32[4] 1 2 2 2", "f32[1,1,2] 0", "f32[1,2,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Shape must be rank 4 but is rank 3",
          },
          {
              .name = "gradient of rank 3",
              .inputs = {"i32[4] 1 2 2 2", "f32[1,1,2,2] 0", "f32[1,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Shape must be rank 4 but is rank 3",
          },
          {
              .name = "gradient of another size",
              .inputs = {"i32[4] 1 2 2 2", "f32[1,1,2,2] 0", "f32[1,3,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Conv2DCustomBackpropInput: Size of out_backprop doesn't match "
                       "computed: actual = 3, computed = 2 spatial_dim: 1 input: 2 filter: 1 "
                       "output: 3 stride: 1 dilation: 1",
          },
          {
              .name = "gradient of another batch",
              .inputs = {"i32[4] 1 2 2 2", "f32[1,1,2,2] 0", "f32[2,2,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Dimensions must be equal, but are 1 and 2",
          },
          {
              .name = "gradient of another depth",
              .inputs = {"i32[4] 1 2 2 2", "f32[1,1,2,2] 0", "f32[1,2,2,3] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Dimensions must be equal, but are 3 and 2",
          },
          {
              .name = "input of another depth",
              .inputs = {"i32[4] 1 2 2 3", "f32[1,1,2,2] 0", "f32[1,2,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Conv2DCustomBackpropInput: input depth must be evenly divisible by "
                       "filter depth",
          },
          {.name = "a filter of no depth",
           .inputs = {"i32[4] 1 2 2 3", "f32[1,1,0,2]", "f32[1,2,2,2] 0"},
           .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                     {"padding", std::string("VALID")}},
           .error = "Conv2DCustomBackpropInput: filter depth must be strictly greated than zero"},
          {.name = "a gradient of rank 5",
           .inputs = {"i32[4] 1 2 2 2", "f32[1,1,2,2] 0", "f32[1,2,2,2,1] 0"},
           .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                     {"padding", std::string("VALID")}},
           .error = "input_sizes must be 4-dimensional, got: 5"},
      });
}

} // namespace
} // namespace troupe
