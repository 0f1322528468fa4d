// Diag, DiagPart.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Diag) {
  return {
      {.name = "a vector", .inputs = {"f32[2] 1 2"}, .outputs = {"f32[2,2] 1 0 0 2"}},
      {.name = "a matrix",
       .inputs = {"f32[2,2] 1 2 3 4"},
       .outputs = {"f32[2,2,2,2] 1 0 0 0 0 2 0 0 0 0 3 0 0 0 0 4"}},
      {.name = "int64", .inputs = {"i64[1] 1"}, .outputs = {"i64[1,1] 1"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (0,1) (2,0)"},
       .outputs = {"c128[2,2] (0,1) (0,0) (0,0) (2,0)"}},
      {.name = "half", .inputs = {"f16[2] 1 2"}, .outputs = {"f16[2,2] 1 0 0 2"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0,0]"}},
      {.name = "a scalar", .inputs = {"f32[] 1"}, .error = "rank"},
  };
}

TROUPE_OP_CASES(DiagPart) {
  return {
      {.name = "a matrix", .inputs = {"f32[2,2] 1 2 3 4"}, .outputs = {"f32[2] 1 4"}},
      {.name = "rank 4",
       .inputs = {"f32[2,2,2,2] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"},
       .outputs = {"f32[2,2] 0 5 10 15"}},
      {.name = "int32", .inputs = {"i32[2,2] 1 2 3 4"}, .outputs = {"i32[2] 1 4"}},
      {.name = "not square",
       .inputs = {"f32[3,4] 1 2 3 4 5 6 7 8 9 10 11 12"},
       .error = "Invalid shape [3,4]: dimensions 0 and 1 do not match."},
      {.name = "odd rank",
       .inputs = {"f32[2,2,2] 1 1 1 1 1 1 1 1"},
       .error = "should be                                          even and positive, got shape "
                "[2,2,2]"},
  };
}

} // namespace
} // namespace troupe
