// Fill, ZerosLike, OnesLike.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Fill) {
  return {
      {.name = "a value of shape [1]", .inputs = {"i32[1] 2", "i32[1] 7"}, .outputs = {"i32[2] 7"}},
      {.name = "a scalar", .inputs = {"i32[0]", "f32[] 7"}, .outputs = {"f32[] 7"}},
      {.name = "a vector", .inputs = {"i32[1] 3", "f32[] 7"}, .outputs = {"f32[3] 7"}},
      {.name = "rank four",
       .inputs = {"i32[4] 1 2 1 2", "f32[] -1.5"},
       .outputs = {"f32[1,2,1,2] -1.5"}},
      {.name = "no elements", .inputs = {"i32[2] 2 0", "f32[] 7"}, .outputs = {"f32[2,0]"}},
      {.name = "NaN",
       .inputs = {"i32[1] 2", "f32[] nan"},
       .outputs = {"f32[2] nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "int64 dimensions", .inputs = {"i64[2] 2 1", "f64[] 7"}, .outputs = {"f64[2,1] 7"}},
      {.name = "dtype i32", .inputs = {"i32[1] 3", "i32[] 7"}, .outputs = {"i32[3] 7"}},
      {.name = "dtype i64", .inputs = {"i32[1] 3", "i64[] 7"}, .outputs = {"i64[3] 7"}},
      {.name = "dtype u8", .inputs = {"i32[1] 3", "u8[] 7"}, .outputs = {"u8[3] 7"}},
      {.name = "dtype bool", .inputs = {"i32[1] 3", "bool[] true"}, .outputs = {"bool[3] true"}},
      {.name = "dtype str", .inputs = {"i32[1] 2", "str[] \"ab\""}, .outputs = {"str[2] \"ab\""}},
      {.name = "a negative dimension",
       .inputs = {"i32[1] -1", "f32[] 1"},
       .error = "Dimension -1 must be >= 0"},
      {.name = "a matrix is no shape",
       .inputs = {"i32[1,1] 1", "f32[] 1"},
       .error = "dims must represent a vector, got shape [1,1]"},
      {.name = "a vector is no value",
       .inputs = {"i32[1] 2", "f32[2] 1 2"},
       .error = "value must represent a scalar, got shape [2]"},
  };
}

TROUPE_OP_CASES(Empty) {
  return {
      {.name = "zeros where they are asked for",
       .inputs = {"i32[2] 2 2"},
       .attrs = {{"dtype", DType::float32}, {"init", true}},
       .outputs = {"f32[2,2] 0"}},
      {.name = "and where they are not",
       .inputs = {"i32[1] 1"},
       .attrs = {{"dtype", DType::string}},
       .outputs = {"str[1] \"\""}},
      {.name = "no elements",
       .inputs = {"i32[2] 0 3"},
       .attrs = {{"dtype", DType::complex64}},
       .outputs = {"c64[0,3]"}},
      {.name = "a scalar",
       .inputs = {"i32[0]"},
       .attrs = {{"dtype", DType::int8}},
       .outputs = {"i8[] 0"}},
      {.name = "a negative size",
       .inputs = {"i32[2] -2 2"},
       .attrs = {{"dtype", DType::float32}},
       .error = "must be >= 0"},
      {.name = "a matrix for the shape",
       .inputs = {"i32[1,2] 2 2"},
       .attrs = {{"dtype", DType::float32}},
       .error = "rank 2"},
  };
}

TROUPE_OP_CASES(ZerosLike) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 7"}, .outputs = {"f32[] 0"}},
      {.name = "a matrix", .inputs = {"f32[2,2] 1 nan inf 4"}, .outputs = {"f32[2,2] 0"}},
      {.name = "no elements", .inputs = {"f32[0,2]"}, .outputs = {"f32[0,2]"}},
      {.name = "dtype f64", .inputs = {"f64[2] 1 2"}, .outputs = {"f64[2] 0"}},
      {.name = "dtype i32", .inputs = {"i32[2] 1 2"}, .outputs = {"i32[2] 0"}},
      {.name = "dtype i64", .inputs = {"i64[2] 1 2"}, .outputs = {"i64[2] 0"}},
      {.name = "dtype u8", .inputs = {"u8[2] 1 2"}, .outputs = {"u8[2] 0"}},
      {.name = "dtype bool", .inputs = {"bool[2] true true"}, .outputs = {"bool[2] false"}},
      {.name = "dtype str", .inputs = {"str[2] \"a\" \"b\""}, .outputs = {"str[2] \"\""}},
  };
}

TROUPE_OP_CASES(OnesLike) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 7"}, .outputs = {"f32[] 1"}},
      {.name = "a matrix", .inputs = {"f32[2,2] 1 nan inf 4"}, .outputs = {"f32[2,2] 1"}},
      {.name = "no elements", .inputs = {"f32[0,2]"}, .outputs = {"f32[0,2]"}},
      {.name = "dtype f64", .inputs = {"f64[2] 1 2"}, .outputs = {"f64[2] 1"}},
      {.name = "dtype i32", .inputs = {"i32[2] 1 2"}, .outputs = {"i32[2] 1"}},
      {.name = "dtype i64", .inputs = {"i64[2] 1 2"}, .outputs = {"i64[2] 1"}},
      {.name = "dtype u8", .inputs = {"u8[2] 1 2"}, .outputs = {"u8[2] 1"}},
      {.name = "dtype f16", .inputs = {"f16[2] 1 2"}, .outputs = {"f16[2] 1"}},
      {.name = "dtype bf16", .inputs = {"bf16[2] 1 2"}, .outputs = {"bf16[2] 1"}},
      {.name = "dtype bool", .inputs = {"bool[2] false true"}, .outputs = {"bool[2] true"}},
  };
}

} // namespace
} // namespace troupe
