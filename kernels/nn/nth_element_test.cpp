// Cases of NthElement; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(NthElement) {
  return {
      {
          .name = "the second smallest",
          .inputs = {"f32[2,3] 3 1 2 4 6 5", "i32[] 1"},
          .outputs = {"f32[2] 2 5"},
      },
      {
          .name = "the largest",
          .inputs = {"f32[2,3] 3 1 2 4 6 5", "i32[] 0"},
          .attrs = {{"reverse", true}},
          .outputs = {"f32[2] 3 6"},
      },
      {
          .name = "the second largest",
          .inputs = {"f32[2,4] 3 1 2 9 4 6 5 9", "i32[] 1"},
          .attrs = {{"reverse", true}},
          .outputs = {"f32[2] 3 6"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "i32[] 1"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "rank 3",
          .inputs = {"i32[1,2,2] 4 3 1 2", "i32[] 0"},
          .outputs = {"i32[1,2] 3 1"},
      },
      {
          .name = "dtype f32",
          .inputs = {"f32[3] 3 1 2", "i32[] 1"},
          .outputs = {"f32[] 2"},
      },
      {
          .name = "dtype f64",
          .inputs = {"f64[3] 3 1 2", "i32[] 1"},
          .outputs = {"f64[] 2"},
      },
      {
          .name = "dtype f16",
          .inputs = {"f16[3] 3 1 2", "i32[] 1"},
          .outputs = {"f16[] 2"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"bf16[3] 3 1 2", "i32[] 1"},
          .outputs = {"bf16[] 2"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i8[3] 3 1 2", "i32[] 1"},
          .outputs = {"i8[] 2"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i16[3] 3 1 2", "i32[] 1"},
          .outputs = {"i16[] 2"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i32[3] 3 1 2", "i32[] 1"},
          .outputs = {"i32[] 2"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3] 3 1 2", "i32[] 1"},
          .outputs = {"i64[] 2"},
      },
      {
          .name = "dtype u8",
          .inputs = {"u8[3] 3 1 2", "i32[] 1"},
          .outputs = {"u8[] 2"},
      },
      {
          .name = "dtype u16",
          .inputs = {"u16[3] 3 1 2", "i32[] 1"},
          .outputs = {"u16[] 2"},
      },
      {
          .name = "dtype u32",
          .inputs = {"u32[3] 3 1 2", "i32[] 1"},
          .outputs = {"u32[] 2"},
      },
      {
          .name = "dtype u64",
          .inputs = {"u64[3] 3 1 2", "i32[] 1"},
          .outputs = {"u64[] 2"},
      },
      {
          .name = "beyond the row",
          .inputs = {"f32[2] 3 1", "i32[] 2"},
          .error = "Input must have last dimension > n = 2",
      },
      {
          .name = "a negative place",
          .inputs = {"f32[2] 3 1", "i32[] -1"},
          .error = "n must be non-negative but is -1",
      },
  };
}

} // namespace
} // namespace troupe
