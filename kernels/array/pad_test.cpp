// Pad, PadV2.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Pad) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 1", "i32[0,2]"}, .outputs = {"f32[] 1"}},
      {.name = "a vector",
       .inputs = {"f32[2] 1 2", "i32[1,2] 1 2"},
       .outputs = {"f32[5] 0 1 2 0 0"}},
      {.name = "a matrix",
       .inputs = {"f32[2,2] 1 2 3 4", "i32[2,2] 1 0 0 2"},
       .outputs = {"f32[3,4] 0 0 0 0 1 2 0 0 3 4 0 0"}},
      {.name = "a column, on both sides",
       .inputs = {"f32[3,1] 1 2 3", "i32[2,2] 1 0 1 2"},
       .outputs = {"f32[4,4] 0 0 0 0 0 1 0 0 0 2 0 0 0 3 0 0"}},
      {.name = "of 16 bytes",
       .inputs = {"c128[2] (1,2) (3,4)", "i32[1,2] 1 1"},
       .outputs = {"c128[4] (0,0) (1,2) (3,4) (0,0)"}},
      {.name = "of text",
       .inputs = {"str[2] \"a\" \"b\"", "i32[1,2] 1 1"},
       .outputs = {"str[4] \"\" \"a\" \"b\" \"\""}},
      {.name = "nothing", .inputs = {"f32[2] 1 2", "i32[1,2] 0 0"}, .outputs = {"f32[2] 1 2"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 1 2 3 4", "i64[4,2] 0 0 1 0 0 1 1 1"},
       .outputs = {"f32[1,3,2,4] 0 0 0 0 0 0 0 0 0 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0"}},
      {.name = "round nothing", .inputs = {"f32[0]", "i32[1,2] 1 1"}, .outputs = {"f32[2] 0"}},
      {.name = "NaN passes",
       .inputs = {"f32[1] nan", "i32[1,2] 1 1"},
       .outputs = {"f32[3] 0 nan 0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "dtype f64",
       .inputs = {"f64[2] 1 2", "i32[1,2] 1 1"},
       .outputs = {"f64[4] 0 1 2 0"}},
      {.name = "dtype i32",
       .inputs = {"i32[2] 1 2", "i32[1,2] 1 1"},
       .outputs = {"i32[4] 0 1 2 0"}},
      {.name = "dtype i64",
       .inputs = {"i64[2] 1 2", "i32[1,2] 1 1"},
       .outputs = {"i64[4] 0 1 2 0"}},
      {.name = "dtype u8", .inputs = {"u8[2] 1 2", "i32[1,2] 1 1"}, .outputs = {"u8[4] 0 1 2 0"}},
      {.name = "dtype bool",
       .inputs = {"bool[1] true", "i32[1,2] 1 1"},
       .outputs = {"bool[3] false true false"}},
      {.name = "a negative padding",
       .inputs = {"f32[2] 1 2", "i32[1,2] -1 0"},
       .error = "Paddings must be non-negative: -1 0"},
      {.name = "another rank",
       .inputs = {"f32[2] 1 2", "i32[2,2] 1 0 1 1"},
       .error = "The first dimension of paddings must be the rank of inputs[2,2] [2]"},
      {.name = "a vector of paddings",
       .inputs = {"f32[2] 1 2", "i32[2] 1 0"},
       .error = "paddings must be a matrix with 2 columns: [2]"},
      {.name = "three columns",
       .inputs = {"f32[2] 1 2", "i32[1,3] 1 0 1"},
       .error = "paddings must be a matrix with 2 columns: [1,3]"},
  };
}

TROUPE_OP_CASES(PadV2) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 1", "i32[0,2]", "f32[] 9"}, .outputs = {"f32[] 1"}},
      {.name = "a vector",
       .inputs = {"f32[2] 1 2", "i32[1,2] 1 2", "f32[] 9"},
       .outputs = {"f32[5] 9 1 2 9 9"},
       .gradient_inputs = {0}},
      {.name = "a matrix",
       .inputs = {"f32[2,2] 1 2 3 4", "i32[2,2] 1 0 0 2", "f32[] -inf"},
       .outputs = {"f32[3,4] -inf -inf -inf -inf 1 2 -inf -inf 3 4 -inf -inf"},
       .check_gradient = false,
       .no_gradient_reason = "infinities have no difference quotient"},
      {.name = "dtype i32",
       .inputs = {"i32[2] 1 2", "i32[1,2] 1 1", "i32[] 9"},
       .outputs = {"i32[4] 9 1 2 9"}},
      {.name = "dtype str",
       .inputs = {"str[1] \"a\"", "i32[1,2] 1 1", "str[] \"b\""},
       .outputs = {"str[3] \"b\" \"a\" \"b\""}},
      {.name = "a vector is no value",
       .inputs = {"f32[2] 1 2", "i32[1,2] 1 0", "f32[2] 1 2"},
       .error = "constant_values must be a scalar. Found: [2]"},
  };
}

} // namespace
} // namespace troupe
