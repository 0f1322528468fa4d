// SparseToDense.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SparseToDense) {
  return {
      {.name = "a vector",
       .inputs = {"i32[2] 0 2", "i32[1] 4", "f32[2] 5 6", "f32[] 1"},
       .outputs = {"f32[4] 5 1 6 1"}},
      {.name = "a matrix",
       .inputs = {"i64[2,2] 0 1 1 0", "i64[2] 2 2", "f32[2] 5 6", "f32[] 0"},
       .outputs = {"f32[2,2] 0 5 6 0"}},
      {.name = "one value",
       .inputs = {"i32[2] 0 2", "i32[1] 3", "f32[] 5", "f32[] 1"},
       .outputs = {"f32[3] 5 1 5"},
       .check_gradient = false,
       .no_gradient_reason = "one value for all places"},
      {.name = "one index",
       .inputs = {"i32[] 1", "i32[1] 3", "f32[] 5", "f32[] 1"},
       .outputs = {"f32[3] 1 5 1"}},
      {.name = "text",
       .inputs = {"i32[1] 1", "i32[1] 2", "str[1] \"x\"", "str[] \"\""},
       .outputs = {"str[2] \"\" \"x\""}},
      {.name = "booleans",
       .inputs = {"i32[1] 1", "i32[1] 2", "bool[1] true", "bool[] false"},
       .outputs = {"bool[2] false true"}},
      {.name = "nothing",
       .inputs = {"i32[0,1]", "i32[1] 2", "f32[0]", "f32[] 3"},
       .outputs = {"f32[2] 3 3"}},
      {.name = "not checked",
       .inputs = {"i32[2] 1 0", "i32[1] 2", "f32[2] 1 2", "f32[] 0"},
       .attrs = {{"validate_indices", false}},
       .outputs = {"f32[2] 2 1"}},
      {.name = "not checked, repeated",
       .inputs = {"i32[2] 1 1", "i32[1] 2", "i32[2] 1 2", "i32[] 0"},
       .attrs = {{"validate_indices", false}},
       .outputs = {"i32[2] 0 2"}},
      {.name = "out of order",
       .inputs = {"i32[2] 1 0", "i32[1] 2", "f32[2] 1 2", "f32[] 0"},
       .error = "indices[1] = [0] is out of order. Many sparse ops require sorted indices."},
      {.name = "repeated",
       .inputs = {"i32[2] 1 1", "i32[1] 2", "f32[2] 1 2", "f32[] 0"},
       .error = "indices[1] = [1] is repeated"},
      {.name = "outside",
       .inputs = {"i32[1] 7", "i32[1] 2", "f32[1] 1", "f32[] 0"},
       .error = "indices[0] = [7] is out of bounds: need 0 <= index < [2]"},
      {.name = "outside, not checked",
       .inputs = {"i32[1] 7", "i32[1] 2", "f32[1] 1", "f32[] 0"},
       .attrs = {{"validate_indices", false}},
       .error = "Indices are not valid (out of bounds).  Shape: [2]"},
      {.name = "too few values",
       .inputs = {"i32[2] 0 1", "i32[1] 2", "f32[1] 1", "f32[] 0"},
       .error = "sparse_values has incorrect shape [1], should be [] or [2]"},
      {.name = "a vector of defaults",
       .inputs = {"i32[1] 0", "i32[1] 2", "f32[1] 1", "f32[1] 0"},
       .error = "default_value should be a scalar"},
      {.name = "the wrong depth",
       .inputs = {"i32[1,2] 0 1", "i32[1] 2", "f32[1] 1", "f32[] 0"},
       .error = "output_shape has incorrect number of elements: 1 should be: 2"},
  };
}

} // namespace
} // namespace troupe
