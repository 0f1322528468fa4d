// Transpose, InvertPermutation.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Transpose) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 1", "i32[0]"}, .outputs = {"f32[] 1"}},
      {.name = "a vector", .inputs = {"f32[2] 1 2", "i32[1] 0"}, .outputs = {"f32[2] 1 2"}},
      {.name = "a matrix",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2] 1 0"},
       .outputs = {"f32[3,2] 1 4 2 5 3 6"}},
      {.name = "the identity",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2] 0 1"},
       .outputs = {"f32[2,3] 1 2 3 4 5 6"}},
      {.name = "rank three, turned round",
       .inputs = {"f32[2,1,3] 1 2 3 4 5 6", "i32[3] 2 0 1"},
       .outputs = {"f32[3,2,1] 1 4 2 5 3 6"}},
      {.name = "rank three, inner two",
       .inputs = {"f32[2,2,2] 1 2 3 4 5 6 7 8", "i64[3] 0 2 1"},
       .outputs = {"f32[2,2,2] 1 3 2 4 5 7 6 8"}},
      {.name = "NHWC to NCHW",
       .inputs = {"f32[1,2,2,3] 1 2 3 4 5 6 7 8 9 10 11 12", "i32[4] 0 3 1 2"},
       .outputs = {"f32[1,3,2,2] 1 4 7 10 2 5 8 11 3 6 9 12"}},
      {.name = "rank five",
       .inputs = {"f32[2,1,2,1,2] 1 2 3 4 5 6 7 8", "i32[5] 4 3 2 1 0"},
       .outputs = {"f32[2,1,2,1,2] 1 5 3 7 2 6 4 8"}},
      {.name = "from the end",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2] -1 0"},
       .outputs = {"f32[3,2] 1 4 2 5 3 6"},
       .check_gradient = false,
       .no_gradient_reason = "InvertPermutation takes no negative numbers"},
      {.name = "no elements", .inputs = {"f32[0,3]", "i32[2] 1 0"}, .outputs = {"f32[3,0]"}},
      {.name = "only ones move",
       .inputs = {"f32[2,1,2] 1 2 3 4", "i32[3] 1 0 2"},
       .outputs = {"f32[1,2,2] 1 2 3 4"}},
      {.name = "NaN passes",
       .inputs = {"f32[1,2] nan 1", "i32[2] 1 0"},
       .outputs = {"f32[2,1] nan 1"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "dtype f64",
       .inputs = {"f64[2,2] 1 2 3 4", "i32[2] 1 0"},
       .outputs = {"f64[2,2] 1 3 2 4"}},
      {.name = "dtype i32",
       .inputs = {"i32[2,2] 1 2 3 4", "i32[2] 1 0"},
       .outputs = {"i32[2,2] 1 3 2 4"}},
      {.name = "dtype i64",
       .inputs = {"i64[2,2] 1 2 3 4", "i32[2] 1 0"},
       .outputs = {"i64[2,2] 1 3 2 4"}},
      {.name = "dtype u8",
       .inputs = {"u8[2,2] 1 2 3 4", "i32[2] 1 0"},
       .outputs = {"u8[2,2] 1 3 2 4"}},
      {.name = "dtype i16",
       .inputs = {"i16[2,2] 1 2 3 4", "i32[2] 1 0"},
       .outputs = {"i16[2,2] 1 3 2 4"}},
      {.name = "dtype bool",
       .inputs = {"bool[2,2] true false true true", "i32[2] 1 0"},
       .outputs = {"bool[2,2] true true false true"}},
      {.name = "dtype str",
       .inputs = {"str[2,2] \"a\" \"b\" \"c\" \"d\"", "i32[2] 1 0"},
       .outputs = {"str[2,2] \"a\" \"c\" \"b\" \"d\""}},
      {.name = "out of range",
       .inputs = {"f32[2,3] 1", "i32[2] 0 2"},
       .error = "2 is out of range [0 .. 2)"},
      {.name = "twice the same",
       .inputs = {"f32[2,3] 1", "i32[2] 0 0"},
       .error = "1 is missing from {0,0}."},
      {.name = "too short",
       .inputs = {"f32[2,3] 1", "i32[1] 0"},
       .error = "transpose expects a vector of size 2. But input(1) is a vector of size 1"},
      {.name = "a matrix is no permutation",
       .inputs = {"f32[2,3] 1", "i32[1,2] 0 1"},
       .error = "perm must be rank 1, got shape [1,2]"},
  };
}

TROUPE_OP_CASES(ConjugateTranspose) {
  return {
      {.name = "complex numbers",
       .inputs = {"c64[1,2] (1,1) (2,-3)", "i32[2] 1 0"},
       .outputs = {"c64[2,1] (1,-1) (2,3)"}},
      {.name = "nothing moves",
       .inputs = {"c128[1,2] (1,1) (2,-3)", "i32[2] 0 1"},
       .outputs = {"c128[1,2] (1,-1) (2,3)"}},
      {.name = "numbers",
       .inputs = {"f32[2,2] 1 2 3 4", "i64[2] 1 0"},
       .outputs = {"f32[2,2] 1 3 2 4"}},
      {.name = "no permutation",
       .inputs = {"c64[1,1] (1,1)", "i32[2] 1 1"},
       .error = "0 is missing from {1,1}."},
  };
}

TROUPE_OP_CASES(InvertPermutation) {
  return {
      {.name = "empty", .inputs = {"i32[0]"}, .outputs = {"i32[0]"}},
      {.name = "three", .inputs = {"i32[3] 2 0 1"}, .outputs = {"i32[3] 1 2 0"}},
      {.name = "int64", .inputs = {"i64[4] 3 2 0 1"}, .outputs = {"i64[4] 2 3 1 0"}},
      {.name = "out of range", .inputs = {"i32[2] 0 2"}, .error = "2 is not between 0 and 2"},
      {.name = "twice the same",
       .inputs = {"i32[2] 0 0"},
       .error = "0 is duplicated in the input."},
      {.name = "a matrix",
       .inputs = {"i32[1,1] 0"},
       .error = "invert_permutation expects a 1D vector."},
  };
}

} // namespace
} // namespace troupe
