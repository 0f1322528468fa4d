// Cases of RaggedTensorToTensor; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(RaggedTensorToTensor) {
  return {
      {
          .name = "rows by splits",
          .inputs = {"i64[] -1", "i32[4] 1 2 3 4", "i32[] 9", "i64[4] 0 1 1 4"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .outputs = {"i32[3,3] 1 9 9 9 9 9 2 3 4"},
      },
      {
          .name = "rows by ids, text",
          .inputs = {"i64[2] -1 -1", "str[4] \"a\" \"b\" \"c\" \"d\"", "str[] \"-\"", "i64[] 4",
                     "i64[4] 0 1 1 3"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{2}},
                    {"row_partition_types",
                     std::vector<std::string>{"FIRST_DIM_SIZE", "VALUE_ROWIDS"}}},
          .outputs = {"str[4,2] \"a\" \"-\" \"b\" \"c\" \"-\" \"-\" \"d\" \"-\""},
      },
      {
          .name = "a smaller shape cuts",
          .inputs = {"i32[2] 2 2", "f32[4] 1 2 3 4", "f32[] 0", "i32[4] 0 3 3 4"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .outputs = {"f32[2,2] 1 2 0 0"},
      },
      {
          .name = "splits that claim values which are not there",
          .inputs = {"i32[2] 3 3", "bool[3] true", "bool[] false", "i64[3] 0 1 4294967296"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .error = "the row partitions name 4294967296 values, but there are 3",
      },
      {
          .name = "outer splits that claim rows which are not there",
          .inputs = {"i32[3] 2 1 2", "f32[2] 1 2", "f32[] 0", "i64[3] 0 1 4294967296",
                     "i64[3] 0 2 2"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{2}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS", "ROW_SPLITS"}}},
          .outputs = {"f32[2,1,2] 1 2 0 0"},
      },
      {
          .name = "a larger shape is filled",
          .inputs = {"i32[2] 3 3", "bool[3] true", "bool[] false", "i64[3] 0 1 3"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .outputs = {"bool[3,3] true false false true true false false false false"},
      },
      {
          .name = "values of rank 2 and a default that is spread",
          .inputs = {"i64[] -1", "f32[3,2] 1 2 3 4 5 6", "f32[1] 7", "i64[3] 0 2 3"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .outputs = {"f32[2,2,2] 1 2 3 4 5 6 7 7"},
      },
      {
          .name = "a default for each column",
          .inputs = {"i64[3] 2 -1 2", "f32[3,2] 1 2 3 4 5 6", "f32[2] 7 8", "i64[3] 0 2 3"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .outputs = {"f32[2,2,2] 1 2 3 4 5 6 7 8"},
      },
      {
          .name = "two ragged dimensions",
          .inputs = {"i64[] -1", "i32[5] 1 2 3 4 5", "i32[] 0", "i64[4] 0 2 2 3", "i64[4] 0 1 3 5"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{2}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS", "ROW_SPLITS"}}},
          .outputs = {"i32[3,2,2] 1 0 2 3 0 0 0 0 4 5 0 0"},
      },
      {
          .name = "ids and splits",
          .inputs = {"i64[3] 3 2 1", "i32[5] 1 2 3 4 5", "i32[] 0", "i64[] 3", "i64[3] 0 0 2",
                     "i64[4] 0 1 3 5"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{3}},
                    {"row_partition_types",
                     std::vector<std::string>{"FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"}}},
          .outputs = {"i32[3,2,1] 1 2 0 0 4 0"},
      },
      {
          .name = "nothing",
          .inputs = {"i64[] -1", "i32[0]", "i32[] 0", "i64[1] 0"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .outputs = {"i32[0,0]"},
      },
      {
          .name = "a shape of another rank",
          .inputs = {"i64[1] 3", "i32[4] 1 2 3 4", "i32[] 9", "i64[4] 0 1 1 4"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .error = "rt_input.rank = 2 but shape.rank = 1",
      },
      {
          .name = "columns that are not the values'",
          .inputs = {"i64[3] 2 2 3", "f32[3,2] 1 2 3 4 5 6", "f32[] 7", "i64[3] 0 2 3"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .error = "rt_input.shape[2] = 2 but shape[2] = 3",
      },
      {
          .name = "a default of a rank too high",
          .inputs = {"i64[] -1", "i32[4] 1 2 3 4", "i32[1] 9", "i64[4] 0 1 1 4"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .error = "must be less than rt_input.flat_values.rank = 1",
      },
      {
          .name = "a default that does not fit",
          .inputs = {"i64[] -1", "f32[3,2] 1 2 3 4 5 6", "f32[3] 7", "i64[3] 0 2 3"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .error = "default_value.shape[-1] = 3",
      },
      {
          .name = "an id beyond the rows",
          .inputs = {"i64[] -1", "i32[2] 1 2", "i32[] 9", "i64[] 1", "i64[2] 0 1"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{2}},
                    {"row_partition_types",
                     std::vector<std::string>{"FIRST_DIM_SIZE", "VALUE_ROWIDS"}}},
          .error = "Got next_value_rowid=1 which is not less than 1",
      },
      {
          .name = "a negative id",
          .inputs = {"i64[] -1", "i32[2] 1 2", "i32[] 9", "i64[] 1", "i64[2] -1 0"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{2}},
                    {"row_partition_types",
                     std::vector<std::string>{"FIRST_DIM_SIZE", "VALUE_ROWIDS"}}},
          .error = "is not less than 1",
      },
      {
          .name = "splits that fall",
          .inputs = {"i64[] -1", "i32[3] 1 2 3", "i32[] 9", "i64[4] 0 3 2 3"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .error = "Invalid row split size.",
      },
      {
          .name = "more values named than there are",
          .inputs = {"i64[] -1", "i32[1] 1", "i32[] 9", "i64[2] 0 3"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .error = "values",
      },
      {
          .name = "no splits",
          .inputs = {"i64[] -1", "i32[1] 1", "i32[] 9", "i64[0]"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}},
          .error = "Invalid first partition input",
      },
      {
          .name = "types that none knows",
          .inputs = {"i64[] -1", "i32[1] 1", "i32[] 9", "i64[2] 0 1"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"ROWS"}}},
          .error = "Unknown string for partition info type: ROWS",
      },
      {
          .name = "ids first",
          .inputs = {"i64[] -1", "i32[1] 1", "i32[] 9", "i64[1] 0"},
          .attrs = {{"num_row_partition_tensors", std::int64_t{1}},
                    {"row_partition_types", std::vector<std::string>{"VALUE_ROWIDS"}}},
          .error = "VALUE_ROWIDS",
      },
  };
}

} // namespace
} // namespace troupe
