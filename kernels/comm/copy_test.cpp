#include "tests/support/ops/op_cases.hpp"

#include <doctest/doctest.h>

// Beside a device in host memory both hand their input on; tests/integration/device_types_test.cpp
// runs them beside one that has its own.
TROUPE_OP_CASES(_CopyToHost) {
  return {
      {.name = "floats", .inputs = {"f32[2] 1 -2"}, .outputs = {"f32[2] 1 -2"}},
      {.name = "a scalar", .inputs = {"bool[] true"}, .outputs = {"bool[] true"}},
      {.name = "nothing", .inputs = {"i64[0,3]"}, .outputs = {"i64[0,3]"}},
      {.name = "text", .inputs = {"string[1] \"a\""}, .outputs = {"string[1] \"a\""}},
  };
}

TROUPE_OP_CASES(_CopyToDevice) {
  return {
      {.name = "floats", .inputs = {"f32[2] 1 -2"}, .outputs = {"f32[2] 1 -2"}},
      {.name = "a scalar", .inputs = {"bool[] true"}, .outputs = {"bool[] true"}},
      {.name = "nothing", .inputs = {"i64[0,3]"}, .outputs = {"i64[0,3]"}},
      {.name = "text", .inputs = {"string[1] \"a\""}, .outputs = {"string[1] \"a\""}},
  };
}
