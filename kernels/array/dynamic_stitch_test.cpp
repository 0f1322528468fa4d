// Cases of DynamicStitch and ParallelDynamicStitch; the values are TensorFlow's.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(DynamicStitch) {
  return {
      {.name = "indices of several ranks",
       .inputs = {"i32[] 6", "i32[2] 4 1", "i32[2,2] 5 2 0 3", "f32[2] 61 62",
                  "f32[2,2] 41 42 11 12", "f32[2,2,2] 51 52 21 22 1 2 31 32"},
       .outputs = {"f32[7,2] 1 2 11 12 21 22 31 32 41 42 51 52 61 62"}},
      {.name = "a row that nobody writes is zero",
       .inputs = {"i32[2] 0 2", "f32[2] 1 2"},
       .outputs = {"f32[3] 1 0 2"}},
      {.name = "the last one of several counts",
       .inputs = {"i32[2] 0 0", "i32[1] 0", "f32[2] 1 2", "f32[1] 3"},
       .outputs = {"f32[1] 3"},
       .check_gradient = false,
       .no_gradient_reason = "as in TensorFlow, a row that is written over has a gradient too"},
      {.name = "nothing", .inputs = {"i32[0]", "f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "rows without elements",
       .inputs = {"i32[2] 1 0", "f32[2,0]"},
       .outputs = {"f32[2,0]"}},
      {.name = "text",
       .inputs = {"i32[2] 1 0", "str[2] \"a\" \"longer than any small buffer holds\""},
       .outputs = {"str[2] \"longer than any small buffer holds\" \"a\""}},
      {.name = "dtype bool",
       .inputs = {"i32[2] 1 0", "bool[2] true false"},
       .outputs = {"bool[2] false true"}},
      {.name = "dtype c128", .inputs = {"i32[1] 0", "c128[1] (1,2)"}, .outputs = {"c128[1] (1,2)"}},
      {.name = "a negative index is refused",
       .inputs = {"i32[2] 0 -1", "f32[2] 1 2"},
       .error = "is out of range"},
      {.name = "data that do not begin as their indices are refused",
       .inputs = {"i32[2] 0 1", "f32[3] 1 2 3"},
       .error = "must be equal"},
      {.name = "rows of two shapes are refused",
       .inputs = {"i32[2] 0 1", "i32[1] 2", "f32[2] 1 2", "f32[1,1] 3"},
       .error = "Shapes must be equal rank"},
  };
}

TROUPE_OP_CASES(ParallelDynamicStitch) {
  return {
      {.name = "two pieces",
       .inputs = {"i32[2] 0 2", "i32[1] 1", "f32[2] 1 2", "f32[1] 3"},
       .outputs = {"f32[3] 1 3 2"}},
      {.name = "rows that nobody writes are zeros",
       .inputs = {"i32[2] 0 3", "i64[2] 1 2"},
       .outputs = {"i64[4] 1 0 0 2"}},
  };
}

} // namespace
} // namespace troupe
