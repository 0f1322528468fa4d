// BitwiseAnd and its kin.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(BitwiseAnd) {
  return {
      {.name = "int32",
       .inputs = {"i32[4] 0 5 3 14", "i32[4] 5 0 7 11"},
       .outputs = {"i32[4] 0 0 3 10"}},
      {.name = "int8, broadcast", .inputs = {"i8[2] 1 -2", "i8[] 3"}, .outputs = {"i8[2] 1 2"}},
      {.name = "uint64",
       .inputs = {"u64[1] 9223372036854775808", "u64[1] 9223372036854775809"},
       .outputs = {"u64[1] 9223372036854775808"}},
      {.name = "nothing", .inputs = {"i32[0]", "i32[] 1"}, .outputs = {"i32[0]"}},
  };
}

TROUPE_OP_CASES(BitwiseOr) {
  return {
      {.name = "int32",
       .inputs = {"i32[4] 0 5 3 14", "i32[4] 5 0 7 11"},
       .outputs = {"i32[4] 5 5 7 15"}},
      {.name = "int8, broadcast", .inputs = {"i8[2] 1 -2", "i8[] 3"}, .outputs = {"i8[2] 3 -1"}},
      {.name = "uint64",
       .inputs = {"u64[1] 9223372036854775808", "u64[1] 9223372036854775809"},
       .outputs = {"u64[1] 9223372036854775809"}},
      {.name = "nothing", .inputs = {"i32[0]", "i32[] 1"}, .outputs = {"i32[0]"}},
  };
}

TROUPE_OP_CASES(BitwiseXor) {
  return {
      {.name = "int32",
       .inputs = {"i32[4] 0 5 3 14", "i32[4] 5 0 7 11"},
       .outputs = {"i32[4] 5 5 4 5"}},
      {.name = "int8, broadcast", .inputs = {"i8[2] 1 -2", "i8[] 3"}, .outputs = {"i8[2] 2 -3"}},
      {.name = "uint64",
       .inputs = {"u64[1] 9223372036854775808", "u64[1] 9223372036854775809"},
       .outputs = {"u64[1] 1"}},
      {.name = "nothing", .inputs = {"i32[0]", "i32[] 1"}, .outputs = {"i32[0]"}},
  };
}

TROUPE_OP_CASES(LeftShift) {
  return {
      {.name = "int32",
       .inputs = {"i32[4] 1 1 1 -8", "i32[4] -1 31 40 2"},
       .outputs = {"i32[4] 1 -2147483648 -2147483648 -32"}},
      {.name = "int8",
       .inputs = {"i8[3] 1 1 -2", "i8[3] 7 8 1"},
       .outputs = {"i8[3] -128 -128 -4"}},
      {.name = "uint16", .inputs = {"u16[1] 65535", "u16[1] 4"}, .outputs = {"u16[1] 65520"}},
      {.name = "broadcast",
       .inputs = {"i64[2,1] 1 2", "i64[2] 3 60"},
       .outputs = {"i64[2,2] 8 1152921504606846976 16 2305843009213693952"}},
  };
}

TROUPE_OP_CASES(RightShift) {
  return {
      {.name = "int32",
       .inputs = {"i32[4] 1 1 1 -8", "i32[4] -1 31 40 2"},
       .outputs = {"i32[4] 1 0 0 -2"}},
      {.name = "int8", .inputs = {"i8[3] 1 1 -2", "i8[3] 7 8 1"}, .outputs = {"i8[3] 0 0 -1"}},
      {.name = "uint16", .inputs = {"u16[1] 65535", "u16[1] 4"}, .outputs = {"u16[1] 4095"}},
      {.name = "broadcast",
       .inputs = {"i64[2,1] 1 2", "i64[2] 3 60"},
       .outputs = {"i64[2,2] 0 0 0 0"}},
  };
}

TROUPE_OP_CASES(Invert) {
  return {
      {.name = "int8", .inputs = {"i8[3] 0 -1 5"}, .outputs = {"i8[3] -1 0 -6"}},
      {.name = "uint16", .inputs = {"u16[2] 0 65535"}, .outputs = {"u16[2] 65535 0"}},
      {.name = "nothing", .inputs = {"i64[0]"}, .outputs = {"i64[0]"}},
  };
}

TROUPE_OP_CASES(PopulationCount) {
  return {
      {.name = "int8", .inputs = {"i8[3] 0 -1 5"}, .outputs = {"u8[3] 0 8 2"}},
      {.name = "uint64", .inputs = {"u64[1] 18446744073709551615"}, .outputs = {"u8[1] 64"}},
      {.name = "int16", .inputs = {"i16[1] -1"}, .outputs = {"u8[1] 16"}},
  };
}

} // namespace
} // namespace troupe
