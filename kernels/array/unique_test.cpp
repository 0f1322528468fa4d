// Cases of Unique and UniqueWithCounts.
#include <string>

#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

/// Numbers 0, step, 2 step, …, below `below`, as often as it takes to have `count` of them.
std::string many(int count, int step, int below) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += " " + std::to_string(i * step % below);
  return out;
}

TROUPE_OP_CASES(Unique) {
  return {
      {.name = "more than few",
       .inputs = {"i32[900]" + many(900, 7, 2100)},
       .outputs = {"i32[300]" + many(300, 7, 2100), "i32[900]" + many(900, 1, 300)}},
      {.name = "more than few floats",
       .inputs = {"f32[900]" + many(900, 7, 2100)},
       .outputs = {"f32[300]" + many(300, 7, 2100), "i32[900]" + many(900, 1, 300)}},
      {.name = "in the order of their first coming",
       .inputs = {"i32[6] 5 3 5 9 3 3"},
       .outputs = {"i32[3] 5 3 9", "i32[6] 0 1 0 2 1 1"}},
      {.name = "wide positions",
       .inputs = {"i64[3] 7 7 -7"},
       .attrs = {{"out_idx", DType::int64}},
       .outputs = {"i64[2] 7 -7", "i64[3] 0 0 1"}},
      {.name = "text",
       .inputs = {"str[3] \"a\" \"b\" \"a\""},
       .outputs = {"str[2] \"a\" \"b\"", "i32[3] 0 1 0"}},
      {.name = "no number equals NaN",
       .inputs = {"f32[3] nan 1 nan"},
       .outputs = {"f32[3] nan 1 nan", "i32[3] 0 1 2"}},
      {.name = "zeros of both signs are equal",
       .inputs = {"f64[2] 0 -0"},
       .outputs = {"f64[1] 0", "i32[2] 0 0"}},
      {.name = "dtype bool",
       .inputs = {"bool[3] true false true"},
       .outputs = {"bool[2] true false", "i32[3] 0 1 0"}},
      {.name = "dtype u8", .inputs = {"u8[2] 255 255"}, .outputs = {"u8[1] 255", "i32[2] 0 0"}},
      {.name = "nothing", .inputs = {"i32[0]"}, .outputs = {"i32[0]", "i32[0]"}},
      {.name = "a matrix is refused",
       .inputs = {"i32[1,1] 0"},
       .error = "Shape must be rank 1 but is rank 2"},
  };
}

TROUPE_OP_CASES(UniqueWithCounts) {
  return {
      {.name = "counts",
       .inputs = {"i32[6] 5 3 5 9 3 3"},
       .outputs = {"i32[3] 5 3 9", "i32[6] 0 1 0 2 1 1", "i32[3] 2 3 1"}},
      {.name = "nothing", .inputs = {"str[0]"}, .outputs = {"str[0]", "i32[0]", "i32[0]"}},
  };
}

TROUPE_OP_CASES(UniqueV2) {
  return {
      {
          .name = "rows",
          .inputs = {"i32[3,3] 1 0 0 1 0 0 2 0 0", "i64[1] 0"},
          .outputs = {"i32[2,3] 1 0 0 2 0 0", "i32[3] 0 0 1"},
      },
      {
          .name = "columns",
          .inputs = {"i32[3,3] 1 0 0 1 0 0 2 0 0", "i64[1] 1"},
          .outputs = {"i32[3,2] 1 0 1 0 2 0", "i32[3] 0 1 1"},
      },
      {
          .name = "columns from the end",
          .inputs = {"i32[3,3] 1 0 0 1 0 0 2 0 0", "i32[1] -1"},
          .attrs = {{"out_idx", DType::int64}},
          .outputs = {"i32[3,2] 1 0 1 0 2 0", "i64[3] 0 1 1"},
      },
      {
          .name = "a vector without an axis",
          .inputs = {"i32[4] 1 1 2 1", "i64[0]"},
          .outputs = {"i32[2] 1 2", "i32[4] 0 0 1 0"},
      },
      {
          .name = "text",
          .inputs = {"str[4] \"b\" \"a\" \"b\" \"c\"", "i64[1] 0"},
          .outputs = {"str[3] \"b\" \"a\" \"c\"", "i32[4] 0 1 0 2"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "i64[1] 0"},
          .outputs = {"f32[0,3]", "i32[0]"},
      },
      {
          .name = "empty rows are one",
          .inputs = {"f32[2,0]", "i64[1] 0"},
          .outputs = {"f32[1,0]", "i32[2] 0"},
      },
      {
          .name = "no columns",
          .inputs = {"f32[2,0]", "i64[1] 1"},
          .outputs = {"f32[2,0]", "i32[0]"},
      },
      {
          .name = "NaN is like nothing, -0 is 0",
          .inputs = {"f32[5] 1 nan nan -0 0", "i64[1] 0"},
          .outputs = {"f32[4] 1 nan nan -0", "i32[5] 0 1 2 3 3"},
      },
      {
          .name = "rank 3",
          .inputs = {"u8[2,3,2] 1 2 3 4 1 2 5 6 7 8 5 6", "i64[1] 1"},
          .outputs = {"u8[2,2,2] 1 2 3 4 5 6 7 8", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype f32",
          .inputs = {"f32[3] 3 1 3", "i64[0]"},
          .outputs = {"f32[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype f64",
          .inputs = {"f64[3] 3 1 3", "i64[0]"},
          .outputs = {"f64[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype f16",
          .inputs = {"f16[3] 3 1 3", "i64[0]"},
          .outputs = {"f16[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"bf16[3] 3 1 3", "i64[0]"},
          .outputs = {"bf16[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i8[3] 3 1 3", "i64[0]"},
          .outputs = {"i8[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i16[3] 3 1 3", "i64[0]"},
          .outputs = {"i16[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i32[3] 3 1 3", "i64[0]"},
          .outputs = {"i32[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[3] 3 1 3", "i64[0]"},
          .outputs = {"i64[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype u8",
          .inputs = {"u8[3] 3 1 3", "i64[0]"},
          .outputs = {"u8[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype u16",
          .inputs = {"u16[3] 3 1 3", "i64[0]"},
          .outputs = {"u16[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype u32",
          .inputs = {"u32[3] 3 1 3", "i64[0]"},
          .outputs = {"u32[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "dtype u64",
          .inputs = {"u64[3] 3 1 3", "i64[0]"},
          .outputs = {"u64[2] 3 1", "i32[3] 0 1 0"},
      },
      {
          .name = "bool",
          .inputs = {"bool[3] true false true", "i64[0]"},
          .outputs = {"bool[2] true false", "i32[3] 0 1 0"},
      },
  };
}

TROUPE_OP_CASES(UniqueWithCountsV2) {
  return {
      {
          .name = "rows",
          .inputs = {"i32[3,3] 1 0 0 1 0 0 2 0 0", "i64[1] 0"},
          .outputs = {"i32[2,3] 1 0 0 2 0 0", "i32[3] 0 0 1", "i32[2] 2 1"},
      },
      {
          .name = "columns",
          .inputs = {"i32[3,3] 1 0 0 1 0 0 2 0 0", "i64[1] 1"},
          .attrs = {{"out_idx", DType::int64}},
          .outputs = {"i32[3,2] 1 0 1 0 2 0", "i64[3] 0 1 1", "i64[2] 1 2"},
      },
      {
          .name = "a vector",
          .inputs = {"i32[4] 1 1 2 1", "i64[0]"},
          .outputs = {"i32[2] 1 2", "i32[4] 0 0 1 0", "i32[2] 3 1"},
      },
  };
}

} // namespace
} // namespace troupe
