// Range, LinSpace.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Range) {
  return {
      {.name = "steps whose multiples are beyond the dtype",
       .inputs = {"i32[] -2147483648", "i32[] 2147483647", "i32[] 1431655765"},
       .outputs = {"i32[3] -2147483648 -715827883 715827882"}},
      {.name = "up", .inputs = {"i32[] 0", "i32[] 5", "i32[] 1"}, .outputs = {"i32[5] 0 1 2 3 4"}},
      {.name = "in steps",
       .inputs = {"i32[] 1", "i32[] 8", "i32[] 3"},
       .outputs = {"i32[3] 1 4 7"}},
      {.name = "down", .inputs = {"i32[] 5", "i32[] 0", "i32[] -2"}, .outputs = {"i32[3] 5 3 1"}},
      {.name = "empty", .inputs = {"i32[] 3", "i32[] 3", "i32[] 1"}, .outputs = {"i32[0]"}},
      {.name = "int64",
       .inputs = {"i64[] 10000000000", "i64[] 10000000003", "i64[] 1"},
       .outputs = {"i64[3] 10000000000 10000000001 10000000002"}},
      {.name = "floats",
       .inputs = {"f32[] 0", "f32[] 1", "f32[] 0.25"},
       .outputs = {"f32[4] 0 0.25 0.5 0.75"}},
      {.name = "floats whose quotient is a whole number in their own type alone",
       .inputs = {"f32[] 0", "f32[] 0.3", "f32[] 0.1"},
       .outputs = {"f32[3] 0 0.1 0.2"}},
      {.name = "floats that do not end at the limit",
       .inputs = {"f32[] 0", "f32[] 1", "f32[] 0.375"},
       .outputs = {"f32[3] 0 0.375 0.75"}},
      {.name = "doubles, down",
       .inputs = {"f64[] 1", "f64[] -1", "f64[] -0.5"},
       .outputs = {"f64[4] 1 0.5 0 -0.5"}},
      {.name = "the whole width of int32",
       .inputs = {"i32[] -2147483648", "i32[] 2147483647", "i32[] 2147483647"},
       .outputs = {"i32[3] -2147483648 -1 2147483646"}},
      {.name = "a step of zero",
       .inputs = {"i32[] 0", "i32[] 5", "i32[] 0"},
       .error = "Requires delta != 0"},
      {.name = "the wrong way up",
       .inputs = {"i32[] 5", "i32[] 0", "i32[] 1"},
       .error = "Requires start <= limit when delta > 0: 5/0"},
      {.name = "the wrong way down",
       .inputs = {"i32[] 0", "i32[] 5", "i32[] -1"},
       .error = "Requires start >= limit when delta < 0: 0/5"},
  };
}

TROUPE_OP_CASES(LinSpace) {
  return {
      {.name = "an infinite end",
       .inputs = {"f32[] inf", "f32[] 0", "i32[] 3"},
       .outputs = {"f32[3] inf nan 0"}},
      {.name = "ends far apart",
       .inputs = {"f32[] -3e38", "f32[] 3e38", "i32[] 3"},
       .outputs = {"f32[3] -3e38 inf 3e38"}},
      {.name = "three", .inputs = {"f32[] 0", "f32[] 1", "i32[] 3"}, .outputs = {"f32[3] 0 0.5 1"}},
      {.name = "one", .inputs = {"f32[] 2", "f32[] 9", "i32[] 1"}, .outputs = {"f32[1] 2"}},
      {.name = "down, doubles",
       .inputs = {"f64[] 1", "f64[] -1", "i64[] 5"},
       .outputs = {"f64[5] 1 0.5 0 -0.5 -1"}},
      {.name = "none", .inputs = {"f32[] 0", "f32[] 1", "i32[] 0"}, .error = "Requires num > 0: 0"},
  };
}

} // namespace
} // namespace troupe
