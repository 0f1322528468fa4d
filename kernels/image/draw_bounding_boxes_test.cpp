// Cases of DrawBoundingBoxes and DrawBoundingBoxesV2; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(DrawBoundingBoxes) {
  return {
      {
          .name = "depth 1",
          .inputs = {"f32[1,5,5,1] 0",
                     "f32[1,3,4] 0.25 0.25 0.75 0.75 0 -0.5 1.5 0.5 0.75 0.1 0.25 0.5"},
          .outputs = {"f32[1,5,5,1] 1 1 1 0 0 0 1 1 1 0 0 1 1 1 0 0 1 1 1 0 0 0 1 0 0"},
      },
      {
          .name = "depth 3",
          .inputs = {"f32[1,5,5,3] 0",
                     "f32[1,3,4] 0.25 0.25 0.75 0.75 0 -0.5 1.5 0.5 0.75 0.1 0.25 0.5"},
          .outputs =
              {"f32[1,5,5,3] 0 0 1 0 0 1 0 0 1 0 0 0 0 0 0 0 0 0 1 1 0 0 0 1 1 1 0 0 0 0 0 0 0 1 1 "
               "0 0 0 1 1 1 0 0 0 0 0 0 0 1 1 0 0 0 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0"},
      },
      {
          .name = "depth 4",
          .inputs = {"f32[1,5,5,4] 0",
                     "f32[1,3,4] 0.25 0.25 0.75 0.75 0 -0.5 1.5 0.5 0.75 0.1 0.25 0.5"},
          .outputs = {"f32[1,5,5,4] 0 0 1 1 0 0 1 1 0 0 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1 1 0 1 0 0 1 "
                      "1 1 1 0 1 0 0 0 0 0 0 0 0 1 1 0 1 0 0 1 1 1 1 0 1 0 0 0 0 0 0 0 0 1 1 0 1 0 "
                      "0 1 1 1 1 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 0 0 0 0 0 0 0 0"},
      },
      {
          .name = "half",
          .inputs = {"f16[1,4,4,1] 0", "f32[1,1,4] 0 0 1 1"},
          .outputs = {"f16[1,4,4,1] 1 1 1 1 1 0 0 1 1 0 0 1 1 1 1 1"},
      },
      {
          .name = "boxes outside",
          .inputs = {"f32[1,3,3,1] 0", "f32[1,2,4] 2 2 3 3 -3 -3 -2 -2"},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "a box that is no number",
          .inputs = {"f32[1,3,3,1] 0", "f32[1,1,4] 2 nan 3 3"},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "a box far away",
          .inputs = {"f32[1,3,3,1] 0", "f32[1,1,4] -inf -1e38 inf 1e38"},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "no boxes",
          .inputs = {"f32[2,2,2,1] 1", "f32[2,0,4]"},
          .outputs = {"f32[2,2,2,1] 1"},
      },
      {
          .name = "no images",
          .inputs = {"f32[0,2,2,1]", "f32[0,1,4]"},
          .outputs = {"f32[0,2,2,1]"},
      },
      {
          .name = "two channels",
          .inputs = {"f32[1,2,2,2] 1", "f32[1,1,4] 1"},
          .error = "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)",
      },
      {
          .name = "another batch",
          .inputs = {"f32[1,2,2,1] 1", "f32[2,1,4] 1"},
          .error = "The batch sizes should be the same",
      },
      {
          .name = "boxes of three",
          .inputs = {"f32[1,2,2,1] 1", "f32[1,1,3] 1"},
          .error = "must be 4",
      },
      {
          .name = "a matrix of boxes",
          .inputs = {"f32[1,2,2,1] 1", "f32[1,4] 1"},
          .error = "rank 3",
      },
  };
}

TROUPE_OP_CASES(DrawBoundingBoxesV2) {
  return {
      {
          .name = "depth 1",
          .inputs = {"f32[1,5,5,1] 0",
                     "f32[1,3,4] 0.25 0.25 0.75 0.75 0 -0.5 1.5 0.5 0.75 0.1 0.25 0.5",
                     "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .outputs =
              {"f32[1,5,5,1] 1 1 1 0 0 0 0.25 1 0.25 0 0 0.25 1 0.25 0 0 0.25 1 0.25 0 0 0 1 0 0"},
      },
      {
          .name = "depth 3",
          .inputs = {"f32[1,5,5,3] 0",
                     "f32[1,3,4] 0.25 0.25 0.75 0.75 0 -0.5 1.5 0.5 0.75 0.1 0.25 0.5",
                     "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .outputs =
              {"f32[1,5,5,3] 1 0 0.5 1 0 0.5 1 0 0.5 0 0 0 0 0 0 0 0 0 0.25 0.5 0.75 1 0 0.5 0.25 "
               "0.5 0.75 0 0 0 0 0 0 0.25 0.5 0.75 1 0 0.5 0.25 0.5 0.75 0 0 0 0 0 0 0.25 0.5 0.75 "
               "1 0 0.5 0.25 0.5 0.75 0 0 0 0 0 0 0 0 0 1 0 0.5 0 0 0 0 0 0"},
      },
      {
          .name = "depth 4",
          .inputs = {"f32[1,5,5,4] 0",
                     "f32[1,3,4] 0.25 0.25 0.75 0.75 0 -0.5 1.5 0.5 0.75 0.1 0.25 0.5",
                     "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .outputs =
              {"f32[1,5,5,4] 1 0 0.5 0.125 1 0 0.5 0.125 1 0 0.5 0.125 0 0 0 0 0 0 0 0 0 0 0 0 "
               "0.25 0.5 0.75 1 1 0 0.5 0.125 0.25 0.5 0.75 1 0 0 0 0 0 0 0 0 0.25 0.5 0.75 1 1 0 "
               "0.5 0.125 0.25 0.5 0.75 1 0 0 0 0 0 0 0 0 0.25 0.5 0.75 1 1 0 0.5 0.125 0.25 0.5 "
               "0.75 1 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0.5 0.125 0 0 0 0 0 0 0 0"},
      },
      {
          .name = "half",
          .inputs = {"f16[1,4,4,1] 0", "f32[1,1,4] 0 0 1 1",
                     "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .outputs =
              {"f16[1,4,4,1] 0.25 0.25 0.25 0.25 0.25 0 0 0.25 0.25 0 0 0.25 0.25 0.25 0.25 0.25"},
      },
      {
          .name = "boxes outside",
          .inputs = {"f32[1,3,3,1] 0", "f32[1,2,4] 2 2 3 3 -3 -3 -2 -2",
                     "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "a box that is no number",
          .inputs = {"f32[1,3,3,1] 0", "f32[1,1,4] 2 nan 3 3",
                     "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "a box far away",
          .inputs = {"f32[1,3,3,1] 0", "f32[1,1,4] -inf -1e38 inf 1e38",
                     "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .outputs = {"f32[1,3,3,1] 0"},
      },
      {
          .name = "no boxes",
          .inputs = {"f32[2,2,2,1] 1", "f32[2,0,4]", "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .outputs = {"f32[2,2,2,1] 1"},
      },
      {
          .name = "no images",
          .inputs = {"f32[0,2,2,1]", "f32[0,1,4]", "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .outputs = {"f32[0,2,2,1]"},
      },
      {
          .name = "two channels",
          .inputs = {"f32[1,2,2,2] 1", "f32[1,1,4] 1", "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .error = "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)",
      },
      {
          .name = "another batch",
          .inputs = {"f32[1,2,2,1] 1", "f32[2,1,4] 1", "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .error = "The batch sizes should be the same",
      },
      {
          .name = "boxes of three",
          .inputs = {"f32[1,2,2,1] 1", "f32[1,1,3] 1", "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .error = "must be 4",
      },
      {
          .name = "a matrix of boxes",
          .inputs = {"f32[1,2,2,1] 1", "f32[1,4] 1", "f32[2,4] 0.25 0.5 0.75 1 1 0 0.5 0.125"},
          .error = "rank 3",
      },
      {
          .name = "no colors",
          .inputs = {"f32[1,3,3,3] 0", "f32[1,1,4] 0 0 1 1", "f32[0,3]"},
          .outputs = {"f32[1,3,3,3] 1 1 0 1 1 0 1 1 0 1 1 0 0 0 0 1 1 0 1 1 0 1 1 0 1 1 0"},
      },
      {
          .name = "colors of two channels",
          .inputs = {"f32[1,3,3,3] 0", "f32[1,1,4] 0 0 1 1", "f32[1,2] 1"},
          .error = "colors must have equal or more channels than the image provided: ",
      },
      {
          .name = "a vector of colors",
          .inputs = {"f32[1,3,3,3] 0", "f32[1,1,4] 0 0 1 1", "f32[3] 1"},
          .error = "colors must be a 2-D matrix",
      },
  };
}

} // namespace
} // namespace troupe
