// Cases of Cross; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Cross) {
  return {
      {
          .name = "rows",
          .inputs = {"f32[2,3] 1 2 3 0 1 0", "f32[2,3] 4 5 6 1 0 0"},
          .outputs = {"f32[2,3] -3 6 -3 0 0 -1"},
      },
      {
          .name = "no vector",
          .inputs = {"f32[0,3]", "f32[0,3]"},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "dtype f32",
          .inputs = {"f32[3] 3 2 3", "f32[3] 1 2 5"},
          .outputs = {"f32[3] 4 -12 4"},
      },
      {
          .name = "dtype f64",
          .inputs = {"f64[3] 3 2 3", "f64[3] 1 2 5"},
          .outputs = {"f64[3] 4 -12 4"},
      },
      {
          .name = "dtype f16",
          .inputs = {"f16[3] 3 2 3", "f16[3] 1 2 5"},
          .outputs = {"f16[3] 4 -12 4"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"bf16[3] 3 2 3", "bf16[3] 1 2 5"},
          .outputs = {"bf16[3] 4 -12 4"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i8[3] 3 2 3", "i8[3] 1 2 5"},
          .outputs = {"i8[3] 4 -12 4"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i16[3] 3 2 3", "i16[3] 1 2 5"},
          .outputs = {"i16[3] 4 -12 4"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i32[3] 3 2 3", "i32[3] 1 2 5"},
          .outputs = {"i32[3] 4 -12 4"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3] 3 2 3", "i64[3] 1 2 5"},
          .outputs = {"i64[3] 4 -12 4"},
      },
      {
          .name = "dtype u8",
          .inputs = {"u8[3] 3 2 3", "u8[3] 1 2 5"},
          .outputs = {"u8[3] 4 244 4"},
      },
      {
          .name = "dtype u16",
          .inputs = {"u16[3] 3 2 3", "u16[3] 1 2 5"},
          .outputs = {"u16[3] 4 65524 4"},
      },
      {
          .name = "dtype u32",
          .inputs = {"u32[3] 3 2 3", "u32[3] 1 2 5"},
          .outputs = {"u32[3] 4 4294967284 4"},
      },
      {
          .name = "dtype u64",
          .inputs = {"u64[3] 3 2 3", "u64[3] 1 2 5"},
          .outputs = {"u64[3] 4 18446744073709551604 4"},
      },
  };
}

} // namespace
} // namespace troupe
