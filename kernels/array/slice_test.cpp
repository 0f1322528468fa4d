// Slice.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Slice) {
  return {
      {.name = "x[1:3]",
       .inputs = {"f32[4] 1 2 3 4", "i32[1] 1", "i32[1] 2"},
       .outputs = {"f32[2] 2 3"}},
      {.name = "the rest",
       .inputs = {"f32[4] 1 2 3 4", "i32[1] 1", "i32[1] -1"},
       .outputs = {"f32[3] 2 3 4"}},
      {.name = "whole",
       .inputs = {"f32[2,2] 1 2 3 4", "i32[2] 0 0", "i32[2] 2 2"},
       .outputs = {"f32[2,2] 1 2 3 4"}},
      {.name = "a block",
       .inputs = {"f32[3,4] 1 2 3 4 5 6 7 8 9 10 11 12", "i32[2] 1 1", "i32[2] 2 2"},
       .outputs = {"f32[2,2] 6 7 10 11"}},
      {.name = "rows",
       .inputs = {"f32[3,4] 1 2 3 4 5 6 7 8 9 10 11 12", "i64[2] 1 0", "i64[2] 2 4"},
       .outputs = {"f32[2,4] 5 6 7 8 9 10 11 12"}},
      {.name = "nothing",
       .inputs = {"f32[3,4] 1 2 3 4 5 6 7 8 9 10 11 12", "i32[2] 3 0", "i32[2] 0 4"},
       .outputs = {"f32[0,4]"}},
      {.name = "a scalar", .inputs = {"f32[] 1", "i32[0]", "i32[0]"}, .outputs = {"f32[] 1"}},
      {.name = "no elements",
       .inputs = {"f32[0,2]", "i32[2] 0 1", "i32[2] 0 1"},
       .outputs = {"f32[0,1]"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,2,2] 1 2 3 4 5 6 7 8", "i32[4] 0 1 0 1", "i32[4] 1 1 2 1"},
       .outputs = {"f32[1,1,2,1] 6 8"}},
      {.name = "long rows",
       .inputs = {"f32[3,300] 1", "i32[2] 1 0", "i32[2] 2 300"},
       .outputs = {"f32[2,300] 1"}},
      {.name = "dtype f64",
       .inputs = {"f64[3] 1 2 3", "i32[1] 1", "i32[1] 1"},
       .outputs = {"f64[1] 2"}},
      {.name = "dtype i32",
       .inputs = {"i32[3] 1 2 3", "i32[1] 1", "i32[1] 1"},
       .outputs = {"i32[1] 2"}},
      {.name = "dtype i64",
       .inputs = {"i64[3] 1 2 3", "i32[1] 1", "i32[1] 1"},
       .outputs = {"i64[1] 2"}},
      {.name = "dtype bool",
       .inputs = {"bool[2] true false", "i32[1] 1", "i32[1] 1"},
       .outputs = {"bool[1] false"}},
      {.name = "dtype str",
       .inputs = {"str[3] \"a\" \"b\" \"c\"", "i32[1] 1", "i32[1] 2"},
       .outputs = {"str[2] \"b\" \"c\""}},
      {.name = "NaN passes",
       .inputs = {"f32[2] nan 1", "i32[1] 0", "i32[1] 1"},
       .outputs = {"f32[1] nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "begins beyond the end",
       .inputs = {"f32[4] 1", "i32[1] 5", "i32[1] 1"},
       .error = "Expected begin[0] in [0, 4], but got 5"},
      {.name = "of nothing",
       .inputs = {"f32[0]", "i32[1] 0", "i32[1] 1"},
       .error =
           "Expected begin[0] == 0 (got 0) and size[0] == 0 (got 1) when input.dim_size(0) == 0"},
      {.name = "ends beyond the end",
       .inputs = {"f32[4] 1", "i32[1] 1", "i32[1] 4"},
       .error = "Expected size[0] in [0, 3], but got 4"},
      {.name = "a negative begin",
       .inputs = {"f32[4] 1", "i32[1] -1", "i32[1] 1"},
       .error = "Expected begin[0] in [0, 4], but got -1"},
      {.name = "a negative size",
       .inputs = {"f32[4] 1", "i32[1] 1", "i32[1] -2"},
       .error = "Expected size[0] in [0, 3], but got -2"},
      {.name = "too many numbers",
       .inputs = {"f32[4] 1", "i32[2] 1 2", "i32[2] 1 1"},
       .error = "Expected begin and size arguments to be 1-D tensors of size 1, but got shapes [2] "
                "and [2] instead."},
  };
}

} // namespace
} // namespace troupe
