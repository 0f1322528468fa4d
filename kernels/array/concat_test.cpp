// ConcatV2, Concat, ConcatOffset.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ConcatV2) {
  return {
      {.name = "vectors",
       .inputs = {"f32[2] 1 2", "f32[3] 3 4 5", "i32[] 0"},
       .outputs = {"f32[5] 1 2 3 4 5"}},
      {.name = "rows",
       .inputs = {"f32[1,2] 1 2", "f32[2,2] 3 4 5 6", "i32[] 0"},
       .outputs = {"f32[3,2] 1 2 3 4 5 6"}},
      {.name = "columns",
       .inputs = {"f32[2,1] 1 2", "f32[2,2] 3 4 5 6", "f32[2,1] 7 8", "i32[] 1"},
       .outputs = {"f32[2,4] 1 3 4 7 2 5 6 8"}},
      {.name = "from the end",
       .inputs = {"f32[2,1] 1 2", "f32[2,2] 3 4 5 6", "i64[] -1"},
       .outputs = {"f32[2,3] 1 3 4 2 5 6"}},
      {.name = "the middle of rank three",
       .inputs = {"f32[2,1,2] 1 2 3 4", "f32[2,2,2] 5 6 7 8 9 10 11 12", "i32[] 1"},
       .outputs = {"f32[2,3,2] 1 2 5 6 7 8 3 4 9 10 11 12"}},
      {.name = "rank five",
       .inputs = {"f32[1,1,2,1,1] 1 2", "f32[1,1,2,1,2] 3 4 5 6", "i32[] 4"},
       .outputs = {"f32[1,1,2,1,3] 1 3 4 2 5 6"}},
      {.name = "one of them empty",
       .inputs = {"f32[0,2]", "f32[1,2] 1 2", "i32[] 0"},
       .outputs = {"f32[1,2] 1 2"}},
      {.name = "no elements",
       .inputs = {"f32[0,2]", "f32[0,3]", "i32[] 1"},
       .outputs = {"f32[0,5]"}},
      {.name = "NaN passes",
       .inputs = {"f32[1] nan", "f32[1] 1", "i32[] 0"},
       .outputs = {"f32[2] nan 1"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "dtype f64",
       .inputs = {"f64[1] 1", "f64[2] 2 3", "i32[] 0"},
       .outputs = {"f64[3] 1 2 3"}},
      {.name = "dtype i32",
       .inputs = {"i32[1] 1", "i32[2] 2 3", "i32[] 0"},
       .outputs = {"i32[3] 1 2 3"}},
      {.name = "dtype i64",
       .inputs = {"i64[1] 1", "i64[2] 2 3", "i32[] 0"},
       .outputs = {"i64[3] 1 2 3"}},
      {.name = "dtype u8",
       .inputs = {"u8[1] 1", "u8[2] 2 3", "i32[] 0"},
       .outputs = {"u8[3] 1 2 3"}},
      {.name = "dtype bool",
       .inputs = {"bool[1] true", "bool[1] false", "i32[] 0"},
       .outputs = {"bool[2] true false"}},
      {.name = "dtype str",
       .inputs = {"str[1] \"a\"", "str[2] \"b\" \"c\"", "i32[] 0"},
       .outputs = {"str[3] \"a\" \"b\" \"c\""}},
      {.name = "another dimension differs",
       .inputs = {"f32[2,3] 1", "f32[3,3] 1", "i32[] 1"},
       .error = "ConcatOp : Dimension 0 in both shapes must be equal: shape[0] = [2,3] vs. "
                "shape[1] = [3,3]"},
      {.name = "two ranks",
       .inputs = {"f32[2,3] 1", "f32[3] 1", "i32[] 1"},
       .error = "ConcatOp : Ranks of all input tensors should match: shape[0] = [2,3] vs. shape[1] "
                "= [3]"},
      {.name = "an axis beyond the end",
       .inputs = {"f32[2,3] 1", "f32[2,3] 1", "i32[] 2"},
       .error = "ConcatOp : Expected concatenating dimensions in the range [-2, 2), but got 2"},
      {.name = "scalars",
       .inputs = {"f32[] 1", "f32[] 1", "i32[] 0"},
       .error = "ConcatOp : Can't concatenate scalars"},
  };
}

TROUPE_OP_CASES(Concat) {
  return {
      {.name = "columns",
       .inputs = {"i32[] 1", "f32[2,1] 1 2", "f32[2,2] 3 4 5 6"},
       .outputs = {"f32[2,3] 1 3 4 2 5 6"}},
      {.name = "dtype i64",
       .inputs = {"i32[] 0", "i64[1] 1", "i64[2] 2 3"},
       .outputs = {"i64[3] 1 2 3"}},
      {.name = "no elements", .inputs = {"i32[] 0", "f32[0]", "f32[0]"}, .outputs = {"f32[0]"}},
  };
}

TROUPE_OP_CASES(ConcatOffset) {
  return {
      {.name = "vectors",
       .inputs = {"i32[] 0", "i32[1] 2", "i32[1] 3", "i32[1] 4"},
       .outputs = {"i32[1] 0", "i32[1] 2", "i32[1] 5"}},
      {.name = "columns",
       .inputs = {"i32[] 1", "i32[2] 2 3", "i32[2] 2 4"},
       .outputs = {"i32[2] 0", "i32[2] 0 3"}},
      {.name = "from the end",
       .inputs = {"i32[] -1", "i32[2] 2 3", "i32[2] 2 4"},
       .outputs = {"i32[2] 0", "i32[2] 0 3"}},
      {.name = "int64",
       .inputs = {"i32[] 0", "i64[2] 2 3", "i64[2] 5 3"},
       .outputs = {"i64[2] 0", "i64[2] 2 0"}},
      {.name = "another dimension differs",
       .inputs = {"i32[] 1", "i32[2] 2 3", "i32[2] 3 4"},
       .error = "All dimensions except 1 must match. Input 1 has shape [3 4] and doesn't match "
                "input 0 with shape [2 3]."},
      {.name = "a scalar",
       .inputs = {"i32[] 0", "i32[1] 2", "i32[] 4"},
       .error = "input 2 should be a vector, but got shape []"},
      {.name = "out of range",
       .inputs = {"i32[] 2", "i32[2] 2 3", "i32[2] 3 4"},
       .error = "Concat dim is out of range: 2 vs. 2"},
      {.name = "two lengths",
       .inputs = {"i32[] 0", "i32[2] 2 3", "i32[1] 2"},
       .error = "input 1 should contain 2 elements, but got 1"},
  };
}

} // namespace
} // namespace troupe
