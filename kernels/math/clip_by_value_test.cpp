// ClipByValue.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ClipByValue) {
  return {
      {.name = "a bound that is NaN does not count",
       .inputs = {"f32[3] -1 1 5", "f32[] nan", "f32[] 2"},
       .outputs = {"f32[3] -1 1 2"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {.name = "nor does it for some elements",
       .inputs = {"f32[3] -1 1 5", "f32[] 0", "f32[3] nan nan 2"},
       .outputs = {"f32[3] 0 1 2"},
       .check_gradient = false,
       .no_gradient_reason = "infinity and NaN have no finite differences"},
      {.name = "no elements", .inputs = {"f32[0]", "f32[] 0", "f32[] 1"}, .outputs = {"f32[0]"}},
      {.name = "scalars", .inputs = {"f32[] 3", "f32[] 0", "f32[] 1"}, .outputs = {"f32[] 1"}},
      {.name = "scalar bounds",
       .inputs = {"f32[5] -1 0.25 0.5 2 0.75", "f32[] 0", "f32[] 1"},
       .outputs = {"f32[5] 0 0.25 0.5 1 0.75"}},
      {.name = "a bound for each element",
       .inputs = {"f32[2,2] 1 2 3 4", "f32[2,2] 1.5 1.5 2 5", "f32[2,2] 3 1.75 9 9"},
       .outputs = {"f32[2,2] 1.5 1.75 3 5"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] -2 -0.5 0.5 2", "f32[] -1", "f32[] 1"},
       .outputs = {"f32[1,2,1,2] -1 -0.5 0.5 1"}},
      {.name = "NaN and infinities",
       .inputs = {"f32[3] nan inf -inf", "f32[] 0", "f32[] 1"},
       .outputs = {"f32[3] nan 1 0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "dtype f64",
       .inputs = {"f64[3] 1 5 9", "f64[] 3", "f64[] 7"},
       .outputs = {"f64[3] 3 5 7"}},
      {.name = "dtype i32",
       .inputs = {"i32[3] 1 5 9", "i32[] 3", "i32[] 7"},
       .outputs = {"i32[3] 3 5 7"}},
      {.name = "dtype i64",
       .inputs = {"i64[3] 1 5 9", "i64[] 3", "i64[] 7"},
       .outputs = {"i64[3] 3 5 7"}},
      {.name = "dtype u8",
       .inputs = {"u8[3] 1 5 9", "u8[] 3", "u8[] 7"},
       .outputs = {"u8[3] 3 5 7"}},
      {.name = "dtype i8",
       .inputs = {"i8[3] 1 5 9", "i8[] 3", "i8[] 7"},
       .outputs = {"i8[3] 3 5 7"}},
      {.name = "a bound of another shape",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3", "f32[] 9"},
       .error = "clip_value_min and clip_value_max must be either of the same shape as input, or a "
                "scalar. input shape: [2]"},
  };
}

} // namespace
} // namespace troupe
