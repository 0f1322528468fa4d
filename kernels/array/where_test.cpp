// Where.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Where) {
  return {
      {.name = "a vector",
       .inputs = {"bool[4] true false true true"},
       .outputs = {"i64[3,1] 0 2 3"}},
      {.name = "a matrix",
       .inputs = {"bool[2,2] true false true true"},
       .outputs = {"i64[3,2] 0 0 1 0 1 1"}},
      {.name = "rank four",
       .inputs = {"bool[1,2,1,2] false true true false"},
       .outputs = {"i64[2,4] 0 0 0 1 0 1 0 0"}},
      {.name = "none", .inputs = {"bool[2] false"}, .outputs = {"i64[0,1]"}},
      {.name = "no elements", .inputs = {"bool[0,2]"}, .outputs = {"i64[0,2]"}},
      {.name = "NaN counts, zeros do not",
       .inputs = {"f32[5] 0 -0 1 nan inf"},
       .outputs = {"i64[3,1] 2 3 4"}},
      {.name = "dtype f64", .inputs = {"f64[3] 1 0 2"}, .outputs = {"i64[2,1] 0 2"}},
      {.name = "dtype i32", .inputs = {"i32[3] 1 0 2"}, .outputs = {"i64[2,1] 0 2"}},
      {.name = "dtype i64", .inputs = {"i64[3] 1 0 2"}, .outputs = {"i64[2,1] 0 2"}},
      {.name = "dtype u8", .inputs = {"u8[3] 1 0 2"}, .outputs = {"i64[2,1] 0 2"}},
      {.name = "a scalar",
       .inputs = {"bool[] true"},
       .error = "WhereOp : Unhandled input dimensions: 0"},
  };
}

} // namespace
} // namespace troupe
