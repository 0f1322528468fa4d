// Cases of Conv2D; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "kernels/nn/testing/convolution_cases.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {

using testing::ConvolutionCase;
using testing::OpCase;

namespace {

TROUPE_OP_CASES(Conv2D) {
  auto row = [](const ConvolutionCase& c) {
    return OpCase{
        .name = c.name, .inputs = {c.image, c.filter}, .attrs = c.attrs, .outputs = {c.result}};
  };
  return testing::with_convolution_cases(
      row,
      {
          {.name = "no channels",
           .inputs = {"f32[1,2,2,0]", "f32[1,1,1,1] 5"},
           .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}}, {"padding", "VALID"}},
           .outputs = {"f32[1,2,2,1] 0"}},
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
              .error =
                  "Conv2D on data format NHWC requires the stride attribute to contain 4 values, "
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
              .inputs = {"f32[1,2,2,2] 1 2 3 4 10 20 30 40", "f32[1,2,2,1] 1 2 3 4"},
              .attrs = {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"padding", std::string("VALID")},
                        {"data_format", std::string("NCHW")}},
              .outputs = {"f32[1,1,2,1] 107 235"},
          },
      });
}

} // namespace
} // namespace troupe
