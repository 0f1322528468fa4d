// CheckNumerics.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(CheckNumerics) {
  return {
      {.name = "good numbers",
       .inputs = {"f32[3] 1 -2 0"},
       .attrs = {{"message", std::string("here")}},
       .outputs = {"f32[3] 1 -2 0"}},
      {.name = "no elements",
       .inputs = {"f32[0]"},
       .attrs = {{"message", std::string("here")}},
       .outputs = {"f32[0]"}},
      {.name = "a scalar, f64",
       .inputs = {"f64[] 1e300"},
       .attrs = {{"message", std::string("here")}},
       .outputs = {"f64[] 1e+300"}},
      {.name = "NaN",
       .inputs = {"f32[2] 1 nan"},
       .attrs = {{"message", std::string("here")}},
       .error = "here : Tensor had NaN values"},
      {.name = "infinity",
       .inputs = {"f32[2] 1 -inf"},
       .attrs = {{"message", std::string("here")}},
       .error = "here : Tensor had Inf values"},
      {.name = "both",
       .inputs = {"f64[3] 1 inf nan"},
       .attrs = {{"message", std::string("here")}},
       .error = "here : Tensor had Inf and NaN values"},
  };
}

TROUPE_OP_CASES(CheckNumericsV2) {
  return {
      {.name = "numbers",
       .inputs = {"f32[2] 1 -2"},
       .attrs = {{"message", std::string("wrong")}},
       .outputs = {"f32[2] 1 -2"}},
      {.name = "nothing",
       .inputs = {"f64[0]"},
       .attrs = {{"message", std::string("wrong")}},
       .outputs = {"f64[0]"}},
      {.name = "positive infinity",
       .inputs = {"f32[2] inf 1"},
       .attrs = {{"message", std::string("wrong")}},
       .error = "wrong : Tensor had +Inf values"},
      {.name = "negative infinity, half",
       .inputs = {"f16[2] -inf 1"},
       .attrs = {{"message", std::string("wrong")}},
       .error = "wrong : Tensor had -Inf values"},
      {.name = "NaN, bfloat16",
       .inputs = {"bf16[2] nan 1"},
       .attrs = {{"message", std::string("wrong")}},
       .error = "wrong : Tensor had NaN values"},
      {.name = "infinities",
       .inputs = {"f64[2] inf -inf"},
       .attrs = {{"message", std::string("wrong")}},
       .error = "wrong : Tensor had -Inf and +Inf values"},
      {.name = "all three",
       .inputs = {"f32[3] inf -inf nan"},
       .attrs = {{"message", std::string("wrong")}},
       .error = "wrong : Tensor had -Inf, +Inf, and NaN values"},
  };
}

} // namespace
} // namespace troupe
