// Cases of MatMul; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(MatMul) {
  return {
      {.name = "a product beyond all memory",
       .inputs = {"f32[1099511627776,0]", "f32[0,1099511627776]"},
       .error = "has more than 2^63 - 1 elements"},
      {.name = "a sum of negative zeros",
       .inputs = {"f32[1,1] -0.7", "f32[1,1] 0"},
       .outputs = {"f32[1,1] 0"}},
      {
          .name = "two matrices",
          .inputs = {"f32[2,3] -0.125 1.125 -1.875 -0.625 -1.375 -1.625",
                     "f32[3,4] -0.125 -1.875 0.375 -0.125 -0.125 -0.625 -1.125 0.625 -0.625 "
                     "-0.875 0.625 0.125"},
          .outputs = {"f32[2,4] 1.046875 1.171875 -2.484375 0.484375 1.265625 3.453125 "
                      "0.296875 -0.984375"},
      },
      {
          .name = "a transposed",
          .inputs = {"f32[3,2] -0.125 -0.625 1.125 -1.375 -1.875 -1.625",
                     "f32[3,4] -0.125 -1.875 0.375 -0.125 -0.125 -0.625 -1.125 0.625 -0.625 "
                     "-0.875 0.625 0.125"},
          .attrs = {{"transpose_a", true}},
          .outputs = {"f32[2,4] 1.046875 1.171875 -2.484375 0.484375 1.265625 3.453125 "
                      "0.296875 -0.984375"},
      },
      {
          .name = "b transposed",
          .inputs = {"f32[2,3] -0.125 1.125 -1.875 -0.625 -1.375 -1.625",
                     "f32[4,3] -0.125 -0.125 -0.625 -1.875 -0.625 -0.875 0.375 -1.125 0.625 "
                     "-0.125 0.625 0.125"},
          .attrs = {{"transpose_b", true}},
          .outputs = {"f32[2,4] 1.046875 1.171875 -2.484375 0.484375 1.265625 3.453125 "
                      "0.296875 -0.984375"},
      },
      {
          .name = "both transposed",
          .inputs = {"f32[3,2] -0.125 -0.625 1.125 -1.375 -1.875 -1.625",
                     "f32[4,3] -0.125 -0.125 -0.625 -1.875 -0.625 -0.875 0.375 -1.125 0.625 "
                     "-0.125 0.625 0.125"},
          .attrs = {{"transpose_a", true}, {"transpose_b", true}},
          .outputs = {"f32[2,4] 1.046875 1.171875 -2.484375 0.484375 1.265625 3.453125 "
                      "0.296875 -0.984375"},
      },
      {
          .name = "marked as a gradient",
          .inputs = {"f32[2,3] -0.125 1.125 -1.875 -0.625 -1.375 -1.625",
                     "f32[3,4] -0.125 -1.875 0.375 -0.125 -0.125 -0.625 -1.125 0.625 -0.625 "
                     "-0.875 0.625 0.125"},
          .attrs = {{"grad_a", true}, {"grad_b", true}},
          .outputs = {"f32[2,4] 1.046875 1.171875 -2.484375 0.484375 1.265625 3.453125 "
                      "0.296875 -0.984375"},
      },
      {
          .name = "odd sizes",
          .inputs = {"f32[5,7] 0.375 0.875 -0.625 0.125 1.625 1.625 -1.375 -1.125 -1.625 "
                     "-0.125 -1.875 -0.125 0.625 -0.875 0.875 0.375 -1.875 0.375 -0.875 "
                     "-0.125 -0.625 0.875 -0.125 -1.125 0.375 1.125 -0.625 -0.875 -0.375 "
                     "1.875 2.125 0.875 1.625 1.625 -0.375",
                     "f32[7,3] 1.875 0.375 2.125 0.875 0.875 -1.125 2.125 -1.875 -0.875 "
                     "-0.125 1.125 -1.125 1.625 2.125 -1.125 0.625 -1.875 -0.375 -1.625 "
                     "1.875 -0.125"},
          .outputs = {"f32[5,3] 6.015625 0.046875 -2.046875 -1.953125 -6.796875 1.671875 "
                      "-2.546875 1.796875 3.765625 1.953125 4.671875 1.640625 9.609375 "
                      "-1.796875 -8.140625"},
      },
      {
          .name = "double",
          .inputs = {"f64[3,2] -0.875 1.625 -1.125 1.875 0.125 0.625",
                     "f64[2,3] 1.625 -0.625 1.375 -1.625 -1.375 0.625"},
          .outputs = {"f64[3,3] -4.0625 -1.6875 -0.1875 -4.875 -1.875 -0.375 -0.8125 -0.9375 "
                      "0.5625"},
      },
      {
          .name = "double transposed",
          .inputs = {"f64[2,3] -0.875 1.625 -1.125 1.875 0.125 0.625",
                     "f64[3,2] 1.625 -0.625 1.375 -1.625 -1.375 0.625"},
          .attrs = {{"transpose_a", true}, {"transpose_b", true}},
          .outputs = {"f64[3,3] -2.59375 -4.25 2.375 2.5625 2.03125 -2.15625 -2.21875 -2.5625 "
                      "1.9375"},
      },
      {
          .name = "int32",
          .inputs = {"i32[3,5] 0 3 4 0 -5 -5 -4 2 1 4 -3 -1 0 -3 -1",
                     "i32[5,2] 3 3 1 -3 3 2 -3 -4 0 5"},
          .outputs = {"i32[3,2] 15 -26 -16 17 -1 1"},
      },
      {
          .name = "int64 transposed",
          .inputs = {"i64[5,3] 0 3 4 0 -5 -5 -4 2 1 4 -3 -1 0 -3 -1",
                     "i64[2,5] 3 3 1 -3 3 2 -3 -4 0 5"},
          .attrs = {{"transpose_a", true}, {"transpose_b", true}},
          .outputs = {"i64[3,2] -16 16 -4 -2 -2 14"},
      },
      {
          .name = "one element each",
          .inputs = {"f32[1,1] 3", "f32[1,1] -2"},
          .outputs = {"f32[1,1] -6"},
      },
      {
          .name = "a row and a column",
          .inputs = {"f32[1,9] -1.625 1.125 -0.125 1.125 2.125 0.375 0.125 -1.625 -0.875",
                     "f32[9,1] 1.625 1.875 1.625 0.125 -0.875 -1.875 -0.125 -0.375 0.125"},
          .outputs = {"f32[1,1] -2.671875"},
      },
      {
          .name = "a column and a row",
          .inputs = {"f32[4,1] -1.625 1.125 -0.125 1.125",
                     "f32[1,5] 1.625 1.875 1.625 0.125 -0.875"},
          .outputs = {"f32[4,5] -2.640625 -3.046875 -2.640625 -0.203125 1.421875 1.828125 "
                      "2.109375 1.828125 0.140625 -0.984375 -0.203125 -0.234375 -0.203125 "
                      "-0.015625 0.109375 1.828125 2.109375 1.828125 0.140625 -0.984375"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]",
                     "f32[3,4] -0.125 -1.875 0.375 -0.125 -0.125 -0.625 -1.125 0.625 -0.625 "
                     "-0.875 0.625 0.125"},
          .outputs = {"f32[0,4]"},
      },
      {
          .name = "no columns",
          .inputs = {"f32[2,3] -0.125 1.125 -1.875 -0.625 -1.375 -1.625", "f32[3,0]"},
          .outputs = {"f32[2,0]"},
      },
      {
          .name = "an empty sum is zero",
          .inputs = {"f32[2,0]", "f32[0,3]"},
          .outputs = {"f32[2,3] 0"},
      },
      {
          .name = "NaN and infinity reach their rows and columns",
          .inputs = {"f32[3,2] nan 1 inf 1 2 3", "f32[2,2] 1 2 3 4"},
          .outputs = {"f32[3,2] nan nan inf inf 11 16"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "large enough for two threads, by rows",
          .inputs = {"f32[300,200] 1", "f32[200,280] 0.5"},
          .outputs = {"f32[300,280] 100"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
      {
          .name = "large enough for two threads, by columns",
          .inputs = {"f32[20,1000] 0.5", "f32[1000,1600] 2"},
          .outputs = {"f32[20,1600] 1000"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
      {
          .name = "large enough for two threads, transposed",
          .inputs = {"f32[1000,20] 0.5", "f32[1600,1000] 2"},
          .attrs = {{"transpose_a", true}, {"transpose_b", true}},
          .outputs = {"f32[20,1600] 1000"},
          .check_gradient = false,
          .no_gradient_reason = "too many elements for finite differences",
      },
      {
          .name = "inner sizes differ",
          .inputs = {"f32[2,3] 0", "f32[2,3] 0"},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
      {
          .name = "inner sizes differ after transposing",
          .inputs = {"f32[2,3] 0", "f32[3,2] 0"},
          .attrs = {{"transpose_a", true}},
          .error = "Dimensions must be equal, but are 2 and 3",
      },
      {
          .name = "a vector is refused",
          .inputs = {"f32[3] 0", "f32[3,2] 0"},
          .error = "Shape must be rank 2 but is rank 1",
      },
      {
          .name = "a batch is refused",
          .inputs = {"f32[2,2] 0", "f32[2,2,2] 0"},
          .error = "Shape must be rank 2 but is rank 3",
      },
  };
}

} // namespace
} // namespace troupe
