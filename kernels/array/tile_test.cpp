// Tile, BroadcastTo.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Tile) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 7", "i32[0]"}, .outputs = {"f32[] 7"}},
      {.name = "a vector", .inputs = {"f32[2] 1 2", "i32[1] 3"}, .outputs = {"f32[6] 1 2 1 2 1 2"}},
      {.name = "both ways",
       .inputs = {"f32[2,2] 1 2 3 4", "i32[2] 2 3"},
       .outputs = {"f32[4,6] 1 2 1 2 1 2 3 4 3 4 3 4 1 2 1 2 1 2 3 4 3 4 3 4"}},
      {.name = "one row",
       .inputs = {"f32[1,3] 1 2 3", "i64[2] 2 1"},
       .outputs = {"f32[2,3] 1 2 3 1 2 3"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 1 2 3 4", "i32[4] 2 1 2 1"},
       .outputs = {"f32[2,2,2,2] 1 2 1 2 3 4 3 4 1 2 1 2 3 4 3 4"}},
      {.name = "once", .inputs = {"f32[2] 1 2", "i32[1] 1"}, .outputs = {"f32[2] 1 2"}},
      {.name = "zero times", .inputs = {"f32[2] 1 2", "i32[1] 0"}, .outputs = {"f32[0]"}},
      {.name = "no elements", .inputs = {"f32[0,2]", "i32[2] 2 2"}, .outputs = {"f32[0,4]"}},
      {.name = "one element", .inputs = {"f32[1] 5", "i32[1] 4"}, .outputs = {"f32[4] 5"}},
      {.name = "NaN",
       .inputs = {"f32[2] nan 1", "i32[1] 2"},
       .outputs = {"f32[4] nan 1 nan 1"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "dtype f64", .inputs = {"f64[2] 1 2", "i32[1] 2"}, .outputs = {"f64[4] 1 2 1 2"}},
      {.name = "dtype i32", .inputs = {"i32[2] 1 2", "i32[1] 2"}, .outputs = {"i32[4] 1 2 1 2"}},
      {.name = "dtype i64", .inputs = {"i64[2] 1 2", "i32[1] 2"}, .outputs = {"i64[4] 1 2 1 2"}},
      {.name = "dtype u8", .inputs = {"u8[2] 1 2", "i32[1] 2"}, .outputs = {"u8[4] 1 2 1 2"}},
      {.name = "dtype bool",
       .inputs = {"bool[2] false true", "i32[1] 2"},
       .outputs = {"bool[4] false true false true"}},
      {.name = "dtype str",
       .inputs = {"str[2] \"a\" \"b\"", "i32[1] 2"},
       .outputs = {"str[4] \"a\" \"b\" \"a\" \"b\""}},
      {.name = "too many multiples",
       .inputs = {"f32[2] 1 2", "i32[2] 1 2"},
       .error = "Expected multiples argument to be a vector of length 1 but got length 2"},
      {.name = "a negative multiple",
       .inputs = {"f32[2] 1 2", "i32[1] -1"},
       .error = "Expected multiples[0] >= 0, but got -1"},
      {.name = "a matrix of multiples",
       .inputs = {"f32[2] 1 2", "i32[1,1] 1"},
       .error = "Expected multiples to be 1-D, but got shape [1,1]"},
  };
}

TROUPE_OP_CASES(BroadcastTo) {
  return {
      {.name = "the same shape", .inputs = {"f32[2] 1 2", "i32[1] 2"}, .outputs = {"f32[2] 1 2"}},
      {.name = "a scalar", .inputs = {"f32[] 7", "i32[2] 2 3"}, .outputs = {"f32[2,3] 7"}},
      {.name = "a row",
       .inputs = {"f32[3] 1 2 3", "i32[2] 2 3"},
       .outputs = {"f32[2,3] 1 2 3 1 2 3"}},
      {.name = "a column",
       .inputs = {"f32[2,1] 1 2", "i64[2] 2 3"},
       .outputs = {"f32[2,3] 1 1 1 2 2 2"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 1 2 3 4", "i32[4] 2 2 2 2"},
       .outputs = {"f32[2,2,2,2] 1 2 1 2 3 4 3 4 1 2 1 2 3 4 3 4"}},
      {.name = "no elements", .inputs = {"f32[1,2] 1 2", "i32[2] 0 2"}, .outputs = {"f32[0,2]"}},
      {.name = "dtype f64",
       .inputs = {"f64[2] 1 2", "i32[2] 2 2"},
       .outputs = {"f64[2,2] 1 2 1 2"}},
      {.name = "dtype i32",
       .inputs = {"i32[2] 1 2", "i32[2] 2 2"},
       .outputs = {"i32[2,2] 1 2 1 2"}},
      {.name = "dtype i64",
       .inputs = {"i64[2] 1 2", "i32[2] 2 2"},
       .outputs = {"i64[2,2] 1 2 1 2"}},
      {.name = "dtype bool",
       .inputs = {"bool[2] false true", "i32[2] 2 2"},
       .outputs = {"bool[2,2] false true false true"}},
      {.name = "dtype str",
       .inputs = {"str[2] \"a\" \"b\"", "i32[2] 2 2"},
       .outputs = {"str[2,2] \"a\" \"b\" \"a\" \"b\""}},
      {.name = "a shape that does not fit",
       .inputs = {"f32[2] 1 2", "i32[1] 3"},
       .error = "Incompatible shapes: [2] vs. [3]"},
      {.name = "fewer dimensions",
       .inputs = {"f32[2,1] 1 2", "i32[1] 2"},
       .error = "Rank of input (2) must be no greater than rank of output shape (1)"},
  };
}

} // namespace
} // namespace troupe
