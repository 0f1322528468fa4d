// Reshape.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Reshape) {
  return {
      {.name = "flat",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[1] 6"},
       .outputs = {"f32[6] 1 2 3 4 5 6"}},
      {.name = "to a scalar", .inputs = {"f32[1,1] 5", "i32[0]"}, .outputs = {"f32[] 5"}},
      {.name = "from a scalar", .inputs = {"f32[] 5", "i32[2] 1 1"}, .outputs = {"f32[1,1] 5"}},
      {.name = "what is left",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2] 3 -1"},
       .outputs = {"f32[3,2] 1 2 3 4 5 6"}},
      {.name = "rank four",
       .inputs = {"f32[4] 1 2 3 4", "i64[4] 1 2 1 2"},
       .outputs = {"f32[1,2,1,2] 1 2 3 4"}},
      {.name = "no elements", .inputs = {"f32[0,3]", "i32[2] 3 0"}, .outputs = {"f32[3,0]"}},
      {.name = "-1 beside a zero", .inputs = {"f32[0]", "i32[2] -1 0"}, .outputs = {"f32[1,0]"}},
      {.name = "-1 beside a zero: what the other dimensions leave",
       .inputs = {"f32[4,0,3]", "i32[3] 2 -1 0"},
       .outputs = {"f32[2,6,0]"}},
      {.name = "-1 of nothing", .inputs = {"f32[0]", "i32[2] -1 2"}, .outputs = {"f32[0,2]"}},
      {.name = "a scalar -1",
       .inputs = {"f32[2,2] 1 2 3 4", "i32[] -1"},
       .outputs = {"f32[4] 1 2 3 4"}},
      {.name = "dtype f64", .inputs = {"f64[2,1] 1 2", "i32[1] 2"}, .outputs = {"f64[2] 1 2"}},
      {.name = "dtype i32", .inputs = {"i32[2,1] 1 2", "i32[1] 2"}, .outputs = {"i32[2] 1 2"}},
      {.name = "dtype i64", .inputs = {"i64[2,1] 1 2", "i32[1] 2"}, .outputs = {"i64[2] 1 2"}},
      {.name = "dtype u8", .inputs = {"u8[2,1] 1 2", "i32[1] 2"}, .outputs = {"u8[2] 1 2"}},
      {.name = "dtype bool",
       .inputs = {"bool[2,1] true false", "i32[1] 2"},
       .outputs = {"bool[2] true false"}},
      {.name = "dtype str",
       .inputs = {"str[2,1] \"a\" \"b\"", "i32[1] 2"},
       .outputs = {"str[2] \"a\" \"b\""}},
      {.name = "NaN passes",
       .inputs = {"f32[2] nan 1", "i32[2] 2 1"},
       .outputs = {"f32[2,1] nan 1"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "another number of elements",
       .inputs = {"f32[6] 1", "i32[1] 4"},
       .error = "Input to reshape is a tensor with 6 values, but the requested shape has 4"},
      {.name = "no multiple",
       .inputs = {"f32[6] 1", "i32[2] 4 -1"},
       .error = "Input to reshape is a tensor with 6 values, but the requested shape requires a "
                "multiple of 4"},
      {.name = "two unknown sizes",
       .inputs = {"f32[6] 1", "i32[2] -1 -1"},
       .error = "Only one input size may be -1, not both 0 and 1"},
      {.name = "a negative size",
       .inputs = {"f32[6] 1", "i32[1] -2"},
       .error = "Size 0 must be non-negative, not -2"},
      {.name = "a matrix is no shape",
       .inputs = {"f32[6] 1", "i32[1,1] 6"},
       .error = "sizes input must be 1-D, not [1,1]"},
  };
}

TROUPE_OP_CASES(QuantizedReshape) {
  return {
      {.name = "quint8",
       .inputs = {"qu8[4] 1 2 3 255", "i32[2] 2 2", "f32[] 0", "f32[] 1"},
       .outputs = {"qu8[2,2] 1 2 3 255", "f32[] 0", "f32[] 1"}},
      {.name = "qint32, one size for what is left",
       .inputs = {"qi32[2,3] 1 -2 3 4 5 6", "i64[2] 3 -1", "f32[] -1", "f32[] 1"},
       .outputs = {"qi32[3,2] 1 -2 3 4 5 6", "f32[] -1", "f32[] 1"}},
      {.name = "nothing",
       .inputs = {"qu8[0,2]", "i32[1] 0", "f32[] 0", "f32[] 1"},
       .outputs = {"qu8[0]", "f32[] 0", "f32[] 1"}},
      {.name = "another number of elements",
       .inputs = {"qu8[4] 1", "i32[1] 3", "f32[] 0", "f32[] 1"},
       .error = "Input to reshape is a tensor with 4 values, but the requested shape has 3"},
      {.name = "two unknown sizes",
       .inputs = {"qu8[4] 1", "i32[2] -1 -1", "f32[] 0", "f32[] 1"},
       .error = "Only one input size may be -1, not both 0 and 1"},
      {.name = "two bounds",
       .inputs = {"qu8[4] 1", "i32[1] 4", "f32[] 0", "f32[2] 1"},
       .error = "input_max must be a scalar or a vector of 1 element"},
      {.name = "no bound",
       .inputs = {"qu8[4] 1", "i32[1] 4", "f32[0]", "f32[] 1"},
       .error = "input_min must be a scalar or a vector of 1 element"},
  };
}

} // namespace
} // namespace troupe
