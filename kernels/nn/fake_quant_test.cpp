// Cases of FakeQuantWithMinMaxArgs, Vars, VarsPerChannel and their gradients; values are those of
// TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(FakeQuantWithMinMaxArgs) {
  return {
      {
          .name = "sixteen bits, by the inverse of a step rounded once",
          .inputs = {"f32[3] -0.053902026265859604 -0.7014793157577515 -0.5518128275871277"},
          .attrs = {{"min", -3.0F}, {"max", 0.1F}, {"num_bits", std::int64_t{16}}},
          .outputs = {"f32[3] -0.05392538 -0.701503 -0.5518364"},
      },
      {
          .name = "plain",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .outputs = {"f32[2,5] -6.0235295 -0.28235295 0 0.32941177 0.75294119 1.5058824 3.2941177 "
                      "5.9764705 5.9764705 5.9764705"},
      },
      {
          .name = "four bits, narrow",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"num_bits", std::int64_t{4}},
                    {"narrow_range", true},
                    {"min", -0.4F},
                    {"max", 2.3F}},
          .outputs = {"f32[2,5] -0.38571429 -0.38571429 0 0.38571429 0.77142859 1.5428572 "
                      "2.3142858 2.3142858 2.3142858 2.3142858"},
      },
      {
          .name = "positive bounds",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"min", 0.2F}, {"max", 6.1F}},
          .outputs = {"f32[2,5] 0 0 0 0.30078432 0.76352942 1.5039215 3.3086274 5.9000001 "
                      "5.9000001 5.9000001"},
      },
      {
          .name = "negative bounds",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"min", -5.0F}, {"max", -0.5F}, {"num_bits", std::int64_t{16}}},
          .outputs = {"f32[2,5] -4.5 -0.30000001 0 0 0 0 0 0 0 0"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0,2]"},
          .outputs = {"f32[0,2]"},
      },
      {
          .name = "min is max",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"min", 1.0F}, {"max", 1.0F}},
          .error = "min has to be smaller than max, was: ",
      },
      {
          .name = "one bit",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"num_bits", std::int64_t{1}}},
          .error = "num_bits must be between 2 and 16, inclusive",
      },
      {
          .name = "17 bits",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"num_bits", std::int64_t{17}}},
          .error = "num_bits must be between 2 and 16, inclusive",
      },
  };
}

TROUPE_OP_CASES(FakeQuantWithMinMaxArgsGradient) {
  return {
      {
          .name = "plain",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .outputs = {"f32[2,5] 0 2.5 3 2.5 -2.75 2.5 2 -0 0 0"},
      },
      {
          .name = "four bits, narrow",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"num_bits", std::int64_t{4}},
                    {"narrow_range", true},
                    {"min", -0.4F},
                    {"max", 2.3F}},
          .outputs = {"f32[2,5] 0 2.5 3 2.5 -2.75 2.5 0 -0 0 0"},
      },
      {
          .name = "positive bounds",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"min", 0.2F}, {"max", 6.1F}},
          .outputs = {"f32[2,5] 0 0 3 2.5 -2.75 2.5 2 -0 0 0"},
      },
      {
          .name = "negative bounds",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"min", -5.0F}, {"max", -0.5F}, {"num_bits", std::int64_t{16}}},
          .outputs = {"f32[2,5] 0 2.5 3 0 -0 0 0 -0 0 0"},
      },
      {
          .name = "other shapes",
          .inputs = {"f32[3] 1", "f32[2] 1"},
          .error = "ust be equal",
      },
      {
          .name = "min is max",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"min", 1.0F}, {"max", 1.0F}},
          .error = "min has to be smaller than max, was: ",
      },
      {
          .name = "one bit",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"num_bits", std::int64_t{1}}},
          .error = "num_bits must be between 2 and 16, inclusive",
      },
      {
          .name = "17 bits",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100"},
          .attrs = {{"num_bits", std::int64_t{17}}},
          .error = "num_bits must be between 2 and 16, inclusive",
      },
      {.name = "another shape",
       .inputs = {"f32[2] 1", "f32[3] 1"},
       .error = "must have the same size and shape.  Input 0: [2] != input 1: [3]"},
  };
}

TROUPE_OP_CASES(FakeQuantWithMinMaxVars) {
  return {
      {.name = "steps are counted from zero",
       .inputs = {"f32[1] 0.04784926", "f32[] -18.8", "f32[] 1"},
       .attrs = {{"num_bits", std::int64_t{16}}},
       .outputs = {"f32[1] 0.04773632"},
       .check_gradient = false,
       .no_gradient_reason = "steps have no differences"},
      {
          .name = "plain",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] -6", "f32[] 6"},
          .outputs = {"f32[2,5] -6.0235295 -0.28235295 0 0.32941177 0.75294119 1.5058824 3.2941177 "
                      "5.9764705 5.9764705 5.9764705"},
      },
      {
          .name = "four bits, narrow",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] -0.4",
                     "f32[] 2.3"},
          .attrs = {{"num_bits", std::int64_t{4}}, {"narrow_range", true}},
          .outputs = {"f32[2,5] -0.38571429 -0.38571429 0 0.38571429 0.77142859 1.5428572 "
                      "2.3142858 2.3142858 2.3142858 2.3142858"},
      },
      {
          .name = "positive bounds",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] 0.2", "f32[] 6.1"},
          .outputs = {"f32[2,5] 0 0 0 0.30078432 0.76352942 1.5039215 3.3086274 5.9000001 "
                      "5.9000001 5.9000001"},
      },
      {
          .name = "negative bounds",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] -5", "f32[] -0.5"},
          .attrs = {{"num_bits", std::int64_t{16}}},
          .outputs = {"f32[2,5] -4.5 -0.30000001 0 0 0 0 0 0 0 0"},
      },
      {
          .name = "bounds of zero",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] 0", "f32[] 0"},
          .outputs = {"f32[2,5] 0"},
      },
      {
          .name = "two bounds",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[2] 0", "f32[] 1"},
          .error = "rank 0",
      },
      {
          .name = "one bit",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] 0", "f32[] 1"},
          .attrs = {{"num_bits", std::int64_t{1}}},
          .error = "num_bits must be between 2 and 16, inclusive",
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]", "f32[] 0", "f32[] 1"},
          .outputs = {"f32[0]"},
      },
  };
}

TROUPE_OP_CASES(FakeQuantWithMinMaxVarsGradient) {
  return {
      {
          .name = "an infinite and a NaN gradient",
          .inputs = {"f32[3] 1 nan inf", "f32[3] -0.9 4.3 -2.4", "f32[] -3.1", "f32[] 2.77"},
          .outputs = {"f32[3] 1 nan inf", "f32[] nan", "f32[] nan"},
      },
      {
          .name = "plain",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] -6", "f32[] 6"},
          .outputs = {"f32[2,5] 0 2.5 3 2.5 -2.75 2.5 2 -0 0 0", "f32[] 2.25", "f32[] 3.25"},
      },
      {
          .name = "four bits, narrow",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] -0.4",
                     "f32[] 2.3"},
          .attrs = {{"num_bits", std::int64_t{4}}, {"narrow_range", true}},
          .outputs = {"f32[2,5] 0 2.5 3 2.5 -2.75 2.5 0 -0 0 0", "f32[] 2.25", "f32[] 5.25"},
      },
      {
          .name = "positive bounds",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] 0.2", "f32[] 6.1"},
          .outputs = {"f32[2,5] 0 0 3 2.5 -2.75 2.5 2 -0 0 0", "f32[] 4.75", "f32[] 3.25"},
      },
      {
          .name = "negative bounds",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] -5", "f32[] -0.5"},
          .attrs = {{"num_bits", std::int64_t{16}}},
          .outputs = {"f32[2,5] 0 2.5 3 0 -0 0 0 -0 0 0", "f32[] 2.25", "f32[] 7.5"},
      },
      {
          .name = "bounds of zero",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[] 0", "f32[] 0"},
          .outputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3", "f32[] 0", "f32[] 0"},
      },
      {
          .name = "two bounds",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[2] 0", "f32[] 1"},
          .error = "rank 0",
      },
      {
          .name = "other shapes",
          .inputs = {"f32[3] 1", "f32[2] 1", "f32[] 0", "f32[] 1"},
          .error = "ust be equal",
      },
  };
}

TROUPE_OP_CASES(FakeQuantWithMinMaxVarsPerChannel) {
  return {
      {
          .name = "channels",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[5] -7 0 -0.2 0 -1",
                     "f32[5] 3 6 0.9 0 0.5"},
          .outputs = {"f32[2,5] -6.9803925 0 0 0 0.5 1.4901961 3.2941177 0.90156865 0 0.5"},
      },
      {
          .name = "four bits, narrow",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[5] -7 0 -0.2 0 -1",
                     "f32[5] 3 6 0.9 0 0.5"},
          .attrs = {{"num_bits", std::int64_t{4}}, {"narrow_range", true}},
          .outputs =
              {"f32[2,5] -7.1428576 0 0 0 0.53571427 1.4285715 3.4285715 0.86428577 0 0.53571427"},
      },
      {
          .name = "a vector",
          .inputs = {"f32[5] 1.1 2 3 4 5", "f32[5] -7 0 -0.2 0 -1", "f32[5] 3 6 0.9 0 0.5"},
          .outputs = {"f32[5] 1.0980393 2 0.90156865 0 0.5"},
      },
      {
          .name = "images",
          .inputs = {"f32[2,1,2,5] 1.5 0.5 -1.5 0 -2 -3.25 -3.75 -2.25 -2.25 -3.25 -3.25 1.25 "
                     "-3.75 -0.25 -1.25 -1.75 2.75 -1 3 3.5",
                     "f32[5] -7 0 -0.2 0 -1", "f32[5] 3 6 0.9 0 0.5"},
          .outputs =
              {"f32[2,1,2,5] 1.4901961 0.49411765 -0.19843137 0 -1 -3.2549021 0 -0.19843137 0 -1 "
               "-3.2549021 1.2470589 -0.19843137 0 -1 -1.7647059 2.7529411 -0.19843137 0 0.5"},
      },
      {
          .name = "sixteen bits, by the inverse of a step",
          .inputs = {"f32[1,1] 0.3638508", "f32[1] -0.42779028", "f32[1] 0.5883809"},
          .attrs = {{"num_bits", std::int64_t{16}}},
          .outputs = {"f32[1,1] 0.3638586"},
      },
      {
          .name = "fewer bounds",
          .inputs = {"f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[4] 0",
                     "f32[5] 3 6 0.9 0 0.5"},
          .error = "equal",
      },
      {
          .name = "a scalar",
          .inputs = {"f32[] 1", "f32[1] 0", "f32[1] 1"},
          .error = "rank 1",
      },
  };
}

TROUPE_OP_CASES(FakeQuantWithMinMaxVarsPerChannelGradient) {
  return {
      {
          .name = "channels",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[5] -7 0 -0.2 0 -1",
                     "f32[5] 3 6 0.9 0 0.5"},
          .outputs = {"f32[2,5] 2.25 0 3 2.5 -0 2.5 2 -0 1.25 0", "f32[5] 0 2.5 0 0 0",
                      "f32[5] 0 0 -1 0 0.25"},
      },
      {
          .name = "four bits, narrow",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[5] -7 0 -0.2 0 -1",
                     "f32[5] 3 6 0.9 0 0.5"},
          .attrs = {{"num_bits", std::int64_t{4}}, {"narrow_range", true}},
          .outputs = {"f32[2,5] 2.25 0 3 2.5 -0 2.5 2 -0 1.25 0", "f32[5] 0 2.5 0 0 0",
                      "f32[5] 0 0 -1 0 0.25"},
      },
      {
          .name = "a vector",
          .inputs = {"f32[5] 1 2 3 4 5", "f32[5] 1 2 -3 4 -5", "f32[5] -7 0 -0.2 0 -1",
                     "f32[5] 3 6 0.9 0 0.5"},
          .outputs = {"f32[5] 1 2 0 4 0", "f32[5] 0 0 3 0 5", "f32[5] 0"},
      },
      {
          .name = "fewer bounds",
          .inputs = {"f32[2,5] 2.25 2.5 3 2.5 -2.75 2.5 2 -1 1.25 3",
                     "f32[2,5] -7 -0.3 0 0.31 0.77 1.499 3.3 5.99 6 100", "f32[4] 0",
                     "f32[5] 3 6 0.9 0 0.5"},
          .error = "equal",
      },
      {
          .name = "other shapes",
          .inputs = {"f32[3] 1", "f32[2] 1", "f32[2] 0", "f32[2] 1"},
          .error = "ust be equal",
      },
  };
}

} // namespace
} // namespace troupe
