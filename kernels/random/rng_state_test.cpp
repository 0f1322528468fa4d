// Cases of the random ops whose state is a variable; numbers are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

const std::vector<std::pair<int, std::string>> advanced = {{0, "i64[3] 775 9 5"}};
const std::vector<std::pair<int, std::string>> untouched = {{0, "i64[3] 7 9 5"}};
constexpr auto state = "res i64[3] 7 9 5";

TROUPE_OP_CASES(RngSkip) {
  return {
      {.name = "three numbers", .inputs = {state, "i64[] 1", "i64[] 3"}, .after = advanced},
      {.name = "the counter carries",
       .inputs = {"res i64[3] -256 9 5", "i64[] 1", "i64[] 1"},
       .after = {{0, "i64[3] 0 10 5"}}},
      {.name = "another algorithm",
       .inputs = {state, "i64[] 9", "i64[] 3"},
       .error = "Unsupported algorithm id: 9"},
  };
}

TROUPE_OP_CASES(RngReadAndSkip) {
  return {
      {.name = "three numbers",
       .inputs = {state, "i32[] 1", "u64[] 3"},
       .outputs = {"i64[3] 7 9 5"},
       .after = advanced},
      {.name = "a short state",
       .inputs = {"res i64[2] 7 9", "i32[] 1", "u64[] 3"},
       .error = "For the Philox algorithm, the size of state must be at least 3; got 2"},
      {.name = "a state of another dtype",
       .inputs = {"res i32[3] 7 9 5", "i32[] 1", "u64[] 3"},
       .error = "dtype of RNG state variable must be int64, not int32"},
      {.name = "a matrix of state",
       .inputs = {"res i64[1,3] 7 9 5", "i32[] 1", "u64[] 3"},
       .error = "RNG state must have one and only one dimension, not 2"},
      {.name = "a state that nobody assigned",
       .inputs = {"res uninit i64", "i32[] 1", "u64[] 3"},
       .error = "Container localhost does not exist. (Could not find resource: localhost/input_0)"},
  };
}

TROUPE_OP_CASES(StatefulUniform) {
  return {
      {.name = "float32",
       .inputs = {state, "i64[] 1", "i64[1] 3"},
       .attrs = {{"dtype", DType::float32}},
       .outputs = {"f32[3] 0.264794 0.73640835 0.39208686"},
       .after = advanced},
      {.name = "nothing",
       .inputs = {state, "i64[] 1", "i64[1] 0"},
       .attrs = {{"dtype", DType::float32}},
       .outputs = {"f32[0]"},
       .after = untouched},
      {.name = "ThreeFry",
       .inputs = {state, "i64[] 2", "i64[1] 3"},
       .attrs = {{"dtype", DType::float32}},
       .error = "Non-XLA devices don't support the ThreeFry algorithm."},
      {.name = "a vector of algorithms",
       .inputs = {state, "i64[1] 1", "i64[1] 3"},
       .attrs = {{"dtype", DType::float32}},
       .error = "Shape must be rank 0 but is rank 1"},
  };
}

TROUPE_OP_CASES(StatefulStandardNormalV2) {
  return {
      {.name = "float32",
       .inputs = {state, "i64[] 1", "i64[1] 3"},
       .attrs = {{"dtype", DType::float32}},
       .outputs = {"f32[3] -1.6242758 -0.13904917 1.0734227"},
       .after = advanced},
      {.name = "float64",
       .inputs = {state, "i64[] 1", "i32[1] 3"},
       .attrs = {{"dtype", DType::float64}},
       .outputs = {"f64[3] 1.56416347 1.34965822 -0.11144528"},
       .after = advanced,
       .tolerance = 1e-7,
       .tolerance_reason = "values are written with nine digits"},
  };
}

TROUPE_OP_CASES(StatefulTruncatedNormal) {
  return {
      {.name = "float32",
       .inputs = {state, "i64[] 1", "i64[1] 3"},
       .attrs = {{"dtype", DType::float32}},
       .outputs = {"f32[3] -1.6242758 -0.13904917 1.0734227"},
       .after = advanced},
  };
}

TROUPE_OP_CASES(StatefulUniformInt) {
  return {
      {.name = "int64",
       .inputs = {state, "i64[] 1", "i64[1] 3", "i64[] 3", "i64[] 90"},
       .outputs = {"i64[3] 65 40 23"},
       .after = advanced},
      {.name = "no range",
       .inputs = {state, "i64[] 1", "i64[1] 3", "i64[] 3", "i64[] 3"},
       .error = "Need minval < maxval, got 3 >= 3"},
  };
}

TROUPE_OP_CASES(StatefulUniformFullInt) {
  return {
      {.name = "uint64",
       .inputs = {state, "i64[] 1", "i64[1] 3"},
       .attrs = {{"dtype", DType::uint64}},
       .outputs = {"u64[3] 566963863185122501 8119322786418274279 16879833511832005226"},
       .after = advanced},
      {.name = "int32",
       .inputs = {state, "i64[] 1", "i64[1] 5"},
       .attrs = {{"dtype", DType::int32}},
       .outputs = {"i32[5] 832693445 132006561 1697787879 1890427150 1417357930"},
       .after = {{0, "i64[3] 1287 9 5"}}},
  };
}

TROUPE_OP_CASES(NonDeterministicInts) {
  return {
      {.name = "int32",
       .inputs = {"i64[2] 2 3"},
       .attrs = {{"dtype", DType::int32}},
       .outputs = {"?"}},
      {.name = "nothing",
       .inputs = {"i64[1] 0"},
       .attrs = {{"dtype", DType::uint64}},
       .outputs = {"u64[0]"}},
      {.name = "a scalar shape",
       .inputs = {"i64[] 2"},
       .error = "Shape must be rank 1 but is rank 0"},
  };
}

} // namespace
} // namespace troupe
