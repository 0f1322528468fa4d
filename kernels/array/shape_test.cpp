// Shape, ShapeN, Size, Rank.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Shape) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 1"}, .outputs = {"i32[0]"}},
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"i32[2] 0 3"}},
      {.name = "rank four", .inputs = {"f32[1,2,1,2] 1"}, .outputs = {"i32[4] 1 2 1 2"}},
      {.name = "as int64",
       .inputs = {"f32[2,3] 1"},
       .attrs = {{"out_type", DType::int64}},
       .outputs = {"i64[2] 2 3"}},
      {.name = "of strings", .inputs = {"str[2] \"a\" \"b\""}, .outputs = {"i32[1] 2"}},
      {.name = "of bools", .inputs = {"bool[3] true"}, .outputs = {"i32[1] 3"}},
  };
}

TROUPE_OP_CASES(Size) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 1"}, .outputs = {"i32[] 1"}},
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"i32[] 0"}},
      {.name = "rank four", .inputs = {"f32[1,2,1,2] 1"}, .outputs = {"i32[] 4"}},
      {.name = "as int64",
       .inputs = {"f32[2,3] 1"},
       .attrs = {{"out_type", DType::int64}},
       .outputs = {"i64[] 6"}},
      {.name = "of strings", .inputs = {"str[2] \"a\" \"b\""}, .outputs = {"i32[] 2"}},
      {.name = "of bools", .inputs = {"bool[3] true"}, .outputs = {"i32[] 3"}},
  };
}

TROUPE_OP_CASES(Rank) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 1"}, .outputs = {"i32[] 0"}},
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"i32[] 2"}},
      {.name = "rank four", .inputs = {"i64[1,2,1,2] 1"}, .outputs = {"i32[] 4"}},
      {.name = "of strings", .inputs = {"str[2] \"a\" \"b\""}, .outputs = {"i32[] 1"}},
  };
}

TROUPE_OP_CASES(ShapeN) {
  return {
      {.name = "one", .inputs = {"f32[2,3] 1"}, .outputs = {"i32[2] 2 3"}},
      {.name = "three",
       .inputs = {"f32[2] 1", "f32[] 1", "f32[0,3]"},
       .outputs = {"i32[1] 2", "i32[0]", "i32[2] 0 3"}},
      {.name = "as int64",
       .inputs = {"i32[2] 1", "i32[1,2] 1"},
       .attrs = {{"out_type", DType::int64}},
       .outputs = {"i64[1] 2", "i64[2] 1 2"}},
  };
}

} // namespace
} // namespace troupe
