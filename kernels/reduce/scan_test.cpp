// Cumsum, Cumprod.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Cumsum) {
  return {
      {.name = "a vector", .inputs = {"f32[4] 1 4 -2 3", "i32[] 0"}, .outputs = {"f32[4] 1 5 3 6"}},
      {.name = "rows",
       .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i32[] 1"},
       .outputs = {"f32[2,3] 1 6 3 4 4.5 10.5"}},
      {.name = "columns",
       .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i32[] 0"},
       .outputs = {"f32[2,3] 1 5 -3 5 5.5 3"}},
      {.name = "exclusive",
       .inputs = {"f32[4] 1 4 -2 3", "i32[] 0"},
       .attrs = {{"exclusive", true}},
       .outputs = {"f32[4] 0 1 5 3"}},
      {.name = "backwards",
       .inputs = {"f32[4] 1 4 -2 3", "i32[] 0"},
       .attrs = {{"reverse", true}},
       .outputs = {"f32[4] 6 5 1 3"}},
      {.name = "backwards, exclusive, columns",
       .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i64[] -2"},
       .attrs = {{"exclusive", true}, {"reverse", true}},
       .outputs = {"f32[2,3] 4 0.5 6 0 0 0"}},
      {.name = "the middle of rank three",
       .inputs = {"f32[2,2,2] 1 2 3 4 -5 6 7 8", "i32[] 1"},
       .outputs = {"f32[2,2,2] 1 2 4 6 -5 6 2 14"}},
      {.name = "no elements", .inputs = {"f32[0,2]", "i32[] 0"}, .outputs = {"f32[0,2]"}},
      {.name = "NaN and infinities",
       .inputs = {"f32[3] 1 nan inf", "i32[] 0"},
       .outputs = {"f32[3] 1 nan nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "dtype f64", .inputs = {"f64[3] 5 9 2", "i32[] 0"}, .outputs = {"f64[3] 5 14 16"}},
      {.name = "dtype i32", .inputs = {"i32[3] 5 9 2", "i32[] 0"}, .outputs = {"i32[3] 5 14 16"}},
      {.name = "dtype i64", .inputs = {"i64[3] 5 9 2", "i32[] 0"}, .outputs = {"i64[3] 5 14 16"}},
      {.name = "an axis beyond the end",
       .inputs = {"f32[3] 1", "i32[] 3"},
       .error = "ScanOp: Expected scan axis in the range [-1, 1), but got 3"},
  };
}

TROUPE_OP_CASES(Cumprod) {
  return {
      {.name = "a vector",
       .inputs = {"f32[4] 1 4 -2 3", "i32[] 0"},
       .outputs = {"f32[4] 1 4 -8 -24"}},
      {.name = "rows",
       .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i32[] 1"},
       .outputs = {"f32[2,3] 1 5 -15 4 2 12"}},
      {.name = "columns",
       .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i32[] 0"},
       .outputs = {"f32[2,3] 1 5 -3 4 2.5 -18"}},
      {.name = "a zero", .inputs = {"f32[4] 2 0 3 4", "i32[] 0"}, .outputs = {"f32[4] 2 0 0 0"}},
      {.name = "zeros",
       .inputs = {"f32[2,4] 0 2 0 3 4 3 0 2", "i32[] 1"},
       .outputs = {"f32[2,4] 0 0 0 0 4 12 0 0"}},
      {.name = "zeros, backwards, exclusive",
       .inputs = {"f32[5] 2 0 3 0 4", "i32[] 0"},
       .attrs = {{"exclusive", true}, {"reverse", true}},
       .outputs = {"f32[5] 0 0 0 4 1"}},
      {.name = "exclusive",
       .inputs = {"f32[4] 1 4 -2 3", "i32[] 0"},
       .attrs = {{"exclusive", true}},
       .outputs = {"f32[4] 1 1 4 -8"}},
      {.name = "backwards",
       .inputs = {"f32[4] 1 4 -2 3", "i32[] 0"},
       .attrs = {{"reverse", true}},
       .outputs = {"f32[4] -24 -24 -6 3"}},
      {.name = "backwards, exclusive, columns",
       .inputs = {"f32[2,3] 1 5 -3 4 0.5 6", "i64[] -2"},
       .attrs = {{"exclusive", true}, {"reverse", true}},
       .outputs = {"f32[2,3] 4 0.5 6 1 1 1"}},
      {.name = "the middle of rank three",
       .inputs = {"f32[2,2,2] 1 2 3 4 -5 6 7 8", "i32[] 1"},
       .outputs = {"f32[2,2,2] 1 2 3 8 -5 6 -35 48"}},
      {.name = "no elements", .inputs = {"f32[0,2]", "i32[] 0"}, .outputs = {"f32[0,2]"}},
      {.name = "NaN and infinities",
       .inputs = {"f32[3] 1 nan inf", "i32[] 0"},
       .outputs = {"f32[3] 1 nan nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "dtype f64", .inputs = {"f64[3] 5 9 2", "i32[] 0"}, .outputs = {"f64[3] 5 45 90"}},
      {.name = "dtype i32", .inputs = {"i32[3] 5 9 2", "i32[] 0"}, .outputs = {"i32[3] 5 45 90"}},
      {.name = "dtype i64", .inputs = {"i64[3] 5 9 2", "i32[] 0"}, .outputs = {"i64[3] 5 45 90"}},
      {.name = "an axis beyond the end",
       .inputs = {"f32[3] 1", "i32[] 3"},
       .error = "ScanOp: Expected scan axis in the range [-1, 1), but got 3"},
  };
}

TROUPE_OP_CASES(CumulativeLogsumexp) {
  return {
      {
          .name = "running",
          .inputs = {"f32[3] 0 1 2", "i32[] 0"},
          .outputs = {"f32[3] 0 1.3132617 2.4076061"},
      },
      {
          .name = "without the element",
          .inputs = {"f64[3] 0 1 2", "i32[] 0"},
          .attrs = {{"exclusive", true}},
          .outputs = {"f64[3] -inf 0 1.3132616875182228"},
      },
      {
          .name = "backwards",
          .inputs = {"f32[3] 0 1 2", "i64[] 0"},
          .attrs = {{"reverse", true}},
          .outputs = {"f32[3] 2.4076061 2.3132617 2"},
      },
      {
          .name = "columns",
          .inputs = {"f32[2,2] 0 1 2 3", "i32[] -2"},
          .outputs = {"f32[2,2] 0 1 2.126928 3.126928"},
      },
      {
          .name = "half",
          .inputs = {"f16[3] 0 1 2", "i32[] 0"},
          .attrs = {{"exclusive", true}},
          .outputs = {"f16[3] -inf 0 1.3134766"},
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[3] 0 1 2", "i32[] 0"},
          .attrs = {{"exclusive", true}},
          .outputs = {"bf16[3] -inf 0 1.3125"},
      },
      {
          .name = "large ones do not overflow",
          .inputs = {"f32[3] 1000 1000 -1000", "i32[] 0"},
          .outputs = {"f32[3] 1000 1000.6932 1000.6932"},
      },
      {
          .name = "infinity",
          .inputs = {"f32[4] -inf -inf 0 inf", "i32[] 0"},
          .outputs = {"f32[4] -inf -inf 0 inf"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]", "i32[] 0"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "an axis that is none",
          .inputs = {"f32[2] 0 1", "i32[] 1"},
          .error = "ScanOp: Expected scan axis in the range [-1, 1), but got 1",
      },
  };
}

} // namespace
} // namespace troupe
