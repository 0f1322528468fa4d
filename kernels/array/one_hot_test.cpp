// OneHot.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(OneHot) {
  return {
      {.name = "a scalar",
       .inputs = {"i32[] 1", "i32[] 3", "f32[] 1", "f32[] 0"},
       .outputs = {"f32[3] 0 1 0"}},
      {.name = "a vector",
       .inputs = {"i32[3] 0 2 1", "i32[] 3", "f32[] 1", "f32[] 0"},
       .outputs = {"f32[3,3] 1 0 0 0 0 1 0 1 0"}},
      {.name = "along the first dimension",
       .inputs = {"i64[3] 0 2 1", "i32[] 3", "f32[] 5", "f32[] -1"},
       .attrs = {{"axis", std::int64_t{0}}},
       .outputs = {"f32[3,3] 5 -1 -1 -1 -1 5 -1 5 -1"}},
      {.name = "a matrix, in the middle",
       .inputs = {"i32[2,2] 0 1 1 0", "i32[] 2", "f32[] 1", "f32[] 0"},
       .attrs = {{"axis", std::int64_t{1}}},
       .outputs = {"f32[2,2,2] 1 0 0 1 0 1 1 0"}},
      {.name = "indices outside",
       .inputs = {"i32[4] 0 2 -1 5", "i32[] 3", "f32[] 1", "f32[] 0"},
       .outputs = {"f32[4,3] 1 0 0 0 0 1 0 0 0 0 0 0"}},
      {.name = "a depth of zero",
       .inputs = {"i32[2] 0 1", "i32[] 0", "f32[] 1", "f32[] 0"},
       .outputs = {"f32[2,0]"}},
      {.name = "no elements",
       .inputs = {"i32[0]", "i32[] 3", "f32[] 1", "f32[] 0"},
       .outputs = {"f32[0,3]"}},
      {.name = "dtype bool",
       .inputs = {"i32[2] 0 1", "i32[] 2", "bool[] true", "bool[] false"},
       .outputs = {"bool[2,2] true false false true"}},
      {.name = "dtype i32, bytes as indices",
       .inputs = {"u8[2] 0 1", "i32[] 2", "i32[] 1", "i32[] 0"},
       .outputs = {"i32[2,2] 1 0 0 1"}},
      {.name = "dtype f64",
       .inputs = {"i64[2] 0 1", "i32[] 2", "f64[] 1", "f64[] 0"},
       .outputs = {"f64[2,2] 1 0 0 1"}},
      {.name = "dtype str",
       .inputs = {"i32[2] 0 1", "i32[] 2", "str[] \"y\"", "str[] \"n\""},
       .outputs = {"str[2,2] \"y\" \"n\" \"n\" \"y\""}},
      {.name = "a negative depth",
       .inputs = {"i32[2] 0 1", "i32[] -3", "f32[] 1", "f32[] 0"},
       .error = "depth must be non-negative, got: -3"},
      {.name = "an axis beyond the end",
       .inputs = {"i32[2] 0 1", "i32[] 3", "f32[] 1", "f32[] 0"},
       .attrs = {{"axis", std::int64_t{2}}},
       .error = "Expected axis to be -1 or between [0, 2).  But received: 2"},
  };
}

} // namespace
} // namespace troupe
