// Cases of IsotonicRegression; numbers are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(IsotonicRegression) {
  const std::string segments = "i32[3,5] 0 1 1 1 2 0 0 0 0 0 0 1 2 3 4";
  const std::string means =
      "f64[3,5] 3 1.6666666666666667 1.6666666666666667 1.6666666666666667 -1 "
      "3 3 3 3 3 5 4 3 3 1";
  const std::string float_means =
      "f32[3,5] 3 1.66666663 1.66666663 1.66666663 -1 3 3 3 3 3 5 4 3 3 1";
  const std::string rows = "[3,5] 3 1 2 2 -1 1 2 3 4 5 5 4 3 3 1";
  const auto to = [](DType dtype) {
    return std::vector<std::pair<std::string, AttrValue>>{{"output_dtype", dtype}};
  };
  return {
      {.name = "float", .inputs = {"f32" + rows}, .outputs = {float_means, segments}},
      {.name = "double",
       .inputs = {"f64" + rows},
       .attrs = to(DType::float64),
       .outputs = {means, segments}},
      {.name = "int8", .inputs = {"i8" + rows}, .outputs = {float_means, segments}},
      {.name = "int16", .inputs = {"i16" + rows}, .outputs = {float_means, segments}},
      {.name = "int32",
       .inputs = {"i32" + rows},
       .attrs = to(DType::float64),
       .outputs = {means, segments}},
      {.name = "int64",
       .inputs = {"i64" + rows},
       .attrs = to(DType::float64),
       .outputs = {means, segments}},
      {.name = "half",
       .inputs = {"f16[1,4] 3 1 2 2"},
       .attrs = to(DType::float16),
       .outputs = {"f16[1,4] 3 1.66699219 1.66699219 1.66699219", "i32[1,4] 0 1 1 1"}},
      {.name = "bfloat16",
       .inputs = {"bf16[1,4] 3 1 2 2"},
       .attrs = to(DType::bfloat16),
       .outputs = {"bf16[1,4] 3 1.671875 1.671875 1.671875", "i32[1,4] 0 1 1 1"}},
      {.name = "three dimensions",
       .inputs = {"f32[2,1,2] 1 2 2 1"},
       .outputs = {"f32[2,1,2] 1.5 1.5 2 1", "i32[2,1,2] 0 0 0 1"}},
      {.name = "infinity and no number",
       .inputs = {"f32[4] inf nan 1 2"},
       .outputs = {"f32[4] inf nan 1.5 1.5", "i32[4] 0 1 2 2"}},
      {.name = "a scalar", .inputs = {"f32[] 3"}, .outputs = {"f32[] 3", "i32[] 0"}},
      {.name = "no rows", .inputs = {"f32[0,2]"}, .outputs = {"f32[0,2]", "i32[0,2]"}},
      {.name = "empty rows", .inputs = {"f32[2,0]"}, .outputs = {"f32[2,0]", "i32[2,0]"}},
  };
}

} // namespace
} // namespace troupe
