// ArgMax, ArgMin.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ArgMax) {
  return {
      {.name = "NaN before others",
       .inputs = {"f32[3] nan 1 2", "i32[] 0"},
       .outputs = {"i64[] 2"}},
      {.name = "NaN alone", .inputs = {"f32[2] nan nan", "i32[] 0"}, .outputs = {"i64[] 0"}},
      {.name = "NaN before others in columns",
       .inputs = {"f32[3,2] nan 5 1 nan 2 6", "i32[] 0"},
       .outputs = {"i64[2] 2 2"}},
      {.name = "a vector", .inputs = {"f32[4] 1 4 -2 3", "i32[] 0"}, .outputs = {"i64[] 1"}},
      {.name = "rows", .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i32[] 1"}, .outputs = {"i64[2] 1 2"}},
      {.name = "columns",
       .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i32[] 0"},
       .outputs = {"i64[3] 1 0 1"}},
      {.name = "from the end, as int32",
       .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i64[] -1"},
       .attrs = {{"output_type", DType::int32}},
       .outputs = {"i32[2] 1 2"}},
      {.name = "the first of equals",
       .inputs = {"f32[4] 2 3 3 2", "i32[] 0"},
       .outputs = {"i64[] 1"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,2,2] 1 2 3 4 -5 6 7 8", "i32[] 2"},
       .outputs = {"i64[1,2,2] 1"}},
      {.name = "infinities", .inputs = {"f32[3] inf -inf 1", "i32[] 0"}, .outputs = {"i64[] 0"}},
      {.name = "NaN between others",
       .inputs = {"f32[3] 1 nan 3", "i32[] 0"},
       .outputs = {"i64[] 2"}},
      {.name = "no outputs", .inputs = {"f32[0,2]", "i32[] 1"}, .outputs = {"i64[0]"}},
      {.name = "dtype f64", .inputs = {"f64[3] 5 9 2", "i32[] 0"}, .outputs = {"i64[] 1"}},
      {.name = "dtype i32", .inputs = {"i32[3] 5 9 2", "i32[] 0"}, .outputs = {"i64[] 1"}},
      {.name = "dtype i64", .inputs = {"i64[3] 5 9 2", "i32[] 0"}, .outputs = {"i64[] 1"}},
      {.name = "dtype u8", .inputs = {"u8[3] 5 9 2", "i32[] 0"}, .outputs = {"i64[] 1"}},
      {.name = "dtype bool",
       .inputs = {"bool[3] false true false", "i32[] 0"},
       .outputs = {"i64[] 1"}},
      {.name = "an axis beyond the end",
       .inputs = {"f32[2,3] 1", "i32[] 2"},
       .error = "Expected dimension in the range [-2, 2), but got 2"},
      {.name = "an empty axis",
       .inputs = {"f32[2,0]", "i32[] 1"},
       .error = "Reduction axis 1 is empty in shape [2,0]"},
      {.name = "two axes",
       .inputs = {"f32[2] 1 2", "i32[2] 0 1"},
       .error = "dim must be a scalar, but received tensor of shape: [2]"},
  };
}

TROUPE_OP_CASES(ArgMin) {
  return {
      {.name = "NaN before others",
       .inputs = {"f32[3] nan 1 2", "i32[] 0"},
       .outputs = {"i64[] 1"}},
      {.name = "infinities alone", .inputs = {"f32[2] inf inf", "i32[] 0"}, .outputs = {"i64[] 0"}},
      {.name = "a vector", .inputs = {"f32[4] 1 4 -2 3", "i32[] 0"}, .outputs = {"i64[] 2"}},
      {.name = "rows", .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i32[] 1"}, .outputs = {"i64[2] 2 1"}},
      {.name = "columns",
       .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i32[] 0"},
       .outputs = {"i64[3] 0 1 0"}},
      {.name = "from the end, as int32",
       .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i64[] -1"},
       .attrs = {{"output_type", DType::int32}},
       .outputs = {"i32[2] 2 1"}},
      {.name = "the first of equals",
       .inputs = {"f32[4] 2 3 3 2", "i32[] 0"},
       .outputs = {"i64[] 0"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,2,2] 1 2 3 4 -5 6 7 8", "i32[] 2"},
       .outputs = {"i64[1,2,2] 0"}},
      {.name = "infinities", .inputs = {"f32[3] inf -inf 1", "i32[] 0"}, .outputs = {"i64[] 1"}},
      {.name = "NaN between others",
       .inputs = {"f32[3] 1 nan 3", "i32[] 0"},
       .outputs = {"i64[] 0"}},
      {.name = "no outputs", .inputs = {"f32[0,2]", "i32[] 1"}, .outputs = {"i64[0]"}},
      {.name = "dtype f64", .inputs = {"f64[3] 5 9 2", "i32[] 0"}, .outputs = {"i64[] 2"}},
      {.name = "dtype i32", .inputs = {"i32[3] 5 9 2", "i32[] 0"}, .outputs = {"i64[] 2"}},
      {.name = "dtype i64", .inputs = {"i64[3] 5 9 2", "i32[] 0"}, .outputs = {"i64[] 2"}},
      {.name = "dtype u8", .inputs = {"u8[3] 5 9 2", "i32[] 0"}, .outputs = {"i64[] 2"}},
      {.name = "dtype bool",
       .inputs = {"bool[3] false true false", "i32[] 0"},
       .outputs = {"i64[] 0"}},
      {.name = "an axis beyond the end",
       .inputs = {"f32[2,3] 1", "i32[] 2"},
       .error = "Expected dimension in the range [-2, 2), but got 2"},
      {.name = "an empty axis",
       .inputs = {"f32[2,0]", "i32[] 1"},
       .error = "Reduction axis 1 is empty in shape [2,0]"},
      {.name = "two axes",
       .inputs = {"f32[2] 1 2", "i32[2] 0 1"},
       .error = "dim must be a scalar, but received tensor of shape: [2]"},
  };
}

} // namespace
} // namespace troupe
