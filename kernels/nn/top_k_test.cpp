// Cases of TopK, TopKV2, InTopK and InTopKV2; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(TopK) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[2,5] 1 5 3 4 2 9 -1 7 -3 8"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"f32[2,2] 5 4 9 8", "i32[2,2] 1 3 0 4"},
      },
      {
          .name = "float64",
          .inputs = {"f64[2,5] 1 5 3 4 2 9 -1 7 -3 8"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"f64[2,2] 5 4 9 8", "i32[2,2] 1 3 0 4"},
      },
      {
          .name = "int32",
          .inputs = {"i32[2,5] 1 5 3 4 2 9 -1 7 -3 8"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"i32[2,2] 5 4 9 8", "i32[2,2] 1 3 0 4"},
      },
      {
          .name = "int64",
          .inputs = {"i64[2,5] 1 5 3 4 2 9 -1 7 -3 8"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"i64[2,2] 5 4 9 8", "i32[2,2] 1 3 0 4"},
      },
      {
          .name = "fewer columns than k",
          .inputs = {"f32[1,2] 0"},
          .attrs = {{"k", std::int64_t{3}}},
          .error = "input must have last dimension >= k = 3 but is 2",
      },
  };
}

TROUPE_OP_CASES(TopKV2) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[2,5] 1 5 3 4 2 9 -1 7 -3 8", "i32[] 3"},
          .outputs = {"f32[2,3] 5 4 3 9 8 7", "i32[2,3] 1 3 2 0 4 2"},
      },
      {
          .name = "float64",
          .inputs = {"f64[2,5] 1 5 3 4 2 9 -1 7 -3 8", "i32[] 3"},
          .outputs = {"f64[2,3] 5 4 3 9 8 7", "i32[2,3] 1 3 2 0 4 2"},
      },
      {
          .name = "int32",
          .inputs = {"i32[2,5] 1 5 3 4 2 9 -1 7 -3 8", "i32[] 3"},
          .outputs = {"i32[2,3] 5 4 3 9 8 7", "i32[2,3] 1 3 2 0 4 2"},
      },
      {
          .name = "int64",
          .inputs = {"i64[2,5] 1 5 3 4 2 9 -1 7 -3 8", "i32[] 3"},
          .outputs = {"i64[2,3] 5 4 3 9 8 7", "i32[2,3] 1 3 2 0 4 2"},
      },
      {
          .name = "the first of equals first",
          .inputs = {"i32[5] 5 1 5 5 2", "i32[] 4"},
          .outputs = {"i32[4] 5 5 5 2", "i32[4] 0 2 3 4"},
      },
      {
          .name = "k of zero",
          .inputs = {"f32[1,2] 1 5", "i32[] 0"},
          .outputs = {"f32[1,0]", "i32[1,0]"},
      },
      {
          .name = "all of them",
          .inputs = {"f32[3] 3 1 2", "i32[] 3"},
          .outputs = {"f32[3] 3 2 1", "i32[3] 0 2 1"},
      },
      {
          .name = "three dimensions",
          .inputs = {"f32[2,1,3] 4 1 3 2 9 5", "i32[] 1"},
          .outputs = {"f32[2,1,1] 4 9", "i32[2,1,1] 0 1"},
      },
      {
          .name = "small and large indices",
          .inputs = {"f32[3] 3 1 2", "i64[] 2"},
          .attrs = {{"index_type", DType::int16}},
          .outputs = {"f32[2] 3 2", "i16[2] 0 2"},
      },
      {
          .name = "indices of int64",
          .inputs = {"f32[3] 3 1 2", "i16[] 2"},
          .attrs = {{"index_type", DType::int64}},
          .outputs = {"f32[2] 3 2", "i64[2] 0 2"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "i32[] 2"},
          .outputs = {"f32[0,2]", "i32[0,2]"},
      },
      {
          .name = "infinity",
          .inputs = {"f32[3] -inf inf 0", "i32[] 3"},
          .outputs = {"f32[3] inf 0 -inf", "i32[3] 1 2 0"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "NaN comes first",
          .inputs = {"f32[3] 1 nan 3", "i32[] 2"},
          .outputs = {"f32[2] nan 3", "i32[2] 1 2"},
          .check_gradient = false,
          .no_gradient_reason = "NaN has no finite differences",
      },
      {
          .name = "a scalar is refused",
          .inputs = {"f32[] 1", "i32[] 1"},
          .error = "Shape must be at least rank 1 but is rank 0",
      },
      {
          .name = "a vector of k is refused",
          .inputs = {"f32[2] 0", "i32[1] 1"},
          .error = "Shape must be rank 0 but is rank 1",
      },
      {
          .name = "negative k",
          .inputs = {"f32[2] 0", "i32[] -1"},
          .error = "Need k >= 0, got -1",
      },
      {
          .name = "fewer columns than k",
          .inputs = {"f32[1,2] 0", "i32[] 3"},
          .error = "input must have last dimension >= k = 3 but is 2",
      },
  };
}

TROUPE_OP_CASES(InTopK) {
  return {
      {
          .name = "int32",
          .inputs = {"f32[7,3] 0.1 0.9 0.5 0.5 0.5 0.5 nan 1 2 inf 1 2 0 1 2 3 2 1 3 2 1",
                     "i32[7] 2 2 1 0 7 -1 2"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"bool[7] true true false false false false false"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "int64",
          .inputs = {"f32[7,3] 0.1 0.9 0.5 0.5 0.5 0.5 nan 1 2 inf 1 2 0 1 2 3 2 1 3 2 1",
                     "i64[7] 2 2 1 0 7 -1 2"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"bool[7] true true false false false false false"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "i32[0]"},
          .attrs = {{"k", std::int64_t{1}}},
          .outputs = {"bool[0]"},
      },
      {
          .name = "a vector of predictions",
          .inputs = {"f32[3] 0", "i32[3] 0"},
          .attrs = {{"k", std::int64_t{1}}},
          .error = "Shape must be rank 2 but is rank 1",
      },
      {
          .name = "a matrix of targets",
          .inputs = {"f32[3,2] 0", "i32[3,1] 0"},
          .attrs = {{"k", std::int64_t{1}}},
          .error = "Shape must be rank 1 but is rank 2",
      },
      {
          .name = "another number of targets",
          .inputs = {"f32[3,2] 0", "i32[2] 0"},
          .attrs = {{"k", std::int64_t{1}}},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
  };
}

TROUPE_OP_CASES(InTopKV2) {
  return {
      {
          .name = "int32",
          .inputs = {"f32[7,3] 0.1 0.9 0.5 0.5 0.5 0.5 nan 1 2 inf 1 2 0 1 2 3 2 1 3 2 1",
                     "i32[7] 2 2 1 0 7 -1 2", "i32[] 2"},
          .outputs = {"bool[7] true true false false false false false"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "int64",
          .inputs = {"f32[7,3] 0.1 0.9 0.5 0.5 0.5 0.5 nan 1 2 inf 1 2 0 1 2 3 2 1 3 2 1",
                     "i64[7] 2 2 1 0 7 -1 2", "i64[] 2"},
          .outputs = {"bool[7] true true false false false false false"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "i32[0]", "i32[] 1"},
          .outputs = {"bool[0]"},
      },
      {
          .name = "a vector of predictions",
          .inputs = {"f32[3] 0", "i32[3] 0", "i32[] 1"},
          .error = "Shape must be rank 2 but is rank 1",
      },
      {
          .name = "a matrix of targets",
          .inputs = {"f32[3,2] 0", "i32[3,1] 0", "i32[] 1"},
          .error = "Shape must be rank 1 but is rank 2",
      },
      {
          .name = "another number of targets",
          .inputs = {"f32[3,2] 0", "i32[2] 0", "i32[] 1"},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
  };
}

} // namespace
} // namespace troupe
