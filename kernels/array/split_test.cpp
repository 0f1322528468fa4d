// Split, SplitV.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Split) {
  return {
      {.name = "one part",
       .inputs = {"i32[] 0", "f32[2] 1 2"},
       .attrs = {{"num_split", std::int64_t{1}}},
       .outputs = {"f32[2] 1 2"}},
      {.name = "a vector",
       .inputs = {"i32[] 0", "f32[6] 1 2 3 4 5 6"},
       .attrs = {{"num_split", std::int64_t{3}}},
       .outputs = {"f32[2] 1 2", "f32[2] 3 4", "f32[2] 5 6"}},
      {.name = "rows",
       .inputs = {"i32[] 0", "f32[2,2] 1 2 3 4"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"f32[1,2] 1 2", "f32[1,2] 3 4"}},
      {.name = "columns",
       .inputs = {"i32[] 1", "f32[2,4] 1 2 3 4 5 6 7 8"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"f32[2,2] 1 2 5 6", "f32[2,2] 3 4 7 8"}},
      {.name = "from the end",
       .inputs = {"i32[] -1", "f32[2,2] 1 2 3 4"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"f32[2,1] 1 3", "f32[2,1] 2 4"}},
      {.name = "rank four",
       .inputs = {"i32[] 2", "f32[1,2,2,2] 1 2 3 4 5 6 7 8"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"f32[1,2,1,2] 1 2 5 6", "f32[1,2,1,2] 3 4 7 8"}},
      {.name = "no elements",
       .inputs = {"i32[] 0", "f32[0,2]"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"f32[0,2]", "f32[0,2]"}},
      {.name = "long rows",
       .inputs = {"i32[] 0", "f32[2,300] 1"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"f32[1,300] 1", "f32[1,300] 1"}},
      {.name = "dtype f64",
       .inputs = {"i32[] 0", "f64[2] 1 2"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"f64[1] 1", "f64[1] 2"}},
      {.name = "dtype i32",
       .inputs = {"i32[] 0", "i32[2] 1 2"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"i32[1] 1", "i32[1] 2"}},
      {.name = "dtype i64",
       .inputs = {"i32[] 0", "i64[2] 1 2"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"i64[1] 1", "i64[1] 2"}},
      {.name = "dtype str",
       .inputs = {"i32[] 0", "str[2] \"a\" \"b\""},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"str[1] \"a\"", "str[1] \"b\""}},
      {.name = "uneven",
       .inputs = {"i32[] 0", "f32[5] 1"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .error = "Number of ways to split should evenly divide the split dimension, but got "
                "split_dim 0 (size = 5) and num_split 2"},
      {.name = "an axis beyond the end",
       .inputs = {"i32[] 2", "f32[5] 1"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .error = "-input rank(-1) <= split_dim < input rank (1), but got 2"},
  };
}

TROUPE_OP_CASES(SplitV) {
  return {
      {.name = "no axis",
       .inputs = {"f32[2] 1 2", "i32[2] 1 1", "i32[0]"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .error = "split_dim_tensor must have exactly one element."},
      {.name = "a vector",
       .inputs = {"f32[6] 1 2 3 4 5 6", "i64[3] 1 2 3", "i32[] 0"},
       .attrs = {{"num_split", std::int64_t{3}}},
       .outputs = {"f32[1] 1", "f32[2] 2 3", "f32[3] 4 5 6"}},
      {.name = "the rest",
       .inputs = {"f32[2,4] 1 2 3 4 5 6 7 8", "i32[2] 1 -1", "i32[] 1"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"f32[2,1] 1 5", "f32[2,3] 2 3 4 6 7 8"}},
      {.name = "an empty part",
       .inputs = {"f32[2] 1 2", "i32[2] 0 2", "i32[] 0"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"f32[0]", "f32[2] 1 2"}},
      {.name = "dtype i64",
       .inputs = {"i64[3] 1 2 3", "i32[2] 1 2", "i32[] 0"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .outputs = {"i64[1] 1", "i64[2] 2 3"}},
      {.name = "too few",
       .inputs = {"f32[5] 1", "i32[2] 2 2", "i32[] 0"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .error = "Determined shape must either match input shape along split_dim exactly if fully "
                "specified"},
      {.name = "two unknown",
       .inputs = {"f32[5] 1", "i32[2] -1 -1", "i32[] 0"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .error = "There can only be one -1 in the input."},
      {.name = "too many",
       .inputs = {"f32[5] 1", "i32[2] 7 -1", "i32[] 0"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .error = "Determined shape must either match input shape along split_dim exactly if fully "
                "specified"},
      {.name = "a negative size",
       .inputs = {"f32[5] 1", "i32[2] 7 -2", "i32[] 0"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .error = "Split size at index 1 must be >= 0. Got: -2"},
      {.name = "another number of sizes",
       .inputs = {"f32[5] 1", "i32[1] 5", "i32[] 0"},
       .attrs = {{"num_split", std::int64_t{2}}},
       .error = "size of the split_tensor must be 1-D and have the same elements as outputs got 1 "
                "-D and 1 elements"},
  };
}

} // namespace
} // namespace troupe
