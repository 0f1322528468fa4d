// Cases of ParallelConcat.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ParallelConcat) {
  return {
      {
          .name = "rows",
          .inputs = {"f32[1,2] 1 2", "f32[1,2] 3 4"},
          .attrs = {{"shape", PartialShape{2, 2}}},
          .outputs = {"f32[2,2] 1 2 3 4"},
      },
      {
          .name = "text",
          .inputs = {"str[1] \"a\"", "str[1] \"b\"", "str[1] \"c\""},
          .attrs = {{"shape", PartialShape{3}}},
          .outputs = {"str[3] \"a\" \"b\" \"c\""},
      },
      {.name = "a shape with other rows",
       .inputs = {"f32[1,2] 1 2", "f32[1,2] 3 4"},
       .attrs = {{"shape", PartialShape{3, 2}}},
       .error = "Wrong size for dimension 0"},
      {.name = "a shape that is not known",
       .inputs = {"f32[1,2] 1 2", "f32[1,2] 3 4"},
       .attrs = {{"shape", PartialShape{2, -1}}},
       .error = "All inputs must have fully defined shapes."},
      {.name = "two rows at once",
       .inputs = {"f32[2,2] 1 2 1 2", "f32[1,2] 3 4"},
       .attrs = {{"shape", PartialShape{2, 2}}},
       .error = "update shape doesn't match: [2,2]"},
      {.name = "a row of another length",
       .inputs = {"f32[1,3] 1 2 1", "f32[1,2] 3 4"},
       .attrs = {{"shape", PartialShape{2, 2}}},
       .error = "value and update shape doesn't match [2,2] vs. [1,3]"},
  };
}

} // namespace
} // namespace troupe
