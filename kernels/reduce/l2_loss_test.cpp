// L2Loss.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(L2Loss) {
  return {
      {.name = "no elements", .inputs = {"f32[0]"}, .outputs = {"f32[] 0"}},
      {.name = "a scalar", .inputs = {"f32[] 3"}, .outputs = {"f32[] 4.5"}},
      {.name = "a vector", .inputs = {"f32[3] 1 2 3"}, .outputs = {"f32[] 7"}},
      {.name = "rank four, f64",
       .inputs = {"f64[1,2,2,2] 1 2 3 4 -5 6 7 8"},
       .outputs = {"f64[] 102"}},
      {.name = "NaN",
       .inputs = {"f32[2] nan 1"},
       .outputs = {"f32[] nan"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "infinity",
       .inputs = {"f32[2] -inf 1"},
       .outputs = {"f32[] inf"},
       .check_gradient = false,
       .no_gradient_reason = "infinities have no difference quotient"},
      {.name = "a square that f32 does not hold",
       .inputs = {"f32[2] 2e19 0"},
       .outputs = {"f32[] 2e38"},
       .check_gradient = false,
       .no_gradient_reason = "differences of it are infinite"},
      {.name = "squares that f32 does not hold exactly",
       .inputs = {"f32[4] 3e-20 3e-20 3e-20 3e-20"},
       .outputs = {"f32[] 1.8e-39"},
       .check_gradient = false,
       .no_gradient_reason = "differences of it are too small"},
  };
}

} // namespace
} // namespace troupe
