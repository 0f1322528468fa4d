// SpaceToDepth, DepthToSpace.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SpaceToDepth) {
  return {
      {.name = "one block",
       .inputs = {"f32[1,2,2,1] 0 1 2 3"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .outputs = {"f32[1,1,1,4] 0 1 2 3"}},
      {.name = "four blocks",
       .inputs = {"f32[1,4,4,2] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 "
                  "25 26 27 28 29 30 31"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .outputs = {"f32[1,2,2,8] 0 1 2 3 8 9 10 11 4 5 6 7 12 13 14 15 16 17 18 19 24 25 26 27 20 "
                   "21 22 23 28 29 30 31"}},
      {.name = "text",
       .inputs = {"str[1,2,2,1] \"a\" \"b\" \"c\" \"d\""},
       .attrs = {{"block_size", std::int64_t{2}}},
       .outputs = {"str[1,1,1,4] \"a\" \"b\" \"c\" \"d\""}},
      {.name = "not divisible",
       .inputs = {"f32[1,3,2,1] 1 1 1 1 1 1"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .error = "Image width 2 and height 3 should be divisible by block_size: 2"},
      {.name = "rank 3",
       .inputs = {"f32[2,2,1] 1 1 1 1"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .error = "rank"},
      {.name = "nothing",
       .inputs = {"f32[0,2,2,1]"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .outputs = {"f32[0,1,1,4]"}},
  };
}

TROUPE_OP_CASES(DepthToSpace) {
  return {
      {.name = "channels first",
       .inputs = {"f32[1,4,1,1] 1 2 3 4"},
       .attrs = {{"block_size", std::int64_t{2}}, {"data_format", std::string("NCHW")}},
       .error = "No OpKernel was registered to support Op 'DepthToSpace' on a CPU with data_format "
                "NCHW. Only NHWC"},
      {.name = "one block",
       .inputs = {"f32[1,1,1,4] 0 1 2 3"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .outputs = {"f32[1,2,2,1] 0 1 2 3"}},
      {.name = "four blocks",
       .inputs = {"f32[1,2,2,8] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 "
                  "25 26 27 28 29 30 31"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .outputs = {"f32[1,4,4,2] 0 1 2 3 8 9 10 11 4 5 6 7 12 13 14 15 16 17 18 19 24 25 26 27 20 "
                   "21 22 23 28 29 30 31"}},
      {.name = "bytes",
       .inputs = {"u8[1,1,1,4] 0 1 2 3"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .outputs = {"u8[1,2,2,1] 0 1 2 3"}},
      {.name = "not divisible",
       .inputs = {"f32[1,3,2,1] 1 1 1 1 1 1"},
       .attrs = {{"block_size", std::int64_t{2}}},
       .error = "Input depth dimension 1 should be divisible by: 4"},
  };
}

} // namespace
} // namespace troupe
