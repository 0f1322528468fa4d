// SobolSample. Expected values are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SobolSample) {
  const auto points = [](std::string name, int dim, int count, int skip, std::string values,
                         DType dtype = DType::float32) {
    return testing::OpCase{.name = std::move(name),
                           .inputs = {"i32[] " + std::to_string(dim),
                                      "i32[] " + std::to_string(count),
                                      "i32[] " + std::to_string(skip)},
                           .attrs = {{"dtype", dtype}},
                           .outputs = {std::move(values)}};
  };
  const auto refused = [&](std::string name, int dim, int count, int skip, std::string error) {
    testing::OpCase out = points(std::move(name), dim, count, skip, "");
    out.outputs.clear();
    out.error = std::move(error);
    return out;
  };
  return {
      points("five points", 3, 5, 0,
             "f32[5,3] .5 .5 .5 .75 .25 .25 .25 .75 .75 .375 .375 .625 .875 .875 .125"),
      points("one dimension, some skipped", 1, 3, 5, "f32[3,1] .625 .125 .1875"),
      points("many dimensions", 40, 1, 20,
             "f64[1,40] 0.96875 0.59375 0.34375 0.78125 0.65625 0.34375 0.40625 0.71875 0.09375 "
             "0.03125 0.46875 0.53125 0.28125 0.53125 0.71875 0.40625 0.15625 0.96875 0.65625 "
             "0.65625 0.09375 0.28125 0.46875 0.96875 0.90625 0.28125 0.78125 0.96875 0.59375 "
             "0.96875 0.53125 0.96875 0.46875 0.53125 0.34375 0.84375 0.40625 0.40625 0.90625 "
             "0.53125",
             DType::float64),
      points("points far away", 2, 2, 1000003,
             "f64[2,2] 0.4014749526977539 0.1869192123413086 0.9014749526977539 0.6869192123413086",
             DType::float64),
      refused("no dimension", 0, 1, 0, "dim must be at least one"),
      refused("dimensions beyond TensorFlow's", 21201, 1, 0, "dim must be at most 21200"),
      refused("dimensions beyond ours", 3668, 1, 0, "there are direction numbers for 3667"),
      refused("no points", 1, 0, 0, "num_results must be at least one"),
      refused("fewer than none skipped", 1, 1, -1, "skip must be non-negative"),
      refused("more points than there are", 1, 2147483000, 647,
              "num_results+skip must be less than 2147483647"),
      {.name = "a vector",
       .inputs = {"i32[2] 1 2", "i32[] 1", "i32[] 0"},
       .error = "dim, num_results and skip must be scalars, got shape: [2]"},
  };
}

} // namespace
} // namespace troupe
