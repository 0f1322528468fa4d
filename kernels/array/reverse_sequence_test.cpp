// ReverseSequence.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ReverseSequence) {
  return {
      {.name = "rows",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[2] 2 3"},
       .attrs = {{"seq_dim", std::int64_t{1}}},
       .outputs = {"f32[2,3] 2 1 3 6 5 4"}},
      {.name = "columns",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[3] 1 2 0"},
       .attrs = {{"seq_dim", std::int64_t{0}}, {"batch_dim", std::int64_t{1}}},
       .outputs = {"f32[2,3] 1 5 3 4 2 6"}},
      {.name = "rank 3",
       .inputs = {"f32[2,3,2] 0 1 2 3 4 5 6 7 8 9 10 11", "i64[2] 2 3"},
       .attrs = {{"seq_dim", std::int64_t{1}}},
       .outputs = {"f32[2,3,2] 2 3 0 1 4 5 10 11 8 9 6 7"}},
      {.name = "batch behind",
       .inputs = {"f32[2,3,2] 0 1 2 3 4 5 6 7 8 9 10 11", "i64[2] 2 3"},
       .attrs = {{"seq_dim", std::int64_t{1}}, {"batch_dim", std::int64_t{2}}},
       .outputs = {"f32[2,3,2] 2 5 0 3 4 1 8 11 6 9 10 7"}},
      {.name = "text",
       .inputs = {"str[1,2] \"a\" \"b\"", "i64[1] 2"},
       .attrs = {{"seq_dim", std::int64_t{1}}},
       .outputs = {"str[1,2] \"b\" \"a\""}},
      {.name = "nothing",
       .inputs = {"f32[0,2]", "i64[0]"},
       .attrs = {{"seq_dim", std::int64_t{1}}},
       .outputs = {"f32[0,2]"}},
      {.name = "seq_dim outside",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[2] 1 1"},
       .attrs = {{"seq_dim", std::int64_t{5}}},
       .error = "seq_dim must be < input rank ( 5 vs. 2)"},
      {.name = "batch_dim outside",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[2] 1 1"},
       .attrs = {{"seq_dim", std::int64_t{1}}, {"batch_dim", std::int64_t{5}}},
       .error = "batch_dim must be < input rank ( 5 vs. 2)"},
      {.name = "one dimension for both",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[2] 1 1"},
       .attrs = {{"seq_dim", std::int64_t{0}}},
       .error = "batch_dim == seq_dim == 0"},
      {.name = "too few lengths",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[1] 1"},
       .attrs = {{"seq_dim", std::int64_t{1}}},
       .error = "Length of seq_lengths != input.dims(0), (1 vs. 2)"},
      {.name = "a length too large",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[2] 1 9"},
       .attrs = {{"seq_dim", std::int64_t{1}}},
       .error = "seq_lens(1) > input.dims(1)"},
      {.name = "a negative length",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[2] 1 -1"},
       .attrs = {{"seq_dim", std::int64_t{1}}},
       .error = "seq_lens(1) < 0"},
  };
}

} // namespace
} // namespace troupe
