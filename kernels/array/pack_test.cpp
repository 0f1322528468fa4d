// Pack, Unpack.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Pack) {
  return {
      {.name = "one scalar", .inputs = {"f32[] 1"}, .outputs = {"f32[1] 1"}},
      {.name = "scalars", .inputs = {"f32[] 1", "f32[] 2", "f32[] 3"}, .outputs = {"f32[3] 1 2 3"}},
      {.name = "rows", .inputs = {"f32[2] 1 2", "f32[2] 3 4"}, .outputs = {"f32[2,2] 1 2 3 4"}},
      {.name = "columns",
       .inputs = {"f32[2] 1 2", "f32[2] 3 4"},
       .attrs = {{"axis", std::int64_t{1}}},
       .outputs = {"f32[2,2] 1 3 2 4"}},
      {.name = "from the end",
       .inputs = {"f32[2] 1 2", "f32[2] 3 4"},
       .attrs = {{"axis", std::int64_t{-2}}},
       .outputs = {"f32[2,2] 1 2 3 4"}},
      {.name = "in the middle of matrices",
       .inputs = {"f32[2,2] 1 2 3 4", "f32[2,2] 5 6 7 8", "f32[2,2] 0"},
       .attrs = {{"axis", std::int64_t{1}}},
       .outputs = {"f32[2,3,2] 1 2 5 6 0 0 3 4 7 8 0 0"}},
      {.name = "no elements", .inputs = {"f32[0]", "f32[0]"}, .outputs = {"f32[2,0]"}},
      {.name = "NaN",
       .inputs = {"f32[] nan", "f32[] 1"},
       .outputs = {"f32[2] nan 1"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "dtype f64", .inputs = {"f64[] 1", "f64[] 2"}, .outputs = {"f64[2] 1 2"}},
      {.name = "dtype i32", .inputs = {"i32[] 1", "i32[] 2"}, .outputs = {"i32[2] 1 2"}},
      {.name = "dtype i64", .inputs = {"i64[] 1", "i64[] 2"}, .outputs = {"i64[2] 1 2"}},
      {.name = "dtype u8", .inputs = {"u8[] 1", "u8[] 2"}, .outputs = {"u8[2] 1 2"}},
      {.name = "dtype bool",
       .inputs = {"bool[] false", "bool[] true"},
       .outputs = {"bool[2] false true"}},
      {.name = "dtype str",
       .inputs = {"str[1] \"a\"", "str[1] \"b\""},
       .attrs = {{"axis", std::int64_t{1}}},
       .outputs = {"str[1,2] \"a\" \"b\""}},
      {.name = "two shapes",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"},
       .error = "Shapes of all inputs must match: values[0].shape = [2] != values[1].shape = [3]"},
      {.name = "an axis beyond the end",
       .inputs = {"f32[2] 1 2", "f32[2] 1 2"},
       .attrs = {{"axis", std::int64_t{3}}},
       .error = "axis = 3 not in [-2, 2)"},
  };
}

TROUPE_OP_CASES(Unpack) {
  return {
      {.name = "a vector",
       .inputs = {"f32[3] 1 2 3"},
       .attrs = {{"num", std::int64_t{3}}},
       .outputs = {"f32[] 1", "f32[] 2", "f32[] 3"}},
      {.name = "rows",
       .inputs = {"f32[2,3] 1 2 3 4 5 6"},
       .attrs = {{"num", std::int64_t{2}}},
       .outputs = {"f32[3] 1 2 3", "f32[3] 4 5 6"}},
      {.name = "columns",
       .inputs = {"f32[2,3] 1 2 3 4 5 6"},
       .attrs = {{"num", std::int64_t{3}}, {"axis", std::int64_t{1}}},
       .outputs = {"f32[2] 1 4", "f32[2] 2 5", "f32[2] 3 6"}},
      {.name = "from the end",
       .inputs = {"f32[2,3] 1 2 3 4 5 6"},
       .attrs = {{"num", std::int64_t{2}}, {"axis", std::int64_t{-2}}},
       .outputs = {"f32[3] 1 2 3", "f32[3] 4 5 6"}},
      {.name = "the middle of rank three",
       .inputs = {"f32[2,2,2] 1 2 3 4 5 6 7 8"},
       .attrs = {{"num", std::int64_t{2}}, {"axis", std::int64_t{1}}},
       .outputs = {"f32[2,2] 1 2 5 6", "f32[2,2] 3 4 7 8"}},
      {.name = "none", .inputs = {"f32[0,2]"}, .attrs = {{"num", std::int64_t{0}}}, .outputs = {}},
      {.name = "no elements",
       .inputs = {"f32[2,0]"},
       .attrs = {{"num", std::int64_t{2}}},
       .outputs = {"f32[0]", "f32[0]"}},
      {.name = "dtype i64",
       .inputs = {"i64[2] 1 2"},
       .attrs = {{"num", std::int64_t{2}}},
       .outputs = {"i64[] 1", "i64[] 2"}},
      {.name = "dtype str",
       .inputs = {"str[2] \"a\" \"b\""},
       .attrs = {{"num", std::int64_t{2}}},
       .outputs = {"str[] \"a\"", "str[] \"b\""}},
      {.name = "long rows",
       .inputs = {"f32[2,300] 1"},
       .attrs = {{"num", std::int64_t{2}}},
       .outputs = {"f32[300] 1", "f32[300] 1"}},
      {.name = "another number",
       .inputs = {"f32[2,3] 1"},
       .attrs = {{"num", std::int64_t{3}}},
       .error = "Input shape axis 0 must equal 3, got shape [2,3]"},
      {.name = "a scalar",
       .inputs = {"f32[] 1"},
       .attrs = {{"num", std::int64_t{1}}},
       .error = "axis = 0 not in [0, 0)"},
  };
}

} // namespace
} // namespace troupe
