// EuclideanNorm.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(EuclideanNorm) {
  return {
      {.name = "a vector", .inputs = {"f32[2] 3 4", "i32[] 0"}, .outputs = {"f32[] 5"}},
      {.name = "rows", .inputs = {"f64[2,2] 3 4 6 8", "i32[1] 1"}, .outputs = {"f64[2] 5 10"}},
      {.name = "kept",
       .inputs = {"f32[2,2] 3 4 6 8", "i64[1] 1"},
       .attrs = {{"keep_dims", true}},
       .outputs = {"f32[2,1] 5 10"}},
      {.name = "everything",
       .inputs = {"f32[2,2] 3 4 6 8", "i32[2] 0 1"},
       .outputs = {"f32[] 11.1803398"}},
      {.name = "no axes", .inputs = {"f32[2] -3 4", "i32[0]"}, .outputs = {"f32[2] 3 4"}},
      {.name = "complex numbers",
       .inputs = {"c64[2] (3,4) (0,0)", "i32[] 0"},
       .outputs = {"c64[] (5,0)"}},
      {.name = "complex128",
       .inputs = {"c128[2] (3,4) (0,0)", "i32[] 0"},
       .outputs = {"c128[] (5,0)"}},
      {.name = "half", .inputs = {"f16[2] 3 4", "i32[] 0"}, .outputs = {"f16[] 5"}},
      {.name = "int32", .inputs = {"i32[2] 3 4", "i32[] 0"}, .outputs = {"i32[] 5"}},
      {.name = "uint8", .inputs = {"u8[2] 3 4", "i32[] 0"}, .outputs = {"u8[] 5"}},
      {.name = "nothing", .inputs = {"f32[0,2]", "i32[] 0"}, .outputs = {"f32[2] 0 0"}},
      {.name = "no such axis",
       .inputs = {"f32[1] 1", "i32[] 3"},
       .error = "Invalid reduction dimension"},
  };
}

} // namespace
} // namespace troupe
