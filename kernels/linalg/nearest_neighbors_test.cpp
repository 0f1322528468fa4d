// Nearest centers; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(NearestNeighbors) {
  const std::string points = "f32[4,2] 100 0 101 2 99 2 1 1";
  const std::string centers = "f32[5,2] 100 0 99 1 50 50 0 0 1 1";
  // More points and centers than a block has: center i lies at i, point i at 2 i.
  std::string many = "f32[1500,1]", far = "f32[70,1]", places = "i64[70,1]", zeros = "f32[70,1]";
  for (int i = 0; i < 1500; ++i)
    str_append(many, " ", i);
  for (int i = 0; i < 70; ++i) {
    str_append(far, " ", 20 * i);
    str_append(places, " ", 20 * i);
    str_append(zeros, " 0");
  }
  return {
      {.name = "more results than there can be",
       .inputs = {"f32[4611686018427387904,0]", "f32[16,0]", "i64[] 16"},
       .error = "more than 2^63 - 1 elements"},
      {
          .name = "the nearest",
          .inputs = {points, centers, "i64[] 1"},
          .outputs = {"i64[4,1] 0 0 1 4", "f32[4,1] 0 5 1 0"},
      },
      {
          .name = "the nearest two",
          .inputs = {points, centers, "i64[] 2"},
          .outputs = {"i64[4,2] 0 1 0 1 1 0 4 3", "f32[4,2] 0 2 5 5 1 5 0 2"},
      },
      {
          .name = "more than there are",
          .inputs = {points, centers, "i64[] 9"},
          .outputs = {"i64[4,5] 0 1 2 4 3 0 1 2 4 3 1 0 2 4 3 4 3 2 1 0",
                      "f32[4,5] 0 2 5000 9802 10000 5 5 4905 10001 10205 1 5 4705 9605 9805 0 2 "
                      "4802 9604 9802"},
      },
      {
          .name = "equally near ones by their place",
          .inputs = {"f32[1,2] 0 0", "f32[3,2] 1 0 0 1 0 -1", "i64[] 2"},
          .outputs = {"i64[1,2] 0 1", "f32[1,2] 1 1"},
      },
      {
          .name = "several blocks",
          .inputs = {far, many, "i64[] 1"},
          .outputs = {places, zeros},
          .tolerance = 0.5,
          .tolerance_reason = "squares of thousands cancel out",
      },
      {
          .name = "none wanted",
          .inputs = {points, centers, "i64[] 0"},
          .outputs = {"i64[4,0]", "f32[4,0]"},
      },
      {
          .name = "no centers",
          .inputs = {points, "f32[0,2]", "i64[] 1"},
          .outputs = {"i64[4,0]", "f32[4,0]"},
      },
      {
          .name = "fewer than none",
          .inputs = {points, centers, "i64[] -1"},
          .error = "Expected k >= 0, but it is -1.",
      },
      {
          .name = "no points",
          .inputs = {"f32[0,2]", centers, "i64[] 1"},
          .error = "Expected points.rows() > 0.",
      },
      {
          .name = "other dimensions",
          .inputs = {points, "f32[1,1] 1", "i64[] 1"},
          .error = "Expected point_dimensions == center_dimensions: 2 vs 1.",
      },
      {
          .name = "a vector of points",
          .inputs = {"f32[2] 1 2", centers, "i64[] 1"},
          .error = "matrix",
      },
  };
}

} // namespace
} // namespace troupe
