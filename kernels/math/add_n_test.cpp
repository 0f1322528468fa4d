// AddN.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(AddN) {
  return {
      {.name = "one input", .inputs = {"f32[2] 1 2"}, .outputs = {"f32[2] 1 2"}},
      {.name = "no elements", .inputs = {"f32[0,2]", "f32[0,2]"}, .outputs = {"f32[0,2]"}},
      {.name = "scalars", .inputs = {"f32[] 1", "f32[] 2", "f32[] 3"}, .outputs = {"f32[] 6"}},
      {.name = "five matrices",
       .inputs = {"f32[2,2] 1 2 3 4", "f32[2,2] 1 2 3 4", "f32[2,2] 1 2 3 4", "f32[2,2] 0.5",
                  "f32[2,2] 0.5"},
       .outputs = {"f32[2,2] 4 7 10 13"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 1 2 3 4", "f32[1,2,1,2] 4 3 2 1"},
       .outputs = {"f32[1,2,1,2] 5"}},
      {.name = "NaN and infinities",
       .inputs = {"f32[3] nan inf inf", "f32[3] 1 1 -inf"},
       .outputs = {"f32[3] nan inf nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "dtype f64", .inputs = {"f64[2] 1.5 2", "f64[2] 1 2"}, .outputs = {"f64[2] 2.5 4"}},
      {.name = "dtype i32",
       .inputs = {"i32[2] 1 2", "i32[2] 2147483647 2"},
       .outputs = {"i32[2] -2147483648 4"}},
      {.name = "dtype i64", .inputs = {"i64[2] 1 2", "i64[2] 1 2"}, .outputs = {"i64[2] 2 4"}},
      {.name = "two shapes",
       .inputs = {"f32[2] 1 2", "f32[3] 1 2 3"},
       .error = "must have the same size and shape.  Input 0: [2] != input 1: [3]"},
  };
}

TROUPE_OP_CASES(AccumulateNV2) {
  return {
      {
          .name = "three",
          .inputs = {"f32[2] 1 2", "f32[2] 3 4", "f32[2] 5 6"},
          .attrs = {{"shape", PartialShape{2}}},
          .outputs = {"f32[2] 9 12"},
      },
      {
          .name = "one",
          .inputs = {"i32[] 1"},
          .attrs = {{"shape", PartialShape{}}},
          .outputs = {"i32[] 1"},
      },
      {.name = "two shapes",
       .inputs = {"f32[2] 1 2", "f32[1] 3"},
       .attrs = {{"shape", PartialShape{2}}},
       .error = "hape"},
  };
}

} // namespace
} // namespace troupe
