// DynamicPartition.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(DynamicPartition) {
  return {
      {.name = "a vector",
       .inputs = {"f32[4] 10 20 30 40", "i32[4] 0 0 1 1"},
       .attrs = {{"num_partitions", std::int64_t{2}}},
       .outputs = {"f32[2] 10 20", "f32[2] 30 40"}},
      {.name = "rows",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2] 1 0"},
       .attrs = {{"num_partitions", std::int64_t{3}}},
       .outputs = {"f32[1,3] 4 5 6", "f32[1,3] 1 2 3", "f32[0,3]"}},
      {.name = "a matrix of partitions",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2,3] 0 1 0 1 1 0"},
       .attrs = {{"num_partitions", std::int64_t{2}}},
       .outputs = {"f32[3] 1 3 6", "f32[3] 2 4 5"}},
      {.name = "text",
       .inputs = {"str[2] \"a\" \"b\"", "i32[2] 1 0"},
       .attrs = {{"num_partitions", std::int64_t{2}}},
       .outputs = {"str[1] \"b\"", "str[1] \"a\""}},
      {.name = "nothing",
       .inputs = {"f32[0,2]", "i32[0]"},
       .attrs = {{"num_partitions", std::int64_t{2}}},
       .outputs = {"f32[0,2]", "f32[0,2]"}},
      {.name = "one scalar",
       .inputs = {"f32[2] 1 2", "i32[] 0"},
       .attrs = {{"num_partitions", std::int64_t{2}}},
       .outputs = {"f32[1,2] 1 2", "f32[0,2]"}},
      {.name = "too high",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2] 0 5"},
       .attrs = {{"num_partitions", std::int64_t{2}}},
       .error = "partitions[1] = 5 is not in [0, 2)"},
      {.name = "negative",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2] 0 -1"},
       .attrs = {{"num_partitions", std::int64_t{2}}},
       .error = "partitions[1] = -1 is not in [0, 2)"},
      {.name = "a partition outside among rows of them",
       .inputs = {"f32[2,2] 1 2 3 4", "i32[2,2] 0 0 1 7"},
       .attrs = {{"num_partitions", std::int64_t{2}}},
       .error = "partitions[1,1] = 7 is not in [0, 2)"},
      {.name = "shapes differ",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[1] 0"},
       .attrs = {{"num_partitions", std::int64_t{2}}},
       .error = "data.shape must start with partitions.shape, got data.shape = [2,3], "
                "partitions.shape = [1]"},
  };
}

} // namespace
} // namespace troupe
