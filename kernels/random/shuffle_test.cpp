// Cases of RandomShuffle; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(RandomShuffle) {
  return {
      {
          .name = "a vector",
          .inputs = {"i32[7] 0 1 2 3 4 5 6"},
          .attrs = {{"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}},
          .outputs = {"i32[7] 1 5 3 0 2 4 6"},
      },
      {
          .name = "rows",
          .inputs = {"i32[5,2] 0 1 2 3 4 5 6 7 8 9"},
          .attrs = {{"seed", std::int64_t{7}}, {"seed2", std::int64_t{11}}},
          .outputs = {"i32[5,2] 6 7 0 1 4 5 8 9 2 3"},
      },
      {
          .name = "float rows of odd size",
          .inputs = {"f32[4,3] -0.125 1.125 -1.875 -0.625 -1.375 -1.625 -1.125 -0.375 -0.375 "
                     "0.375 -0.125 0.875"},
          .attrs = {{"seed", std::int64_t{7}}, {"seed2", std::int64_t{11}}},
          .outputs = {"f32[4,3] -0.625 -1.375 -1.625 0.375 -0.125 0.875 -0.125 1.125 -1.875 "
                      "-1.125 -0.375 -0.375"},
      },
      {
          .name = "double",
          .inputs = {"f64[9] 0 1 2 3 4 5 6 7 8"},
          .attrs = {{"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}},
          .outputs = {"f64[9] 6 5 0 1 8 3 7 4 2"},
      },
      {
          .name = "bool",
          .inputs = {"bool[6] true false false true true false"},
          .attrs = {{"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}},
          .outputs = {"bool[6] true false true false false true"},
      },
      {
          .name = "text",
          .inputs = {"str[5] \"a\" \"b\" \"c\" \"d\" \"e\""},
          .attrs = {{"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}},
          .outputs = {"str[5] \"b\" \"a\" \"e\" \"d\" \"c\""},
      },
      {
          .name = "one row stays",
          .inputs = {"i32[1,3] 1 2 3"},
          .attrs = {{"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}},
          .outputs = {"i32[1,3] 1 2 3"},
      },
      {
          .name = "a scalar stays",
          .inputs = {"i32[] 7"},
          .attrs = {{"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}},
          .outputs = {"i32[] 7"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0,3]"},
          .attrs = {{"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "rows of nothing",
          .inputs = {"f32[3,0]"},
          .attrs = {{"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}},
          .outputs = {"f32[3,0]"},
      },
  };
}

TROUPE_OP_CASES(StatelessShuffle) {
  return {
      {
          .name = "numbers",
          .inputs = {"i32[7] 0 1 2 3 4 5 6", "u64[1] 5186321457711525117",
                     "u64[2] 0 2956673722964415482", "i32[] 1"},
          .outputs = {"i32[7] 5 2 4 6 1 3 0"},
      },
      {
          .name = "rows of text",
          .inputs = {"str[3,2] \"a\" \"b\" \"c\" \"d\" \"e\" \"f\"", "u64[1] 5186321457711525117",
                     "u64[2] 0 2956673722964415482", "i32[] 1"},
          .outputs = {"str[3,2] \"c\" \"d\" \"e\" \"f\" \"a\" \"b\""},
      },
      {
          .name = "a scalar",
          .inputs = {"i32[] 5", "u64[1] 5186321457711525117", "u64[2] 0 2956673722964415482",
                     "i32[] 1"},
          .outputs = {"i32[] 5"},
      },
      {
          .name = "automatic",
          .inputs = {"f64[4] 1 2 3 4", "u64[1] 5186321457711525117", "u64[2] 0 2956673722964415482",
                     "i32[] 3"},
          .outputs = {"f64[4] 4 3 2 1"},
      },
  };
}

} // namespace
} // namespace troupe
