// GatherV2, Gather.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(GatherV2) {
  return {
      {.name = "one element",
       .inputs = {"f32[3] 1 2 3", "i32[] 2", "i32[] 0"},
       .outputs = {"f32[] 3"}},
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 2 0 2", "i32[] 0"},
       .outputs = {"f32[3,2] 5 6 1 2 5 6"}},
      {.name = "columns",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[3] 1 0 1", "i32[] 1"},
       .outputs = {"f32[3,3] 2 1 2 4 3 4 6 5 6"}},
      {.name = "columns, from the end",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i64[2] 1 1", "i64[] -1"},
       .outputs = {"f32[3,2] 2 2 4 4 6 6"}},
      {.name = "a matrix of indices",
       .inputs = {"f32[4] 1 2 3 4", "i32[2,2] 3 0 1 1", "i32[] 0"},
       .outputs = {"f32[2,2] 4 1 2 2"}},
      {.name = "the middle of rank three",
       .inputs = {"f32[2,2,2] 1 2 3 4 5 6 7 8", "i32[3] 1 0 1", "i32[] 1"},
       .outputs = {"f32[2,3,2] 3 4 1 2 3 4 7 8 5 6 7 8"}},
      {.name = "no indices",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]", "i32[] 0"},
       .outputs = {"f32[0,2]"}},
      {.name = "no elements",
       .inputs = {"f32[3,0]", "i32[2] 0 1", "i32[] 0"},
       .outputs = {"f32[2,0]"}},
      {.name = "NaN passes",
       .inputs = {"f32[2] nan 1", "i32[1] 0", "i32[] 0"},
       .outputs = {"f32[1] nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "batches",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2,2] 0 2 1 1", "i32[] 1"},
       .attrs = {{"batch_dims", std::int64_t{1}}},
       .outputs = {"f32[2,2] 1 3 5 5"},
       .check_gradient = false,
       .no_gradient_reason = "there is none for batch dimensions"},
      {.name = "batches, a later axis",
       .inputs = {"f32[2,2,2] 1 2 3 4 5 6 7 8", "i32[2,1] 1 0", "i32[] 2"},
       .attrs = {{"batch_dims", std::int64_t{1}}},
       .outputs = {"f32[2,2,1] 2 4 5 7"},
       .check_gradient = false,
       .no_gradient_reason = "there is none for batch dimensions"},
      {.name = "dtype f64",
       .inputs = {"f64[3] 1 2 3", "i32[2] 1 2", "i32[] 0"},
       .outputs = {"f64[2] 2 3"}},
      {.name = "dtype i32",
       .inputs = {"i32[3] 1 2 3", "i32[2] 1 2", "i32[] 0"},
       .outputs = {"i32[2] 2 3"}},
      {.name = "dtype i64",
       .inputs = {"i64[3] 1 2 3", "i32[2] 1 2", "i32[] 0"},
       .outputs = {"i64[2] 2 3"}},
      {.name = "dtype u8",
       .inputs = {"u8[3] 1 2 3", "i32[2] 1 2", "i32[] 0"},
       .outputs = {"u8[2] 2 3"}},
      {.name = "dtype bool",
       .inputs = {"bool[3] true false true", "i32[2] 1 2", "i32[] 0"},
       .outputs = {"bool[2] false true"}},
      {.name = "dtype str",
       .inputs = {"str[3] \"a\" \"b\" \"c\"", "i32[2] 2 0", "i32[] 0"},
       .outputs = {"str[2] \"c\" \"a\""}},
      {.name = "beyond the end",
       .inputs = {"f32[3] 1 2 3", "i32[1] 3", "i32[] 0"},
       .error = "indices[0] = 3 is not in [0, 3)"},
      {.name = "before the beginning",
       .inputs = {"f32[3] 1 2 3", "i32[1] -1", "i32[] 0"},
       .error = "indices[0] = -1 is not in [0, 3)"},
      {.name = "a bad index among others",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i64[1,2] 0 5", "i32[] 1"},
       .error = "indices[0,1] = 5 is not in [0, 2)"},
      {.name = "an axis beyond the end",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[] 0", "i32[] 2"},
       .error = "Shape must be at least rank 3 but is rank 2"},
      {.name = "a scalar",
       .inputs = {"f32[] 1", "i32[] 0", "i32[] 0"},
       .error = "params must be at least 1 dimensional"},
  };
}

TROUPE_OP_CASES(Gather) {
  return {
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[2] 2 0"},
       .outputs = {"f32[2,2] 5 6 1 2"}},
      {.name = "int64 indices",
       .inputs = {"f64[3] 1 2 3", "i64[2,1] 2 0"},
       .outputs = {"f64[2,1] 3 1"}},
      {.name = "no indices", .inputs = {"f32[3,2] 1 2 3 4 5 6", "i32[0]"}, .outputs = {"f32[0,2]"}},
      {.name = "beyond the end",
       .inputs = {"f32[3] 1 2 3", "i32[1] 3"},
       .error = "indices[0] = 3 is not in [0, 3)"},
  };
}

} // namespace
} // namespace troupe
