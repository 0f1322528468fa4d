// First centers of clusters; values are those of TensorFlow 2.21.
#include "tests/support/ops/op_cases.hpp"

#include <doctest/doctest.h>

namespace troupe {
namespace {

const std::string points = "f32[10,2] 100 0 101 2 102 0 100 1 100 2 101 0 101 0 101 1 102 0 -1 -1";

TROUPE_OP_CASES(KmeansPlusPlusInitialization) {
  return {
      {
          .name = "retries by the number of samples",
          .inputs = {points, "i64[] 4", "i64[] 0", "i64[] -1"},
          .outputs = {"f32[4,2] 101 2 -1 -1 101 0 100 1"},
      },
      {
          .name = "no retries",
          .inputs = {points, "i64[] 4", "i64[] 1", "i64[] 0"},
          .outputs = {"f32[4,2] 102 0 -1 -1 101 2 100 0"},
      },
      {
          .name = "one retry",
          .inputs = {points, "i64[] 4", "i64[] 2", "i64[] 1"},
          .outputs = {"f32[4,2] 101 0 -1 -1 100 1 101 2"},
      },
      {
          .name = "several retries",
          .inputs = {points, "i64[] 4", "i64[] 7", "i64[] 5"},
          .outputs = {"f32[4,2] 100 1 -1 -1 101 0 102 0"},
      },
      {
          .name = "points that coincide are all taken, once each",
          .inputs = {"f32[4,1] 0.1 0.1 0.1 0.1", "i64[] 4", "i64[] 0", "i64[] -1"},
          .outputs = {"f32[4,1] 0.1 0.1 0.1 0.1"},
      },
      {
          .name = "points that are no numbers end too",
          .inputs = {"f32[3,1] nan nan nan", "i64[] 3", "i64[] 0", "i64[] 0"},
          .outputs = {"f32[3,1] nan nan nan"},
      },
      {
          .name = "points without dimensions",
          .inputs = {"f32[2,0]", "i64[] 2", "i64[] 0", "i64[] 0"},
          .outputs = {"f32[2,0]"},
      },
      {
          .name = "more samples than points",
          .inputs = {points, "i64[] 11", "i64[] 0", "i64[] 0"},
          .error = "Expected num_to_sample <= points.rows(). 11 vs 10.",
      },
      {
          .name = "no samples",
          .inputs = {points, "i64[] 0", "i64[] 0", "i64[] 0"},
          .error = "Expected num_to_sample > 0.",
      },
      {
          .name = "no points",
          .inputs = {"f32[0,2]", "i64[] 1", "i64[] 0", "i64[] 0"},
          .error = "Expected points.rows() > 0.",
      },
      {
          .name = "a vector of points",
          .inputs = {"f32[2] 1 2", "i64[] 1", "i64[] 0", "i64[] 0"},
          .error = "matrix",
      },
  };
}

TROUPE_OP_CASES(KMC2ChainInitialization) {
  const std::string distances = "f32[10] 0 1 2 3 4 5 3 2 1 0.5";
  return {
      {.name = "seed 0", .inputs = {distances, "i64[] 0"}, .outputs = {"i64[] 7"}},
      {.name = "seed 3", .inputs = {distances, "i64[] 3"}, .outputs = {"i64[] 9"}},
      {.name = "seed 4", .inputs = {distances, "i64[] 4"}, .outputs = {"i64[] 5"}},
      {.name = "seed 8", .inputs = {distances, "i64[] 8"}, .outputs = {"i64[] 8"}},
      {.name = "all at no distance", .inputs = {"f32[3] 0 0 0", "i64[] 8"}, .outputs = {"i64[] 0"}},
      {.name = "no candidates",
       .inputs = {"f32[0]", "i64[] 0"},
       .error = "Expected distances_tensor.size() > 0."},
  };
}

} // namespace
} // namespace troupe
