// GatherNd.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(GatherNd) {
  return {
      {.name = "elements",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2,2] 0 2 1 0"},
       .outputs = {"f32[2] 3 4"}},
      {.name = "rows",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[3,1] 1 0 1"},
       .outputs = {"f32[3,3] 4 5 6 1 2 3 4 5 6"}},
      {.name = "one index",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2] 1 1"},
       .outputs = {"f32[] 5"},
       .check_gradient = false,
       .no_gradient_reason = "ScatterNd takes no scalar for updates"},
      {.name = "everything", .inputs = {"f32[2] 1 2", "i32[2,0]"}, .outputs = {"f32[2,2] 1 2 1 2"}},
      {.name = "indices of higher rank",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2,2,1] 0 1 1 1"},
       .outputs = {"f32[2,2,3] 1 2 3 4 5 6 4 5 6 4 5 6"}},
      {.name = "nothing", .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[0,1]"}, .outputs = {"f32[0,3]"}},
      {.name = "rows of nothing",
       .inputs = {"f32[2,0]", "i32[1,1] 1"},
       .error = "Requested more than 0 entries, but params is empty.  Params shape: [2,0]"},
      {.name = "text",
       .inputs = {"str[2] \"a\" \"b\"", "i32[2,1] 1 0"},
       .outputs = {"str[2] \"b\" \"a\""}},
      {.name = "booleans",
       .inputs = {"bool[2] true false", "i32[1,1] 1"},
       .outputs = {"bool[1] false"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (1,2) (3,0)", "i32[1,1] 0"},
       .outputs = {"c128[1] (1,2)"}},
      {.name = "half", .inputs = {"f16[2] 1 2", "i32[1,1] 1"}, .outputs = {"f16[1] 2"}},
      {.name = "int16 indices",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i16[1,1] 1"},
       .outputs = {"f32[1,3] 4 5 6"},
       .check_gradient = false,
       .no_gradient_reason = "ScatterNd takes no int16 indices"},
      {.name = "an index outside",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[1,1] 7"},
       .error = "indices[0] = [7] does not index into param shape [2,3]"},
      {.name = "an index outside, deeper",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[1,2,1] 0 7"},
       .error = "indices[0,1] = [7] does not index into param shape [2,3]"},
      {.name = "two dimensions outside",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2,2] 0 0 1 5"},
       .error = "indices[1] = [1, 5] does not index into param shape [2,3]"},
      {.name = "one index outside",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[1] 7"},
       .error = "indices = [7] does not index into param shape [2,3]"},
      {.name = "an index below",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[1,1] -1"},
       .error = "indices[0] = [-1] does not index into param shape [2,3]"},
      {.name = "a scalar for indices",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[] 3"},
       .error = "indices must be at least a vector"},
      {.name = "too deep",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[1,3] 0 0 0"},
       .error = "index innermost dimension length must be <= params rank; saw: 3 vs. 2"},
      {.name = "rows of none",
       .inputs = {"f32[0,2]", "i32[1,1] 0"},
       .error = "Requested more than 0 entries, but params is empty.  Params shape: [0,2]"},
      {.name = "a scalar",
       .inputs = {"f32[] 1", "i32[1,1] 0"},
       .error = "params must be at least a vector"},
  };
}

} // namespace
} // namespace troupe
