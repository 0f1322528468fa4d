// Cases of Conv2DBackpropFilter; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "kernels/nn/testing/convolution_cases.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {

using testing::ConvolutionCase;
using testing::OpCase;
using testing::sizes_of;

namespace {

TROUPE_OP_CASES(Conv2DBackpropFilter) {
  auto row = [](const ConvolutionCase& c) {
    return OpCase{.name = c.name,
                  .inputs = {c.image, sizes_of(c.filter), c.gradient},
                  .attrs = c.attrs,
                  .outputs = {c.filter_gradient}};
  };
  return testing::with_convolution_cases(
      row,
      {
          {
              .name = "one image large enough for bands of rows",
              .inputs = {"f32[1,40,40,64] 1", "i32[4] 3 3 64 64", "f32[1,38,38,64] 1"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .outputs = {"f32[3,3,64,64] 1444"},
          },
          {
              .name = "no images: the gradient is zero",
              .inputs = {"f32[0,2,2,1]", "i32[4] 1 1 1 2", "f32[0,2,2,2]"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .outputs = {"f32[1,1,1,2] 0"},
          },
          {
              .name = "large enough for two threads",
              .inputs = {"f32[4,34,34,16] 0.5", "i32[4] 3 3 16 24", "f32[4,32,32,24] 1"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .outputs = {"f32[3,3,16,24] 2048"},
              .check_gradient = false,
              .no_gradient_reason = "too many elements for finite differences",
          },
          {
              .name = "three sizes",
              .inputs = {"f32[1,2,2,2] 0", "i32[3] 1 1 2", "f32[1,2,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Shape must be rank 4 but is rank 3",
          },
          {
              .name = "a matrix of sizes",
              .inputs = {"f32[1,2,2,2] 0", "i32[1,4] 1 1 2 2", "f32[1,2,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Shape must be rank 1 but is rank 2",
          },
          {
              .name = "input of rank 3",
              .inputs = {"f32[2,2,2] 0", "i32[4] 1 1 2 2", "f32[1,2,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Conv2DCustomBackpropFilter: input must be 4-dimensional",
          },
          {
              .name = "gradient of another size",
              .inputs = {"f32[1,2,2,2] 0", "i32[4] 1 1 2 2", "f32[1,3,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Conv2DCustomBackpropFilter: Size of out_backprop doesn't match "
                       "computed: actual = 3, computed = 2 spatial_dim: 1 input: 2 filter: 1 "
                       "output: 3 stride: 1 dilation: 1",
          },
          {
              .name = "gradient of another depth",
              .inputs = {"f32[1,2,2,2] 0", "i32[4] 1 1 2 2", "f32[1,2,2,3] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Conv2DCustomBackpropFilter: filter and out_backprop must have the same "
                       "out_depth",
          },
          {
              .name = "filter of another depth",
              .inputs = {"f32[1,2,2,2] 0", "i32[4] 1 1 3 2", "f32[1,2,2,2] 0"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")}},
              .error = "Conv2DCustomBackpropFilter: input depth must be evenly divisible by "
                       "filter depth",
          },
      });
}

} // namespace
} // namespace troupe
