// Cases of ListDiff; the values are TensorFlow's.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ListDiff) {
  return {
      {.name = "what the other has is left out",
       .inputs = {"i32[4] 1 2 3 4", "i32[2] 2 9"},
       .outputs = {"i32[3] 1 3 4", "i32[3] 0 2 3"}},
      {.name = "repetitions stay",
       .inputs = {"i64[5] 7 7 1 7 2", "i64[1] 1"},
       .attrs = {{"out_idx", DType::int64}},
       .outputs = {"i64[4] 7 7 7 2", "i64[4] 0 1 3 4"}},
      {.name = "no number equals NaN, and zeros of both signs are equal",
       .inputs = {"f32[3] nan 1 0", "f32[2] nan -0"},
       .outputs = {"f32[2] nan 1", "i32[2] 0 1"}},
      {.name = "text",
       .inputs = {"str[3] \"a\" \"b\" \"longer than any small buffer holds\"", "str[1] \"b\""},
       .outputs = {"str[2] \"a\" \"longer than any small buffer holds\"", "i32[2] 0 2"}},
      {.name = "dtype half",
       .inputs = {"f16[3] 1 2 0", "f16[2] 2 -0"},
       .outputs = {"f16[1] 1", "i32[1] 0"}},
      {.name = "dtype bfloat16",
       .inputs = {"bf16[2] 1 2", "bf16[1] 1"},
       .outputs = {"bf16[1] 2", "i32[1] 1"}},
      {.name = "dtype u64",
       .inputs = {"u64[2] 18446744073709551615 1", "u64[1] 1"},
       .outputs = {"u64[1] 18446744073709551615", "i32[1] 0"}},
      {.name = "nothing", .inputs = {"i32[0]", "i32[1] 1"}, .outputs = {"i32[0]", "i32[0]"}},
      {.name = "nothing to leave out",
       .inputs = {"i32[1] 1", "i32[0]"},
       .outputs = {"i32[1] 1", "i32[1] 0"}},
      {.name = "a matrix is refused",
       .inputs = {"i32[1,2] 1 2", "i32[1] 2"},
       .error = "Shape must be rank 1 but is rank 2"},
      {.name = "a scalar is refused",
       .inputs = {"i32[1] 1", "i32[] 3"},
       .error = "Shape must be rank 1 but is rank 0"},
  };
}

} // namespace
} // namespace troupe
