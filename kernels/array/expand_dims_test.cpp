// ExpandDims, Squeeze, EnsureShape.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ExpandDims) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 5", "i32[] 0"}, .outputs = {"f32[1] 5"}},
      {.name = "in front", .inputs = {"f32[2] 1 2", "i32[] 0"}, .outputs = {"f32[1,2] 1 2"}},
      {.name = "behind", .inputs = {"f32[2] 1 2", "i32[] -1"}, .outputs = {"f32[2,1] 1 2"}},
      {.name = "in the middle",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[] 1"},
       .outputs = {"f32[2,1,3] 1 2 3 4 5 6"}},
      {.name = "counted from the end",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[] -2"},
       .outputs = {"f32[2,1,3] 1 2 3 4 5 6"}},
      {.name = "no elements", .inputs = {"f32[0]", "i32[] 1"}, .outputs = {"f32[0,1]"}},
      {.name = "a vector of one",
       .inputs = {"f32[2] 1 2", "i32[1] 1"},
       .outputs = {"f32[2,1] 1 2"}},
      {.name = "dtype i64", .inputs = {"i64[2] 1 2", "i32[] 1"}, .outputs = {"i64[2,1] 1 2"}},
      {.name = "dtype str", .inputs = {"str[1] \"a\"", "i32[] 1"}, .outputs = {"str[1,1] \"a\""}},
      {.name = "beyond the end",
       .inputs = {"f32[2] 1 2", "i32[] 3"},
       .error = "Tried to expand dim index 3 for tensor with 1 dimensions."},
      {.name = "two numbers",
       .inputs = {"f32[2] 1 2", "i32[2] 0 1"},
       .error = "'dim' must be a tensor with a single value"},
  };
}

TROUPE_OP_CASES(Squeeze) {
  return {
      {.name = "all", .inputs = {"f32[1,2,1] 1 2"}, .outputs = {"f32[2] 1 2"}},
      {.name = "to a scalar", .inputs = {"f32[1,1] 5"}, .outputs = {"f32[] 5"}},
      {.name = "a scalar", .inputs = {"f32[] 5"}, .outputs = {"f32[] 5"}},
      {.name = "the first",
       .inputs = {"f32[1,2,1] 1 2"},
       .attrs = {{"squeeze_dims", std::vector<std::int64_t>{0}}},
       .outputs = {"f32[2,1] 1 2"}},
      {.name = "the last, from the end",
       .inputs = {"f32[1,2,1] 1 2"},
       .attrs = {{"squeeze_dims", std::vector<std::int64_t>{-1}}},
       .outputs = {"f32[1,2] 1 2"}},
      {.name = "no elements", .inputs = {"f32[1,0]"}, .outputs = {"f32[0]"}},
      {.name = "dtype i32", .inputs = {"i32[1,2] 1 2"}, .outputs = {"i32[2] 1 2"}},
      {.name = "of another size",
       .inputs = {"f32[2,1] 1 2"},
       .attrs = {{"squeeze_dims", std::vector<std::int64_t>{0}}},
       .error = "Can not squeeze dim[0], expected a dimension of 1, got 2"},
      {.name = "beyond the end",
       .inputs = {"f32[2,1] 1 2"},
       .attrs = {{"squeeze_dims", std::vector<std::int64_t>{3}}},
       .error = "Tried to squeeze dim index 3 for tensor with 2 dimensions."},
  };
}

TROUPE_OP_CASES(EnsureShape) {
  return {
      {.name = "the shape",
       .inputs = {"f32[2,3] 1"},
       .attrs = {{"shape", PartialShape{2, 3}}},
       .outputs = {"f32[2,3] 1"}},
      {.name = "one dimension open",
       .inputs = {"f32[2,3] 1"},
       .attrs = {{"shape", PartialShape{2, -1}}},
       .outputs = {"f32[2,3] 1"}},
      {.name = "another shape",
       .inputs = {"f32[2] 1"},
       .attrs = {{"shape", PartialShape{3}}},
       .error = "is not compatible with expected shape [3]."},
  };
}

} // namespace
} // namespace troupe
