// Cases of ResourceGather.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ResourceGather) {
  const std::vector<std::pair<std::string, AttrValue>> floats = {{"dtype", DType::float32}};
  return {
      {.name = "no such row, of rows without elements",
       .inputs = {"res f32[2,0]", "i32[1] 2"},
       .attrs = floats,
       .error = "indices[0] = 2 is not in [0, 2)"},
      {.name = "rows of text",
       .inputs = {"res str[3,2] \"a\" \"b\" \"c\" \"d\" \"e\" \"f\"", "i32[2] 2 0"},
       .attrs = {{"dtype", DType::string}},
       .outputs = {"str[2,2] \"e\" \"f\" \"a\" \"b\""},
       .after = {{0, "str[3,2] \"a\" \"b\" \"c\" \"d\" \"e\" \"f\""}}},
      {.name = "rows",
       .inputs = {"res f32[3,2] 1 2 3 4 5 6", "i32[2] 2 0"},
       .attrs = floats,
       .outputs = {"f32[2,2] 5 6 1 2"},
       .after = {{0, "f32[3,2] 1 2 3 4 5 6"}}},
      {.name = "one row",
       .inputs = {"res f32[3,2] 1 2 3 4 5 6", "i64[] 1"},
       .attrs = floats,
       .outputs = {"f32[2] 3 4"}},
      {.name = "a matrix of indices, some twice",
       .inputs = {"res f32[3] 1 nan inf", "i32[2,2] 2 0 0 1"},
       .attrs = floats,
       .outputs = {"f32[2,2] inf 1 1 nan"}},
      {.name = "high rank",
       .inputs = {"res i64[2,1,1,2] 1 2 3 4", "i32[1] 1"},
       .attrs = {{"dtype", DType::int64}},
       .outputs = {"i64[1,1,1,2] 3 4"}},
      {.name = "batch dimensions",
       .inputs = {"res f32[2,3] 1 2 3 4 5 6", "i32[2,1] 2 0"},
       .attrs = {{"dtype", DType::float32}, {"batch_dims", std::int64_t{1}}},
       .outputs = {"f32[2,1] 3 4"}},
      {.name = "nothing",
       .inputs = {"res f32[3,2] 0", "i32[0]"},
       .attrs = floats,
       .outputs = {"f32[0,2]"}},
      {.name = "dtype f64",
       .inputs = {"res f64[2] 1 2", "i32[1] 1"},
       .attrs = {{"dtype", DType::float64}},
       .outputs = {"f64[1] 2"}},
      {.name = "dtype bool",
       .inputs = {"res bool[2] true false", "i32[1] 1"},
       .attrs = {{"dtype", DType::bool_}},
       .outputs = {"bool[1] false"}},
      {.name = "an index outside",
       .inputs = {"res f32[3] 0", "i32[2,1] 0 3"},
       .attrs = floats,
       .error = "indices[1,0] = 3 is not in [0, 3)"},
      {.name = "a scalar variable",
       .inputs = {"res f32[] 0", "i32[1] 0"},
       .attrs = floats,
       .error = "params must be at least 1 dimensional"},
      {.name = "not assigned",
       .inputs = {"res uninit f32", "i32[1] 0"},
       .attrs = floats,
       .error = "Container localhost does not exist. (Could not find resource: localhost/input_0)"},
      {.name = "another dtype",
       .inputs = {"res f32[1] 0", "i32[1] 0"},
       .attrs = {{"dtype", DType::int32}},
       .error = "Trying to gather from variable with wrong dtype. Expected int32 got float"},
      {.name = "too many batch dimensions",
       .inputs = {"res f32[1] 0", "i32[1] 0"},
       .attrs = {{"dtype", DType::float32}, {"batch_dims", std::int64_t{1}}},
       .error = "batch_dims = 1 must be from 0 to the rank of indices (1)"},
  };
}

} // namespace
} // namespace troupe
