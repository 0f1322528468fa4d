// Cases of Unique and UniqueWithCounts.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Unique) {
  return {
      {.name = "in the order of their first coming",
       .inputs = {"i32[6] 5 3 5 9 3 3"},
       .outputs = {"i32[3] 5 3 9", "i32[6] 0 1 0 2 1 1"}},
      {.name = "wide positions",
       .inputs = {"i64[3] 7 7 -7"},
       .attrs = {{"out_idx", DType::int64}},
       .outputs = {"i64[2] 7 -7", "i64[3] 0 0 1"}},
      {.name = "text",
       .inputs = {"str[3] \"a\" \"b\" \"a\""},
       .outputs = {"str[2] \"a\" \"b\"", "i32[3] 0 1 0"}},
      {.name = "no number equals NaN",
       .inputs = {"f32[3] nan 1 nan"},
       .outputs = {"f32[3] nan 1 nan", "i32[3] 0 1 2"}},
      {.name = "zeros of both signs are equal",
       .inputs = {"f64[2] 0 -0"},
       .outputs = {"f64[1] 0", "i32[2] 0 0"}},
      {.name = "dtype bool",
       .inputs = {"bool[3] true false true"},
       .outputs = {"bool[2] true false", "i32[3] 0 1 0"}},
      {.name = "dtype u8", .inputs = {"u8[2] 255 255"}, .outputs = {"u8[1] 255", "i32[2] 0 0"}},
      {.name = "nothing", .inputs = {"i32[0]"}, .outputs = {"i32[0]", "i32[0]"}},
      {.name = "a matrix is refused",
       .inputs = {"i32[1,1] 0"},
       .error = "Shape must be rank 1 but is rank 2"},
  };
}

TROUPE_OP_CASES(UniqueWithCounts) {
  return {
      {.name = "counts",
       .inputs = {"i32[6] 5 3 5 9 3 3"},
       .outputs = {"i32[3] 5 3 9", "i32[6] 0 1 0 2 1 1", "i32[3] 2 3 1"}},
      {.name = "nothing", .inputs = {"str[0]"}, .outputs = {"str[0]", "i32[0]", "i32[0]"}},
  };
}

} // namespace
} // namespace troupe
