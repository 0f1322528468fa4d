// Roll.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Roll) {
  return {
      {.name = "a vector",
       .inputs = {"f32[4] 1 2 3 4", "i32[] 1", "i32[] 0"},
       .outputs = {"f32[4] 4 1 2 3"}},
      {.name = "back",
       .inputs = {"f32[4] 1 2 3 4", "i32[] -5", "i64[] 0"},
       .outputs = {"f32[4] 2 3 4 1"}},
      {.name = "two axes",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2] 1 1", "i32[2] 0 1"},
       .outputs = {"f32[2,3] 6 4 5 3 1 2"}},
      {.name = "the first axis",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[1] 1", "i32[1] 0"},
       .outputs = {"f32[2,3] 4 5 6 1 2 3"}},
      {.name = "one axis twice",
       .inputs = {"f32[3] 1 2 3", "i32[2] 1 1", "i32[2] 0 0"},
       .outputs = {"f32[3] 2 3 1"}},
      {.name = "from the end",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[] 1", "i32[] -1"},
       .outputs = {"f32[2,3] 3 1 2 6 4 5"}},
      {.name = "text",
       .inputs = {"str[2] \"a\" \"b\"", "i32[] 1", "i32[] 0"},
       .outputs = {"str[2] \"b\" \"a\""}},
      {.name = "nothing", .inputs = {"f32[0]", "i32[] 1", "i32[] 0"}, .outputs = {"f32[0]"}},
      {.name = "rank 3",
       .inputs = {"f32[2,3,2] 0 1 2 3 4 5 6 7 8 9 10 11", "i32[2] 1 -1", "i32[2] 1 0"},
       .outputs = {"f32[2,3,2] 10 11 6 7 8 9 4 5 0 1 2 3"}},
      {.name = "a scalar", .inputs = {"f32[] 1", "i32[] 1", "i32[] 0"}, .error = "1"},
      {.name = "shift and axis differ",
       .inputs = {"f32[1] 1", "i32[1] 1", "i32[] 0"},
       .error = "shift and axis must have the same size"},
      {.name = "no such axis",
       .inputs = {"f32[2] 1 2", "i32[1] 1", "i32[1] 1"},
       .error = "axis 1 is out of range"},
  };
}

} // namespace
} // namespace troupe
