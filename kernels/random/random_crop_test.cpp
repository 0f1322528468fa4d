// Cases of RandomCrop.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(RandomCrop) {
  return {
      {
          .name = "smaller both ways",
          .inputs = {"i32[4,5,2] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 "
                     "25 26 27 28 29 30 31 32 33 34 35 36 37 38 39",
                     "i64[2] 2 3"},
          .attrs = {{"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}},
          .outputs = {"?"},
      },
      {
          .name = "as wide",
          .inputs = {"i32[4,5,2] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 "
                     "25 26 27 28 29 30 31 32 33 34 35 36 37 38 39",
                     "i64[2] 1 5"},
          .attrs = {{"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}},
          .outputs = {"?"},
      },
      {
          .name = "whole",
          .inputs = {"u8[2,2,1] 1 2 3 4", "i64[2] 2 2"},
          .attrs = {{"seed", std::int64_t{3}}},
          .outputs = {"u8[2,2,1] 1 2 3 4"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[2,2,1] 1 2 3 4", "i64[2] 0 2"},
          .attrs = {{"seed", std::int64_t{3}}},
          .outputs = {"f32[0,2,1]"},
      },
      {
          .name = "wider",
          .inputs = {"i32[4,5,2] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 "
                     "25 26 27 28 29 30 31 32 33 34 35 36 37 38 39",
                     "i64[2] 2 6"},
          .attrs = {{"seed", std::int64_t{3}}},
          .error = "width must be >= target_width: width = 5, target_width = 6",
      },
      {
          .name = "higher",
          .inputs = {"i32[4,5,2] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 "
                     "25 26 27 28 29 30 31 32 33 34 35 36 37 38 39",
                     "i64[2] 5 2"},
          .attrs = {{"seed", std::int64_t{3}}},
          .error = "height must be >= target_height: height = 4, target_height = 5",
      },
      {.name = "a negative size",
       .inputs = {"f32[2,2,1] 1 2 3 4", "i64[2] -1 2"},
       .error = "a crop of -1 times 2 pixels is none"},
      {.name = "three sizes",
       .inputs = {"f32[2,2,1] 1 2 3 4", "i64[3] 1 2 1"},
       .error = "shape_t must have two elements"},
  };
}

} // namespace
} // namespace troupe
