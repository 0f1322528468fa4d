// UnsortedSegmentSum.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(UnsortedSegmentSum) {
  return {
      {.name = "integers wrap",
       .inputs = {"i32[2] 2147483647 1", "i32[2] 0 0", "i32[] 1"},
       .outputs = {"i32[1] -2147483648"}},
      {.name = "a vector",
       .inputs = {"f32[4] 1 2 3 4", "i32[4] 0 2 0 1", "i32[] 3"},
       .outputs = {"f32[3] 4 4 2"}},
      {.name = "negative ids are left out",
       .inputs = {"f32[3] 1 2 3", "i32[3] 0 -1 1", "i32[] 3"},
       .outputs = {"f32[3] 1 3 0"}},
      {.name = "rows",
       .inputs = {"f32[3,2] 1 2 3 4 5 6", "i64[3] 1 1 0", "i32[] 2"},
       .outputs = {"f32[2,2] 5 6 4 6"}},
      {.name = "a matrix of ids",
       .inputs = {"f32[2,2,1] 1 2 3 4", "i32[2,2] 0 1 1 0", "i64[] 2"},
       .outputs = {"f32[2,1] 5"}},
      {.name = "no elements", .inputs = {"f32[0]", "i32[0]", "i32[] 2"}, .outputs = {"f32[2] 0"}},
      {.name = "long rows",
       .inputs = {"f32[2,20] 1", "i32[2] 1 1", "i32[] 3"},
       .outputs = {"f32[3,20] 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 2 2 2 2 2 2 2 2 2 2 2 2 2 2 "
                   "2 2 2 2 2 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"}},
      {.name = "dtype f64",
       .inputs = {"f64[3] 5 9 2", "i32[3] 0 0 1", "i32[] 2"},
       .outputs = {"f64[2] 14 2"}},
      {.name = "dtype i32",
       .inputs = {"i32[3] 5 9 2", "i32[3] 0 0 1", "i32[] 2"},
       .outputs = {"i32[2] 14 2"}},
      {.name = "dtype i64",
       .inputs = {"i64[3] 5 9 2", "i32[3] 0 0 1", "i32[] 2"},
       .outputs = {"i64[2] 14 2"}},
      {.name = "an id beyond the end",
       .inputs = {"f32[3] 1 2 3", "i32[3] 0 5 1", "i32[] 3"},
       .error = "segment_ids[1] = 5 is out of range [0, 3)"},
      {.name = "shapes that do not fit",
       .inputs = {"f32[3,2] 1", "i32[2] 0 1", "i32[] 3"},
       .error = "data.shape = [3,2] does not start with segment_ids.shape = [2]"},
      {.name = "a negative number of segments",
       .inputs = {"f32[3] 1 2 3", "i32[3] 0 0 1", "i32[] -3"},
       .error = "Input num_segments == -3 must not be negative."},
  };
}

} // namespace
} // namespace troupe
