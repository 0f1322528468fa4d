// Cases of HistogramFixedWidth; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(HistogramFixedWidth) {
  return {
      {
          .name = "what is beyond counts at the ends",
          .inputs = {"f32[6] -1 0 1.5 2 5 15", "f32[2] 0 5", "i32[] 5"},
          .outputs = {"i32[5] 2 1 1 0 2"},
      },
      {
          .name = "no values",
          .inputs = {"f64[0]", "f64[2] 0 5", "i32[] 2"},
          .attrs = {{"dtype", DType::int64}},
          .outputs = {"i64[2] 0 0"},
      },
      {
          .name = "integers of any shape",
          .inputs = {"i32[2,2] 1 2 3 4", "i32[2] 1 5", "i32[] 2"},
          .outputs = {"i32[2] 2 2"},
      },
      {
          .name = "infinite values",
          .inputs = {"f32[2] -inf inf", "f32[2] 0 5", "i32[] 3"},
          .outputs = {"i32[3] 1 0 1"},
      },
      {
          .name = "an infinite range has no width to divide by",
          .inputs = {"f32[3] 1 inf -inf", "f32[2] -inf inf", "i32[] 3"},
          .outputs = {"i32[3] 3 0 0"},
      },
      {
          .name = "NaN",
          .inputs = {"f32[2] nan 1", "f32[2] 0 5", "i32[] 5"},
          .error = "Histogram values must not contain NaN",
      },
      {
          .name = "an empty range",
          .inputs = {"f32[1] 1", "f32[2] 5 5", "i32[] 5"},
          .error = "value_range should satisfy value_range[0] < value_range[1], but got '[5, 5]'",
      },
      {
          .name = "no bins",
          .inputs = {"f32[1] 1", "f32[2] 0 5", "i32[] 0"},
          .error = "nbins should be a positive number, but got '0'",
      },
      {
          .name = "a range of three",
          .inputs = {"f32[1] 1", "f32[3] 0 5 6", "i32[] 3"},
          .error = "value_range should be a vector of 2 elements.",
      },
      {.name = "a matrix of bounds",
       .inputs = {"f32[1] 1", "f32[1,2] 1 2", "i32[] 2"},
       .error = "value_range should be a vector."},
  };
}

} // namespace
} // namespace troupe
