// Cases of the ops on ragged tensors; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(RaggedRange) {
  return {
      {
          .name = "rows up and down",
          .inputs = {"i32[3] 0 5 8", "i32[3] 3 5 2", "i32[3] 1 1 -2"},
          .outputs = {"i64[4] 0 3 3 6", "i32[6] 0 1 2 8 6 4"},
      },
      {
          .name = "starts for all, few splits",
          .inputs = {"f32[] 0", "f32[2] 1 2.5", "f32[] 1"},
          .attrs = {{"Tsplits", DType::int32}},
          .outputs = {"i32[3] 0 1 4", "f32[4] 0 0 1 2"},
      },
      {
          .name = "scalars",
          .inputs = {"i64[] 2", "i64[] 9", "i64[] 3"},
          .outputs = {"i64[2] 0 3", "i64[3] 2 5 8"},
      },
      {
          .name = "doubles",
          .inputs = {"f64[1] 1", "f64[1] 0", "f64[1] -0.25"},
          .outputs = {"i64[2] 0 4", "f64[4] 1 0.75 0.5 0.25"},
      },
      {
          .name = "no rows",
          .inputs = {"i32[0]", "i32[0]", "i32[0]"},
          .outputs = {"i64[1] 0", "i32[0]"},
      },
      {
          .name = "a step of zero",
          .inputs = {"i32[] 0", "i32[] 3", "i32[] 0"},
          .error = "Requires delta != 0",
      },
      {
          .name = "a matrix",
          .inputs = {"i32[1,1] 0", "i32[] 3", "i32[] 1"},
          .error = "must ",
      },
      {
          .name = "two lengths",
          .inputs = {"i32[2] 0 1", "i32[3] 3 3 3", "i32[] 1"},
          .error = "must ",
      },
      {
          .name = "more numbers than there are",
          .inputs = {"i64[] -9223372036854775808", "i64[] 9223372036854775807", "i64[] 1"},
          .error = "Requires ((limit - start) / delta)",
      },
  };
}

TROUPE_OP_CASES(RaggedGather) {
  return {
      {
          .name = "rows of text",
          .inputs = {"i64[4] 0 2 2 3", "str[3] \"a\" \"b\" \"c\"", "i32[3] 2 0 0"},
          .attrs = {{"PARAMS_RAGGED_RANK", std::int64_t{1}},
                    {"OUTPUT_RAGGED_RANK", std::int64_t{1}}},
          .outputs = {"i64[4] 0 1 3 5", "str[5] \"c\" \"a\" \"b\" \"a\" \"b\""},
      },
      {
          .name = "two ragged dimensions and values of rank 2",
          .inputs = {"i32[3] 0 2 3", "i32[4] 0 1 3 3", "f32[3,2] 1 2 3 4 5 6", "i64[2,2] 1 0 0 1"},
          .attrs = {{"PARAMS_RAGGED_RANK", std::int64_t{2}},
                    {"OUTPUT_RAGGED_RANK", std::int64_t{3}}},
          .outputs = {"i32[3] 0 2 4", "i32[5] 0 1 3 5 6", "i32[7] 0 0 1 3 4 6 6",
                      "f32[6,2] 1 2 3 4 5 6 1 2 3 4 5 6"},
      },
      {
          .name = "one row alone",
          .inputs = {"i64[3] 0 2 5", "u8[5] 1 2 3 4 5", "i64[] 1"},
          .attrs = {{"PARAMS_RAGGED_RANK", std::int64_t{1}},
                    {"OUTPUT_RAGGED_RANK", std::int64_t{0}}},
          .outputs = {"u8[3] 3 4 5"},
      },
      {
          .name = "nothing asked for",
          .inputs = {"i64[3] 0 2 5", "u8[5] 1 2 3 4 5", "i64[0]"},
          .attrs = {{"PARAMS_RAGGED_RANK", std::int64_t{1}},
                    {"OUTPUT_RAGGED_RANK", std::int64_t{1}}},
          .outputs = {"i64[1] 0", "u8[0]"},
      },
      {
          .name = "an index outside",
          .inputs = {"i64[3] 0 2 5", "u8[5] 1 2 3 4 5", "i64[2] 0 2"},
          .attrs = {{"PARAMS_RAGGED_RANK", std::int64_t{1}},
                    {"OUTPUT_RAGGED_RANK", std::int64_t{1}}},
          .error = "indices[1] = 2 is not in [0, 2)",
      },
      {
          .name = "splits beyond the values",
          .inputs = {"i64[3] 0 2 9", "u8[5] 1 2 3 4 5", "i64[2] 0 1"},
          .attrs = {{"PARAMS_RAGGED_RANK", std::int64_t{1}},
                    {"OUTPUT_RAGGED_RANK", std::int64_t{1}}},
          .error = "Ragged splits must not point past values",
      },
      {
          .name = "splits that fall",
          .inputs = {"i64[4] 0 4 2 5", "u8[5] 1 2 3 4 5", "i64[2] 0 1"},
          .attrs = {{"PARAMS_RAGGED_RANK", std::int64_t{1}},
                    {"OUTPUT_RAGGED_RANK", std::int64_t{1}}},
          .error = "Ragged splits must be sorted",
      },
      {
          .name = "negative splits",
          .inputs = {"i64[3] -1 2 5", "u8[5] 1 2 3 4 5", "i64[2] 0 1"},
          .attrs = {{"PARAMS_RAGGED_RANK", std::int64_t{1}},
                    {"OUTPUT_RAGGED_RANK", std::int64_t{1}}},
          .error = "Ragged splits must be non-negative",
      },
      {
          .name = "no splits",
          .inputs = {"i64[0]", "u8[5] 1 2 3 4 5", "i64[0]"},
          .attrs = {{"PARAMS_RAGGED_RANK", std::int64_t{1}},
                    {"OUTPUT_RAGGED_RANK", std::int64_t{1}}},
          .error = "Ragged splits may not be empty",
      },
  };
}

TROUPE_OP_CASES(RaggedTensorToSparse) {
  return {
      {
          .name = "one ragged dimension",
          .inputs = {"i64[4] 0 2 2 3", "str[3] \"a\" \"b\" \"c\""},
          .attrs = {{"RAGGED_RANK", std::int64_t{1}}},
          .outputs = {"i64[3,2] 0 0 0 1 2 0", "str[3] \"a\" \"b\" \"c\"", "i64[2] 3 2"},
      },
      {
          .name = "two and values of rank 2",
          .inputs = {"i32[3] 0 2 3", "i32[4] 0 1 3 3", "f32[3,2] 1 2 3 4 5 6"},
          .attrs = {{"RAGGED_RANK", std::int64_t{2}}},
          .outputs = {"i64[6,4] 0 0 0 0 0 0 0 1 0 1 0 0 0 1 0 1 0 1 1 0 0 1 1 1",
                      "f32[6] 1 2 3 4 5 6", "i64[4] 2"},
      },
      {
          .name = "no rows",
          .inputs = {"i64[1] 0", "i32[0]"},
          .attrs = {{"RAGGED_RANK", std::int64_t{1}}},
          .outputs = {"i64[0,2]", "i32[0]", "i64[2] 0"},
      },
      {
          .name = "splits that fall",
          .inputs = {"i64[4] 0 3 2 3", "i32[3] 1 2 3"},
          .attrs = {{"RAGGED_RANK", std::int64_t{1}}},
          .error = "Ragged splits should be non decreasing, but we got 3 followed by 2",
      },
      {
          .name = "splits that do not begin at 0",
          .inputs = {"i64[2] 1 3", "i32[3] 1 2 3"},
          .attrs = {{"RAGGED_RANK", std::int64_t{1}}},
          .error = "First value of ragged splits must be 0.",
      },
      {
          .name = "no splits",
          .inputs = {"i64[0]", "i32[0]"},
          .attrs = {{"RAGGED_RANK", std::int64_t{1}}},
          .error = "ragged splits may not be empty.",
      },
      {
          .name = "values that no row has",
          .inputs = {"i64[2] 0 2", "i32[3] 1 2 3"},
          .attrs = {{"RAGGED_RANK", std::int64_t{1}}},
          .error = "Final value of ragged splits must match",
      },
      {
          .name = "splits of splits that do not fit",
          .inputs = {"i64[2] 0 3", "i64[2] 0 3", "i32[3] 1 2 3"},
          .attrs = {{"RAGGED_RANK", std::int64_t{2}}},
          .error = "Final value of ragged splits must match",
      },
  };
}

} // namespace
} // namespace troupe
