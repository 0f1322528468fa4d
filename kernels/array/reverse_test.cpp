// ReverseV2.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ReverseV2) {
  return {
      {.name = "a vector", .inputs = {"f32[3] 1 2 3", "i32[1] 0"}, .outputs = {"f32[3] 3 2 1"}},
      {.name = "both ways",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2] 0 1"},
       .outputs = {"f32[2,3] 6 5 4 3 2 1"}},
      {.name = "columns",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[1] -1"},
       .outputs = {"f32[2,3] 3 2 1 6 5 4"}},
      {.name = "no axis", .inputs = {"f32[2] 1 2", "i32[0]"}, .outputs = {"f32[2] 1 2"}},
      {.name = "no elements", .inputs = {"f32[0,3]", "i32[1] 0"}, .outputs = {"f32[0,3]"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,2,2] 1 2 3 4 5 6 7 8", "i32[2] 1 3"},
       .outputs = {"f32[1,2,2,2] 6 5 8 7 2 1 4 3"}},
      {.name = "dtype i32", .inputs = {"i32[2] 1 2", "i32[1] 0"}, .outputs = {"i32[2] 2 1"}},
      {.name = "dtype str",
       .inputs = {"str[2] \"a\" \"b\"", "i32[1] 0"},
       .outputs = {"str[2] \"b\" \"a\""}},
      {.name = "beyond the end",
       .inputs = {"f32[2] 1 2", "i32[1] 1"},
       .error = "is out of valid range [0, 0"},
      {.name = "twice the same",
       .inputs = {"f32[1,2] 1 2", "i32[2] 1 -1"},
       .error = "axis 1 specified more than once."},
  };
}

TROUPE_OP_CASES(Reverse) {
  return {
      {
          .name = "rows",
          .inputs = {"i32[2,2] 1 2 3 4", "bool[2] true false"},
          .outputs = {"i32[2,2] 3 4 1 2"},
      },
      {
          .name = "both",
          .inputs = {"str[2,2] \"a\" \"b\" \"c\" \"d\"", "bool[2] true true"},
          .outputs = {"str[2,2] \"d\" \"c\" \"b\" \"a\""},
      },
      {
          .name = "neither",
          .inputs = {"f32[2,1] 1 2", "bool[2] false"},
          .outputs = {"f32[2,1] 1 2"},
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 1", "bool[0]"},
          .outputs = {"f32[] 1"},
      },
      {
          .name = "rank 3",
          .inputs = {"c64[1,2,2] (1,2) (3,4) (5,6) (7,8)", "bool[3] true false true"},
          .outputs = {"c64[1,2,2] (3,4) (1,2) (7,8) (5,6)"},
      },
      {
          .name = "one flag for two",
          .inputs = {"i32[2,2] 1 2 3 4", "bool[1] true"},
          .error = "'dims' must have the same number of values as 'input' has "
                   "dimensions. 'input' has 2'dims' has 1 values",
      },
      {
          .name = "rank 9",
          .inputs = {"i32[1,1,1,1,1,1,1,1,1] 1", "bool[9] true"},
          .error = "reverse",
      },
  };
}

} // namespace
} // namespace troupe
