// Floor, Ceil, Rint, Round; IsNan, IsInf, IsFinite.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Floor) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.5 -0.5 -2.5 2.4999 -7.75"},
       .outputs = {"f32[6] 0 1 -1 -3 2 -8"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"f32[1,2,1,2] 0 1 -1 -3"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 "
                  "-0.5 -2.5 2.4999"},
       .outputs = {"f32[17] 0 1 -1 -3 2 -8 0 1 -1 -3 2 -8 0 1 -1 -3 2"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"f64[4] 0 1 -1 -3"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf -inf 0 -0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(Ceil) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 1"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.5 -0.5 -2.5 2.4999 -7.75"},
       .outputs = {"f32[6] 1 2 -0 -2 3 -7"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"f32[1,2,1,2] 1 2 -0 -2"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 "
                  "-0.5 -2.5 2.4999"},
       .outputs = {"f32[17] 1 2 -0 -2 3 -7 1 2 -0 -2 3 -7 1 2 -0 -2 3"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"f64[4] 1 2 -0 -2"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf -inf 0 -0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(Rint) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.5 -0.5 -2.5 2.4999 -7.75"},
       .outputs = {"f32[6] 0 2 -0 -2 2 -8"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"f32[1,2,1,2] 0 2 -0 -2"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 "
                  "-0.5 -2.5 2.4999"},
       .outputs = {"f32[17] 0 2 -0 -2 2 -8 0 2 -0 -2 2 -8 0 2 -0 -2 2"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"f64[4] 0 2 -0 -2"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf -inf 0 -0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(Round) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.5 -0.5 -2.5 2.4999 -7.75"},
       .outputs = {"f32[6] 0 2 -0 -2 2 -8"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"f32[1,2,1,2] 0 2 -0 -2"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 "
                  "-0.5 -2.5 2.4999"},
       .outputs = {"f32[17] 0 2 -0 -2 2 -8 0 2 -0 -2 2 -8 0 2 -0 -2 2"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"f64[4] 0 2 -0 -2"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf -inf 0 -0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "integers are round: i32",
       .inputs = {"i32[4] -7 0 3 100"},
       .outputs = {"i32[4] -7 0 3 100"}},
      {.name = "integers are round: i64",
       .inputs = {"i64[4] -7 0 3 100"},
       .outputs = {"i64[4] -7 0 3 100"}},
  };
}

TROUPE_OP_CASES(IsNan) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"bool[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"bool[] false"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.5 -0.5 -2.5 2.4999 -7.75"},
       .outputs = {"bool[6] false"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"bool[1,2,1,2] false"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 "
                  "-0.5 -2.5 2.4999"},
       .outputs = {"bool[17] false"}},
      {.name = "dtype f64", .inputs = {"f64[4] 0.5 1.5 -0.5 -2.5"}, .outputs = {"bool[4] false"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"bool[5] true false false false false"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(IsInf) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"bool[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"bool[] false"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.5 -0.5 -2.5 2.4999 -7.75"},
       .outputs = {"bool[6] false"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"bool[1,2,1,2] false"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 "
                  "-0.5 -2.5 2.4999"},
       .outputs = {"bool[17] false"}},
      {.name = "dtype f64", .inputs = {"f64[4] 0.5 1.5 -0.5 -2.5"}, .outputs = {"bool[4] false"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"bool[5] false true true false false"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(IsFinite) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"bool[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"bool[] true"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.5 -0.5 -2.5 2.4999 -7.75"},
       .outputs = {"bool[6] true"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.5 -0.5 -2.5"},
       .outputs = {"bool[1,2,1,2] true"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 -0.5 -2.5 2.4999 -7.75 0.5 1.5 "
                  "-0.5 -2.5 2.4999"},
       .outputs = {"bool[17] true"}},
      {.name = "dtype f64", .inputs = {"f64[4] 0.5 1.5 -0.5 -2.5"}, .outputs = {"bool[4] true"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"bool[5] false false false true true"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

} // namespace
} // namespace troupe
