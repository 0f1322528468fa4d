// Cases of assignments to reference variables.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Assign) {
  return {
      {.name = "a first value",
       .inputs = {"uninit f32", "f32[2] 1 2"},
       .outputs = {"f32[2] 1 2"},
       .after = {{0, "f32[2] 1 2"}}},
      {.name = "another value",
       .inputs = {"var f32[2] 1 2", "f32[2] 3 4"},
       .outputs = {"f32[2] 3 4"},
       .after = {{0, "f32[2] 3 4"}}},
      {.name = "text",
       .inputs = {"uninit str", "str[1] \"a\""},
       .outputs = {"str[1] \"a\""},
       .after = {{0, "str[1] \"a\""}}},
      {.name = "a scalar",
       .inputs = {"var i64[] 1", "i64[] 2"},
       .outputs = {"i64[] 2"},
       .after = {{0, "i64[] 2"}}},
      {.name = "empty",
       .inputs = {"uninit f64", "f64[0,2]"},
       .outputs = {"f64[0,2]"},
       .after = {{0, "f64[0,2]"}}},
      {.name = "another shape, not validated",
       .inputs = {"var f32[2] 1 2", "f32[3] 3 4 5"},
       .attrs = {{"validate_shape", false}},
       .outputs = {"f32[3] 3 4 5"},
       .after = {{0, "f32[3] 3 4 5"}}},
      {.name = "another shape",
       .inputs = {"var f32[2] 1 2", "f32[3] 3 4 5"},
       .error = "Assign requires shapes of both tensors to match. lhs shape= [2] rhs shape= [3]"},
      {.name = "a value is no variable",
       .inputs = {"f32[2] 1 2", "f32[2] 3 4"},
       .error = "input 0 has dtype float, expected float_ref"},
  };
}

TROUPE_OP_CASES(AssignAdd) {
  return {
      {.name = "float",
       .inputs = {"var f32[3] 1 2 nan", "f32[3] 0.5 inf 1"},
       .outputs = {"f32[3] 1.5 inf nan"},
       .after = {{0, "f32[3] 1.5 inf nan"}}},
      {.name = "double",
       .inputs = {"var f64[] 1", "f64[] 0.25"},
       .outputs = {"f64[] 1.25"},
       .after = {{0, "f64[] 1.25"}}},
      {.name = "int32",
       .inputs = {"var i32[2] 1 2147483647", "i32[2] 1 1"},
       .outputs = {"i32[2] 2 -2147483648"},
       .after = {{0, "i32[2] 2 -2147483648"}}},
      {.name = "uint8",
       .inputs = {"var u8[1] 250", "u8[1] 10"},
       .outputs = {"u8[1] 4"},
       .after = {{0, "u8[1] 4"}}},
      {.name = "int64, rank 5",
       .inputs = {"var i64[1,1,1,2,1] 1 2", "i64[1,1,1,2,1] 3 4"},
       .outputs = {"i64[1,1,1,2,1] 4 6"},
       .after = {{0, "i64[1,1,1,2,1] 4 6"}}},
      {.name = "empty",
       .inputs = {"var f32[0]", "f32[0]"},
       .outputs = {"f32[0]"},
       .after = {{0, "f32[0]"}}},
      {.name = "more than one chunk",
       .inputs = {"var f32[300000] 1", "f32[300000] 2"},
       .outputs = {"f32[300000] 3"},
       .after = {{0, "f32[300000] 3"}}},
      {.name = "another shape",
       .inputs = {"var f32[2] 1 2", "f32[1] 1"},
       .error = "Parameters and update must be the same size"},
      {.name = "no value yet",
       .inputs = {"uninit f32", "f32[1] 1"},
       .error = "Attempting to use uninitialized value"},
      {.name = "bool has no sum",
       .inputs = {"var bool[1] true", "bool[1] true"},
       .error = "Value for attr 'T' of bool is not in the list of allowed values"},
  };
}

TROUPE_OP_CASES(AssignSub) {
  return {
      {.name = "float",
       .inputs = {"var f32[2] 1 2", "f32[2] 0.5 3"},
       .outputs = {"f32[2] 0.5 -1"},
       .after = {{0, "f32[2] 0.5 -1"}}},
      {.name = "int16",
       .inputs = {"var i16[1] 5", "i16[1] 7"},
       .outputs = {"i16[1] -2"},
       .after = {{0, "i16[1] -2"}}},
      {.name = "another shape",
       .inputs = {"var f32[2] 1 2", "f32[1] 1"},
       .error = "Parameters and update must be the same size"},
  };
}

TROUPE_OP_CASES(IsVariableInitialized) {
  return {
      {.name = "yes", .inputs = {"var f32[1] 1"}, .outputs = {"bool[] true"}},
      {.name = "no", .inputs = {"uninit str"}, .outputs = {"bool[] false"}},
  };
}

} // namespace
} // namespace troupe
