// Cases of FractionalMaxPool, FractionalAvgPool and their gradients; values are those of TensorFlow
// 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(FractionalMaxPool) {
  return {
      {
          .name = "shuffled, f32",
          .inputs = {"f32[1,7,5,2] -5 3 6 1 -2 1 4 -7 -4 -2 8 4 0 7 -2 -5 -1 -1 6 -4 -2 -2 -6 -1 7 "
                     "-7 3 -7 8 -8 -5 -2 5 -5 0 6 -1 -3 4 -7 0 -2 -1 7 -1 -7 -7 0 -4 1 3 7 -5 -2 6 "
                     "0 -8 -2 -4 3 -8 -1 -2 -4 -6 -5 -7 8 0 -2"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.5F, 1.4142F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}}},
          .outputs = {"f32[1,4,3,2] 8 7 4 1 6 -2 5 -1 7 6 8 -7 0 7 -1 0 -4 1 3 7 6 8 0 3",
                      "i64[5] 0 2 4 5 7", "i64[4] 0 2 4 5"},
      },
      {
          .name = "shuffled, f64",
          .inputs = {"f64[1,7,5,2] -5 3 6 1 -2 1 4 -7 -4 -2 8 4 0 7 -2 -5 -1 -1 6 -4 -2 -2 -6 -1 7 "
                     "-7 3 -7 8 -8 -5 -2 5 -5 0 6 -1 -3 4 -7 0 -2 -1 7 -1 -7 -7 0 -4 1 3 7 -5 -2 6 "
                     "0 -8 -2 -4 3 -8 -1 -2 -4 -6 -5 -7 8 0 -2"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.5F, 1.4142F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}}},
          .outputs = {"f64[1,4,3,2] 8 7 4 1 6 -2 5 -1 7 6 8 -7 0 7 -1 0 -4 1 3 7 6 8 0 3",
                      "i64[5] 0 2 4 5 7", "i64[4] 0 2 4 5"},
      },
      {
          .name = "shuffled, i32",
          .inputs = {"i32[1,7,5,2] -5 3 6 1 -2 1 4 -7 -4 -2 8 4 0 7 -2 -5 -1 -1 6 -4 -2 -2 -6 -1 7 "
                     "-7 3 -7 8 -8 -5 -2 5 -5 0 6 -1 -3 4 -7 0 -2 -1 7 -1 -7 -7 0 -4 1 3 7 -5 -2 6 "
                     "0 -8 -2 -4 3 -8 -1 -2 -4 -6 -5 -7 8 0 -2"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.5F, 1.4142F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}}},
          .outputs = {"i32[1,4,3,2] 8 7 4 1 6 -2 5 -1 7 6 8 -7 0 7 -1 0 -4 1 3 7 6 8 0 3",
                      "i64[5] 0 2 4 5 7", "i64[4] 0 2 4 5"},
      },
      {
          .name = "shuffled, i64",
          .inputs = {"i64[1,7,5,2] -5 3 6 1 -2 1 4 -7 -4 -2 8 4 0 7 -2 -5 -1 -1 6 -4 -2 -2 -6 -1 7 "
                     "-7 3 -7 8 -8 -5 -2 5 -5 0 6 -1 -3 4 -7 0 -2 -1 7 -1 -7 -7 0 -4 1 3 7 -5 -2 6 "
                     "0 -8 -2 -4 3 -8 -1 -2 -4 -6 -5 -7 8 0 -2"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.5F, 1.4142F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}}},
          .outputs = {"i64[1,4,3,2] 8 7 4 1 6 -2 5 -1 7 6 8 -7 0 7 -1 0 -4 1 3 7 6 8 0 3",
                      "i64[5] 0 2 4 5 7", "i64[4] 0 2 4 5"},
      },
      {
          .name = "overlapping",
          .inputs =
              {"f32[2,7,6,1] 0.5 4 -2.5 0 2.75 -0.5 3.75 -1 -3.75 -2.25 -0.5 3.25 -3.5 1.5 1 -2.75 "
               "0.25 4 -0.75 0.75 3.75 -3.5 4 0.25 -1.25 -2 3 -1.5 -2 2 3.75 -0.75 0.25 0.5 -1.75 "
               "-2.5 -2 -2.25 -3.5 -3.25 1.75 2.75 -3.5 -1.5 3.25 -3 -2.25 3 -1 3.25 -3.25 2 3.5 "
               "-2.5 1.5 -2.75 -4 -1.25 -3.75 3.25 2.25 3 4 2.5 -0.75 -2.25 3.5 -2 1 3 -2.75 1.5 3 "
               "-3.25 -2.75 -2.75 -1.75 -3.75 -0.25 -3.5 -1.25 4 0 1.5"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.7F, 1.2F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}},
                    {"overlapping", true}},
          .outputs =
              {"f32[2,4,5,1] 4 4 2.75 4 4 1.5 3.75 4 4 4 3.75 3 3 2 2 3.75 0.25 1.75 2.75 2.75 "
               "3.25 3.25 3.5 3.5 3.25 3.5 4 4 3.25 3.25 3.5 1 3 1.5 1.5 3 -1.25 4 1.5 1.5",
               "i64[5] 0 2 4 5 7", "i64[6] 0 1 2 4 5 6"},
      },
      {
          .name = "stepped",
          .inputs = {"f32[1,9,7,1] 3.75 1.5 -4 -1.75 -0.75 1.25 -1.75 -4 2.25 2 3.75 3.25 0.25 "
                     "-2.5 -0.75 2.75 2.75 3.75 1 2.5 0 -4 3.5 3 3.25 -4 -2.75 2.5 -1 0.75 2.25 2 "
                     "-2.5 2 0.75 0.5 0.75 0 -1.5 -2.5 -2.25 3.75 -0.5 -2.75 2.75 -0.5 -3 2.5 1.5 "
                     "-2 0.75 -2.25 -0.25 -1 -0.25 -1.25 -0.75 0.25 -0.75 -1 0 -2 2.5"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.5F, 2.3F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}},
                    {"pseudo_random", true}},
          .outputs = {"f32[1,6,3,1] 3.75 3.75 1.25 2.75 3.75 2.5 3.5 3.25 2.5 0.75 -1.5 3.75 2.75 "
                      "-0.25 2.5 0.25 0 2.5",
                      "i64[7] 0 2 3 5 6 8 9", "i64[4] 0 3 5 7"},
      },
      {
          .name = "stepped, even",
          .inputs = {"f32[1,8,6,1] 0.5 4 -2.5 0 2.75 -0.5 3.75 -1 -3.75 -2.25 -0.5 3.25 -3.5 1.5 1 "
                     "-2.75 0.25 4 -0.75 0.75 3.75 -3.5 4 0.25 -1.25 -2 3 -1.5 -2 2 3.75 -0.75 "
                     "0.25 0.5 -1.75 -2.5 -2 -2.25 -3.5 -3.25 1.75 2.75 -3.5 -1.5 3.25 -3 -2.25 3"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 2, 3, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}},
                    {"pseudo_random", true},
                    {"overlapping", true}},
          .outputs = {"f32[1,4,2,1] 4 4 3.75 4 3.75 2.75 3.25 3", "i64[5] 0 2 4 6 8",
                      "i64[3] 0 3 6"},
      },
      {
          .name = "drawn",
          .inputs = {"f32[1,4,4,1] 1"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 2, 2, 1}}},
          .outputs = {"f32[1,2,2,1] 1", "i64[3] 0 2 4", "i64[3] 0 2 4"},
      },
      {
          .name = "seeds that do not count",
          .inputs = {"f32[1,4,4,1] 1"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 2, 2, 1}}, {"seed", std::int64_t{3}}},
          .error = "Both seed and seed2 should be 0 if deterministic is false.",
      },
      {
          .name = "a ratio below one",
          .inputs = {"f32[1,4,4,1] 1"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 0.5F, 2, 1}}},
          .error = "pooling_ratio cannot be smaller than 1, got: 0.5",
      },
      {
          .name = "a ratio above the size",
          .inputs = {"f32[1,4,4,1] 1"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 5, 2, 1}}},
          .error = "Pooling ratio",
      },
      {
          .name = "no images",
          .inputs = {"f32[0,4,4,1]"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 2, 2, 1}}},
          .error = "Pooling ratio",
      },
      {
          .name = "a matrix",
          .inputs = {"f32[4,4] 1"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 2, 2, 1}}},
          .error = "rank 4",
      },
  };
}

TROUPE_OP_CASES(FractionalAvgPool) {
  return {
      {
          .name = "shuffled, f32",
          .inputs = {"f32[1,7,5,2] -5 3 6 1 -2 1 4 -7 -4 -2 8 4 0 7 -2 -5 -1 -1 6 -4 -2 -2 -6 -1 7 "
                     "-7 3 -7 8 -8 -5 -2 5 -5 0 6 -1 -3 4 -7 0 -2 -1 7 -1 -7 -7 0 -4 1 3 7 -5 -2 6 "
                     "0 -8 -2 -4 3 -8 -1 -2 -4 -6 -5 -7 8 0 -2"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.5F, 1.4142F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}}},
          .outputs = {"f32[1,4,3,2] 2.25 3.75 -0.25 -3 1 -3 -2 -2.5 2.25 -2.75 6 -7.5 -0.5 2.5 -4 "
                      "-3.5 -4 1 -3 0 -3.75 0.25 -2 0.5",
                      "i64[5] 0 2 4 5 7", "i64[4] 0 2 4 5"},
      },
      {
          .name = "shuffled, f64",
          .inputs = {"f64[1,7,5,2] -5 3 6 1 -2 1 4 -7 -4 -2 8 4 0 7 -2 -5 -1 -1 6 -4 -2 -2 -6 -1 7 "
                     "-7 3 -7 8 -8 -5 -2 5 -5 0 6 -1 -3 4 -7 0 -2 -1 7 -1 -7 -7 0 -4 1 3 7 -5 -2 6 "
                     "0 -8 -2 -4 3 -8 -1 -2 -4 -6 -5 -7 8 0 -2"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.5F, 1.4142F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}}},
          .outputs = {"f64[1,4,3,2] 2.25 3.75 -0.25 -3 1 -3 -2 -2.5 2.25 -2.75 6 -7.5 -0.5 2.5 -4 "
                      "-3.5 -4 1 -3 0 -3.75 0.25 -2 0.5",
                      "i64[5] 0 2 4 5 7", "i64[4] 0 2 4 5"},
      },
      {
          .name = "shuffled, i32",
          .inputs = {"i32[1,7,5,2] -5 3 6 1 -2 1 4 -7 -4 -2 8 4 0 7 -2 -5 -1 -1 6 -4 -2 -2 -6 -1 7 "
                     "-7 3 -7 8 -8 -5 -2 5 -5 0 6 -1 -3 4 -7 0 -2 -1 7 -1 -7 -7 0 -4 1 3 7 -5 -2 6 "
                     "0 -8 -2 -4 3 -8 -1 -2 -4 -6 -5 -7 8 0 -2"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.5F, 1.4142F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}}},
          .outputs = {"i32[1,4,3,2] 2 3 0 -3 1 -3 -2 -2 2 -2 6 -7 0 2 -4 -3 -4 1 -3 0 -3 0 -2 0",
                      "i64[5] 0 2 4 5 7", "i64[4] 0 2 4 5"},
      },
      {
          .name = "shuffled, i64",
          .inputs = {"i64[1,7,5,2] -5 3 6 1 -2 1 4 -7 -4 -2 8 4 0 7 -2 -5 -1 -1 6 -4 -2 -2 -6 -1 7 "
                     "-7 3 -7 8 -8 -5 -2 5 -5 0 6 -1 -3 4 -7 0 -2 -1 7 -1 -7 -7 0 -4 1 3 7 -5 -2 6 "
                     "0 -8 -2 -4 3 -8 -1 -2 -4 -6 -5 -7 8 0 -2"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.5F, 1.4142F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}}},
          .outputs = {"i64[1,4,3,2] 2 3 0 -3 1 -3 -2 -2 2 -2 6 -7 0 2 -4 -3 -4 1 -3 0 -3 0 -2 0",
                      "i64[5] 0 2 4 5 7", "i64[4] 0 2 4 5"},
      },
      {
          .name = "overlapping",
          .inputs =
              {"f32[2,7,6,1] 0.5 4 -2.5 0 2.75 -0.5 3.75 -1 -3.75 -2.25 -0.5 3.25 -3.5 1.5 1 -2.75 "
               "0.25 4 -0.75 0.75 3.75 -3.5 4 0.25 -1.25 -2 3 -1.5 -2 2 3.75 -0.75 0.25 0.5 -1.75 "
               "-2.5 -2 -2.25 -3.5 -3.25 1.75 2.75 -3.5 -1.5 3.25 -3 -2.25 3 -1 3.25 -3.25 2 3.5 "
               "-2.5 1.5 -2.75 -4 -1.25 -3.75 3.25 2.25 3 4 2.5 -0.75 -2.25 3.5 -2 1 3 -2.75 1.5 3 "
               "-3.25 -2.75 -2.75 -1.75 -3.75 -0.25 -3.5 -1.25 4 0 1.5"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.7F, 1.2F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}},
                    {"overlapping", true}},
          .outputs = {"f32[2,4,5,1] 0.875 -0.125 -0.8611111 1.5416666 2.25 -0.875 1.3333334 0.25 "
                      "1.4166666 2.0833333 -0.0625 0.125 -0.25 -1.0625 -0.25 -0.3125 -1.5625 -1 "
                      "0.0625 0.125 -0.66666669 -0.83333331 -0.97222221 0.20833333 1.25 0.91666669 "
                      "-0.125 -0.22222222 -0.79166669 0.83333331 0.3125 -1.75 -1 -1.6875 -1.125 -1 "
                      "-2.6875 -0.75 -1 -1.125",
                      "i64[5] 0 2 4 5 7", "i64[6] 0 1 2 4 5 6"},
      },
      {
          .name = "stepped",
          .inputs = {"f32[1,9,7,1] 3.75 1.5 -4 -1.75 -0.75 1.25 -1.75 -4 2.25 2 3.75 3.25 0.25 "
                     "-2.5 -0.75 2.75 2.75 3.75 1 2.5 0 -4 3.5 3 3.25 -4 -2.75 2.5 -1 0.75 2.25 2 "
                     "-2.5 2 0.75 0.5 0.75 0 -1.5 -2.5 -2.25 3.75 -0.5 -2.75 2.75 -0.5 -3 2.5 1.5 "
                     "-2 0.75 -2.25 -0.25 -1 -0.25 -1.25 -0.75 0.25 -0.75 -1 0 -2 2.5"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 1.5F, 2.3F, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}},
                    {"pseudo_random", true}},
          .outputs = {"f32[1,6,3,1] 0.25 1.125 -0.6875 1.5833334 2.375 1.25 0.75 -0.3125 0.625 "
                      "0.41666666 -2 0.75 -0.66666669 -1.1875 0.625 -0.41666666 -0.5 0.25",
                      "i64[7] 0 2 3 5 6 8 9", "i64[4] 0 3 5 7"},
      },
      {
          .name = "stepped, even",
          .inputs = {"f32[1,8,6,1] 0.5 4 -2.5 0 2.75 -0.5 3.75 -1 -3.75 -2.25 -0.5 3.25 -3.5 1.5 1 "
                     "-2.75 0.25 4 -0.75 0.75 3.75 -3.5 4 0.25 -1.25 -2 3 -1.5 -2 2 3.75 -0.75 "
                     "0.25 0.5 -1.75 -2.5 -2 -2.25 -3.5 -3.25 1.75 2.75 -3.5 -1.5 3.25 -3 -2.25 3"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 2, 3, 1}},
                    {"deterministic", true},
                    {"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{7}},
                    {"pseudo_random", true},
                    {"overlapping", true}},
          .outputs = {"f32[1,4,2,1] -0.41666666 0.47222221 -0.4375 0.083333336 -0.75 -0.44444445 "
                      "-1.96875 -0.16666667",
                      "i64[5] 0 2 4 6 8", "i64[3] 0 3 6"},
      },
      {
          .name = "drawn",
          .inputs = {"f32[1,4,4,1] 1"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 2, 2, 1}}},
          .outputs = {"f32[1,2,2,1] 1", "i64[3] 0 2 4", "i64[3] 0 2 4"},
      },
      {
          .name = "seeds that do not count",
          .inputs = {"f32[1,4,4,1] 1"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 2, 2, 1}}, {"seed", std::int64_t{3}}},
          .error = "Both seed and seed2 should be 0 if deterministic is false.",
      },
      {
          .name = "a ratio below one",
          .inputs = {"f32[1,4,4,1] 1"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 0.5F, 2, 1}}},
          .error = "pooling_ratio cannot be smaller than 1, got: 0.5",
      },
      {
          .name = "a ratio above the size",
          .inputs = {"f32[1,4,4,1] 1"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 5, 2, 1}}},
          .error = "Pooling ratio",
      },
      {
          .name = "no images",
          .inputs = {"f32[0,4,4,1]"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 2, 2, 1}}},
          .error = "Pooling ratio",
      },
      {
          .name = "a matrix",
          .inputs = {"f32[4,4] 1"},
          .attrs = {{"pooling_ratio", std::vector<float>{1, 2, 2, 1}}},
          .error = "rank 4",
      },
  };
}

TROUPE_OP_CASES(FractionalMaxPoolGrad) {
  return {
      {
          .name = "f32",
          .inputs = {"f32[1,3,3,1] 4 5 3 7 -8 -5 -8 5 8", "f32[1,2,2,1] 5 3 7 8",
                     "f32[1,2,2,1] 3 -5 -8 -5", "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .outputs = {"f32[1,3,3,1] 0 3 -5 -8 0 0 0 0 -5"},
      },
      {
          .name = "f64",
          .inputs = {"f64[1,3,3,1] 4 5 3 7 -8 -5 -8 5 8", "f64[1,2,2,1] 5 3 7 8",
                     "f64[1,2,2,1] 3 -5 -8 -5", "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .outputs = {"f64[1,3,3,1] 0 3 -5 -8 0 0 0 0 -5"},
      },
      {
          .name = "i32",
          .inputs = {"i32[1,3,3,1] 4 5 3 7 -8 -5 -8 5 8", "i32[1,2,2,1] 5 3 7 8",
                     "i32[1,2,2,1] 3 -5 -8 -5", "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .outputs = {"i32[1,3,3,1] 0 3 -5 -8 0 0 0 0 -5"},
      },
      {
          .name = "i64",
          .inputs = {"i64[1,3,3,1] 4 5 3 7 -8 -5 -8 5 8", "i64[1,2,2,1] 5 3 7 8",
                     "i64[1,2,2,1] 3 -5 -8 -5", "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .outputs = {"i64[1,3,3,1] 0 3 -5 -8 0 0 0 0 -5"},
      },
      {
          .name = "overlapping",
          .inputs = {"f32[1,3,3,2] 5 7 2 5 8 -1 5 3 -2 7 2 -8 -6 -2 -8 4 0 1",
                     "f32[1,2,2,2] 8 7 8 -1 5 7 2 1", "f32[1,2,2,2] 3 5 -8 -3 2 3 -5 -5",
                     "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .attrs = {{"overlapping", true}},
          .outputs = {"f32[1,3,3,2] 0 5 0 0 -5 -3 2 0 0 3 -5 0 0 0 0 0 0 -5"},
      },
      {
          .name = "outputs that are no maxima",
          .inputs = {"f32[1,3,3,1] 1", "f32[1,2,2,1] 2", "f32[1,2,2,1] 1", "i64[3] 0 1 3",
                     "i64[3] 0 2 3"},
          .error = "tensor_out_dup is not the same as tensor_out",
      },
      {
          .name = "a sequence beyond the input",
          .inputs = {"f32[1,3,3,1] 1 2 3 4 5 6 7 8 9", "f32[1,2,2,1] 2 3 8 9",
                     "f32[1,2,2,1] 1 2 3 4", "i64[3] 0 1 9", "i64[3] 0 2 3"},
          .outputs = {"f32[1,3,3,1] 0 1 2 0 0 0 0 3 4"},
      },
      {
          .name = "a negative sequence",
          .inputs = {"f32[1,3,3,1] 1", "f32[1,2,2,1] 1", "f32[1,2,2,1] 1", "i64[3] -5 1 3",
                     "i64[3] 0 2 3"},
          .error = "Invalid input backprop index: -5, 9",
      },
      {
          .name = "a window of nothing",
          .inputs = {"f32[1,3,3,1] 1", "f32[1,2,2,1] 1", "f32[1,2,2,1] 1", "i64[3] 0 0 3",
                     "i64[3] 0 2 3"},
          .error = "tensor_out_dup is not the same as tensor_out",
      },
      {
          .name = "a short sequence",
          .inputs = {"f32[1,3,3,1] 1", "f32[1,2,2,1] 1", "f32[1,2,2,1] 1", "i64[2] 0 3",
                     "i64[3] 0 2 3"},
          .error = "tensor_out_dup is not the same as tensor_out",
      },
      {
          .name = "nothing",
          .inputs = {"f32[0,3,3,1]", "f32[0,2,2,1]", "f32[0,2,2,1]", "i64[3] 0 1 3",
                     "i64[3] 0 2 3"},
          .error = "orig_input must not be empty",
      },
      {.name = "an input of rank 2",
       .inputs = {"f32[2,2] 1 2 3 4", "f32[1,1,1,1] 4", "f32[1,1,1,1] 1", "i64[2] 0 2",
                  "i64[2] 0 2"},
       .error = "orig_input should be a tensor of rank 4, got Tensor<type: float shape: [2,2] "
                "values: [1 2][3...]...>"},
      {.name = "an output of nothing",
       .inputs = {"f32[1,2,2,1] 1 2 3 4", "f32[1,1,0,1]", "f32[1,1,1,1] 1", "i64[2] 0 2",
                  "i64[2] 0 2"},
       .error = "orig_output must not be empty, got Tensor<type: float shape: [1,1,0,1] values: >"},
      {.name = "a sequence of no dimension",
       .inputs = {"f32[1,2,2,1] 1 2 3 4", "f32[1,1,1,1] 4", "f32[1,1,1,1] 1", "i64[2] 0 2",
                  "i64[] 0"},
       .error = "col_pooling_sequence must be a vector, received shape []"},
      {.name = "fewer gradients than windows",
       .inputs = {"f32[1,3,3,1] 1 2 3 4 5 6 7 8 9", "f32[1,2,2,1] 2 3 8 9", "f32[2] 1 2",
                  "i64[3] 0 1 3", "i64[3] 0 2 3"},
       .outputs = {"f32[1,3,3,1] 0 1 2 0 0 0 0 0 0"}},
      {.name = "more gradients than windows",
       .inputs = {"f32[1,3,3,1] 1 2 3 4 5 6 7 8 9", "f32[1,2,2,1] 2 3 8 9", "f32[5] 1",
                  "i64[3] 0 1 3", "i64[3] 0 2 3"},
       .error = "out_backprop must have the shape of orig_output, [1,2,2,1], got [5]"},
  };
}

TROUPE_OP_CASES(FractionalAvgPoolGrad) {
  return {
      {
          .name = "f32",
          .inputs = {"i64[4] 1 3 3 1", "f32[1,2,2,1] 3 -5 -8 -5", "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .outputs = {"f32[1,3,3,1] 1.5 1.5 -5 -2 -2 -2.5 -2 -2 -2.5"},
      },
      {
          .name = "f64",
          .inputs = {"i64[4] 1 3 3 1", "f64[1,2,2,1] 3 -5 -8 -5", "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .outputs = {"f64[1,3,3,1] 1.5 1.5 -5 -2 -2 -2.5 -2 -2 -2.5"},
      },
      {
          .name = "i32",
          .inputs = {"i64[4] 1 3 3 1", "i32[1,2,2,1] 3 -5 -8 -5", "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .outputs = {"i32[1,3,3,1] 1 1 -5 -2 -2 -2 -2 -2 -2"},
      },
      {
          .name = "i64",
          .inputs = {"i64[4] 1 3 3 1", "i64[1,2,2,1] 3 -5 -8 -5", "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .outputs = {"i64[1,3,3,1] 1 1 -5 -2 -2 -2 -2 -2 -2"},
      },
      {
          .name = "overlapping",
          .inputs = {"i64[4] 1 3 3 2", "f32[1,2,2,2] 3 5 -8 -3 2 3 -5 -5", "i64[3] 0 1 3",
                     "i64[3] 0 2 3"},
          .attrs = {{"overlapping", true}},
          .outputs = {"f32[1,3,3,2] 0.5 0.83333331 0.5 0.83333331 -3.5 -0.66666669 0.83333331 "
                      "1.3333334 0.83333331 1.3333334 -5.6666665 -2.6666667 0.33333334 0.5 "
                      "0.33333334 0.5 -2.1666667 -2"},
      },
      {
          .name = "a negative sequence",
          .inputs = {"i64[4] 1 3 3 1", "f32[1,2,2,1] 1", "i64[3] -5 1 3", "i64[3] 0 2 3"},
          .error = "Row sequence tensor values must not be negative, got -5  1  3",
      },
      {
          .name = "a short sequence",
          .inputs = {"i64[4] 1 3 3 1", "f32[1,2,2,1] 1", "i64[2] 0 3", "i64[3] 0 2 3"},
          .error = "must have at least 3 elements",
      },
      {
          .name = "no rows",
          .inputs = {"i64[4] 1 0 3 1", "f32[1,2,2,1] 1", "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .error = "Rows dimension of input must not be 0",
      },
      {
          .name = "three sizes",
          .inputs = {"i64[3] 1 3 1", "f32[1,2,2,1] 1", "i64[3] 0 1 3", "i64[3] 0 2 3"},
          .error = "4 elements",
      },
      {
          .name = "more than can be",
          .inputs = {"i64[4] 1 99999999999 99999999999 1", "f32[1,2,2,1] 1", "i64[3] 0 1 3",
                     "i64[3] 0 2 3"},
          .error = "more than 2^63",
      },
      {.name = "a sequence beyond the input",
       .inputs = {"i64[4] 1 3 2 1", "f32[1,2,2,1] 1 2 3 4", "i64[3] 0 1 7", "i64[3] 0 1 2"},
       .outputs = {"f32[1,3,2,1] 1 2 1.5 2 1.5 2"}},
      {.name = "a window behind the input",
       .inputs = {"i64[4] 1 3 2 1", "f32[1,2,2,1] 1 2 3 4", "i64[3] 0 9 3", "i64[3] 0 1 2"},
       .outputs = {"f32[1,3,2,1] 0.33333334 0.6666667 0.33333334 0.6666667 0.33333334 0.6666667"}},
      {.name = "overlapping windows, one behind the input",
       .inputs = {"i64[4] 1 3 2 1", "f32[1,2,2,1] 1 2 3 4", "i64[3] 0 9 3", "i64[3] 0 1 2"},
       .attrs = {{"overlapping", true}},
       .outputs = {"f32[1,3,2,1] 0.16666667 0.8333333 0.16666667 0.8333333 0.16666667 0.8333333"}},
      {.name = "a window that ends before the input",
       .inputs = {"i64[4] 1 4 4 1", "f32[1,2,2,1] 1", "i64[3] 0 2 4", "i64[3] 2 0 4"},
       .error = "Column sequence tensor values must not be negative, got 2 0 4"},
      {.name = "no gradients",
       .inputs = {"i64[4] 1 4 4 1", "f32[1,0,2,1]", "i64[3] 0 2 4", "i64[3] 0 2 4"},
       .error = "out_backprop must be positive for all dimension, got:0"},
      {.name = "a negative size",
       .inputs = {"i64[4] 1 -4 4 1", "f32[1,2,2,1] 1", "i64[3] 0 2 4", "i64[3] 0 2 4"},
       .error = "Expected a non-negative size, got -4"},
      {.name = "sizes of three",
       .inputs = {"i64[3] 4 4 1", "f32[1,2,2,1] 1", "i64[3] 0 2 4", "i64[3] 0 2 4"},
       .error = "original input tensor shape must be1-dimensional and 4 elements"},
  };
}

} // namespace
} // namespace troupe
