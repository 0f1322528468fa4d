// Cases of the Poisson and stateless gamma distributions; numbers are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(RandomPoissonV2) {
  return {
      {
          .name = "to float32",
          .inputs = {"i32[1] 3", "f32[4] 0.5 3 12 100"},
          .attrs = {{"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{9}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[3,4] 0 2 12 112 0 4 8 93 0 0 12 91"},
      },
      {
          .name = "to float64",
          .inputs = {"i32[1] 3", "f32[4] 0.5 3 12 100"},
          .attrs = {{"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{9}},
                    {"dtype", DType::float64}},
          .outputs = {"f64[3,4] 0 2 12 112 0 4 8 93 0 0 12 91"},
      },
      {
          .name = "to float16",
          .inputs = {"i32[1] 3", "f32[4] 0.5 3 12 100"},
          .attrs = {{"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{9}},
                    {"dtype", DType::float16}},
          .outputs = {"f16[3,4] 0 2 12 112 0 4 8 93 0 0 12 91"},
      },
      {
          .name = "to int32",
          .inputs = {"i32[1] 3", "f32[4] 0.5 3 12 100"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}, {"dtype", DType::int32}},
          .outputs = {"i32[3,4] 0 2 12 112 0 4 8 93 0 0 12 91"},
      },
      {
          .name = "to int64",
          .inputs = {"i32[1] 3", "f32[4] 0.5 3 12 100"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}, {"dtype", DType::int64}},
          .outputs = {"i64[3,4] 0 2 12 112 0 4 8 93 0 0 12 91"},
      },
      {
          .name = "from f64",
          .inputs = {"i64[2] 2 1", "f64[2,1] 2 30"},
          .attrs = {{"seed", std::int64_t{6}}, {"seed2", std::int64_t{9}}},
          .outputs = {"i64[2,1,2,1] 1 30 1 26"},
      },
      {
          .name = "from f16",
          .inputs = {"i64[2] 2 1", "f16[2,1] 2 30"},
          .attrs = {{"seed", std::int64_t{6}}, {"seed2", std::int64_t{9}}},
          .outputs = {"i64[2,1,2,1] 1 30 1 26"},
      },
      {
          .name = "from i32",
          .inputs = {"i64[2] 2 1", "i32[2,1] 2 30"},
          .attrs = {{"seed", std::int64_t{6}}, {"seed2", std::int64_t{9}}},
          .outputs = {"i64[2,1,2,1] 1 30 1 26"},
      },
      {
          .name = "from i64",
          .inputs = {"i64[2] 2 1", "i64[2,1] 2 30"},
          .attrs = {{"seed", std::int64_t{6}}, {"seed2", std::int64_t{9}}},
          .outputs = {"i64[2,1,2,1] 1 30 1 26"},
      },
      {
          .name = "no rate, an infinite one, a negative one",
          .inputs = {"i32[1] 1", "f64[3] 0 inf -1"},
          .attrs = {{"seed", std::int64_t{6}},
                    {"seed2", std::int64_t{9}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[1,3] 0 inf 0"},
      },
      {
          .name = "no samples",
          .inputs = {"i32[1] 0", "f64[2] 1"},
          .attrs = {{"seed", std::int64_t{6}}},
          .outputs = {"i64[0,2]"},
      },
      {.name = "rates beyond the dtype",
       .inputs = {"i32[0]", "f64[] 1e30"},
       .attrs = {{"dtype", DType::int32}},
       .outputs = {"i32[] 2147483647"}},
      {.name = "a rate that is no number",
       .inputs = {"i32[0]", "f64[] nan"},
       .attrs = {{"dtype", DType::float32}},
       .outputs = {"f32[] nan"}},
      {.name = "a scalar shape", .inputs = {"i32[] 2", "f64[] 1"}, .error = "ank"},
  };
}

TROUPE_OP_CASES(StatelessRandomPoisson) {
  return {
      {
          .name = "rates",
          .inputs = {"i32[2] 3 4", "i64[2] 3 4", "f32[4] 0.5 3 12 100"},
          .attrs = {{"dtype", DType::int64}},
          .outputs = {"i64[3,4] 3 3 9 109 1 1 10 84 0 7 11 103"},
      },
      {
          .name = "half",
          .inputs = {"i32[1] 5", "i32[2] 3 4", "f16[] 20"},
          .attrs = {{"dtype", DType::float16}},
          .outputs = {"f16[5] 25 22 27 21 14"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[2] 3 0", "i64[2] 3 4", "f32[0]"},
          .attrs = {{"dtype", DType::int64}},
          .outputs = {"i64[3,0]"},
      },
      {
          .name = "a shape that does not end so",
          .inputs = {"i32[2] 3 3", "i64[2] 3 4", "f32[4] 0.5 3 12 100"},
          .attrs = {{"dtype", DType::int64}},
          .error = "Shape passed in must end with broadcasted shape.",
      },
  };
}

TROUPE_OP_CASES(StatelessRandomGammaV2) {
  return {
      {
          .name = "parameters",
          .inputs = {"i32[2] 3 4", "i64[2] 3 4", "f32[4] 0.5 3 12 100"},
          .outputs = {"f32[3,4] 0.043604534 1.0030025 11.574047 101.76373 0.2556686 10.739844 "
                      "10.748217 105.725716 1.3016186 3.829265 11.611926 86.93979"},
      },
      {
          .name = "doubles",
          .inputs = {"i32[2] 3 2", "i64[2] 3 4", "f64[2] 1 0.1"},
          .outputs = {"f64[3,2] 1.4411236796320566 8.221726646203909e-11 1.0419907865585394 "
                      "0.02432005629104862 0.07935843826832506 0.00003321302547288511"},
      },
      {
          .name = "half",
          .inputs = {"i32[2] 3 2", "i64[2] 3 4", "f16[2] 1 0.5"},
          .outputs = {"f16[3,2] 1.4414062 0.0035705566 1.0419922 2.5429688 0.0793457 0.23400879"},
      },
      {
          .name = "a shape that does not end so",
          .inputs = {"i32[2] 3 3", "i64[2] 3 4", "f32[4] 0.5 3 12 100"},
          .error = "Shape passed in must end with broadcasted shape.",
      },
  };
}

TROUPE_OP_CASES(StatelessRandomGammaV3) {
  return {
      {
          .name = "parameters",
          .inputs = {"i32[2] 3 4", "u64[1] 3", "u64[2] 4 5", "i32[] 1", "f32[4] 0.5 3 12 100"},
          .outputs = {"f32[3,4] 0.33819267 1.9416955 8.341949 99.93805 0.56959724 3.1941726 "
                      "17.48514 108.14557 0.08252169 1.5460985 8.569475 95.78401"},
      },
      {
          .name = "a shape that does not end so",
          .inputs = {"i32[2] 3 3", "u64[1] 3", "u64[2] 4 5", "i32[] 1", "f32[4] 0.5 3 12 100"},
          .error = "Shape passed in must end with broadcasted shape.",
      },
  };
}

TROUPE_OP_CASES(RandomPoisson) {
  return {
      {.name = "float",
       .inputs = {"i32[1] 3", "f32[4] 0.5 3 12 100"},
       .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
       .outputs = {"f32[3,4] 0 2 12 112 0 4 8 93 0 0 12 91"}},
      {.name = "double",
       .inputs = {"i64[2] 2 1", "f64[2,1] 2 30"},
       .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
       .outputs = {"f64[2,1,2,1] 2 23 1 29"}},
      {.name = "half",
       .inputs = {"i32[1] 3", "f16[4] 0.5 3 12 100"},
       .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
       .outputs = {"f16[3,4] 0 2 12 112 0 4 8 93 0 0 12 91"}},
      {.name = "none",
       .inputs = {"i32[1] 0", "f32[2] 1"},
       .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
       .outputs = {"f32[0,2]"}},
      {.name = "a negative size",
       .inputs = {"i32[1] -1", "f32[] 1"},
       .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{9}}},
       .error = "Dimension -1 must be >= 0"},
  };
}

} // namespace
} // namespace troupe
