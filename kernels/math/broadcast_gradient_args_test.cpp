// BroadcastGradientArgs.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(BroadcastGradientArgs) {
  return {
      {.name = "two scalars", .inputs = {"i32[0]", "i32[0]"}, .outputs = {"i32[0]", "i32[0]"}},
      {.name = "equal shapes",
       .inputs = {"i32[2] 2 3", "i32[2] 2 3"},
       .outputs = {"i32[0]", "i32[0]"}},
      {.name = "equal shapes of ones",
       .inputs = {"i32[1] 1", "i32[1] 1"},
       .outputs = {"i32[0]", "i32[0]"}},
      {.name = "a scalar and a matrix",
       .inputs = {"i32[0]", "i32[2] 2 3"},
       .outputs = {"i32[2] 0 1", "i32[0]"}},
      {.name = "both stretched",
       .inputs = {"i32[3] 2 1 3", "i32[3] 2 5 1"},
       .outputs = {"i32[1] 1", "i32[1] 2"}},
      {.name = "ones on both sides",
       .inputs = {"i32[3] 2 1 3", "i32[3] 2 1 1"},
       .outputs = {"i32[1] 1", "i32[2] 1 2"}},
      {.name = "a shorter shape",
       .inputs = {"i32[3] 1 1 2", "i32[2] 1 2"},
       .outputs = {"i32[2] 0 1", "i32[2] 0 1"}},
      {.name = "an empty dimension",
       .inputs = {"i32[1] 0", "i32[1] 1"},
       .outputs = {"i32[0]", "i32[1] 0"}},
      {.name = "dtype i64",
       .inputs = {"i64[3] 2 1 3", "i64[1] 3"},
       .outputs = {"i64[1] 1", "i64[2] 0 1"}},
      {.name = "shapes that do not broadcast",
       .inputs = {"i32[1] 2", "i32[1] 3"},
       .error = "Incompatible shapes: [2] vs. [3]"},
      {.name = "a matrix is no shape",
       .inputs = {"i32[1,1] 1", "i32[1] 1"},
       .error = "In[0] must be a vector.[1,1]"},
  };
}

TROUPE_OP_CASES(BroadcastArgs) {
  return {
      {.name = "two scalars", .inputs = {"i32[0]", "i32[0]"}, .outputs = {"i32[0]"}},
      {.name = "equal shapes", .inputs = {"i32[2] 2 3", "i32[2] 2 3"}, .outputs = {"i32[2] 2 3"}},
      {.name = "both stretched",
       .inputs = {"i32[3] 2 1 3", "i32[2] 5 1"},
       .outputs = {"i32[3] 2 5 3"}},
      {.name = "dtype i64", .inputs = {"i64[2] 2 1", "i64[1] 0"}, .outputs = {"i64[2] 2 0"}},
      {.name = "shapes that do not broadcast",
       .inputs = {"i32[1] 2", "i32[1] 3"},
       .error = "Incompatible shapes: [2] vs. [3]"},
  };
}

} // namespace
} // namespace troupe
