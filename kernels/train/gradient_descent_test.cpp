// Cases of ApplyGradientDescent and ResourceApplyGradientDescent; values are those of
// TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ApplyGradientDescent) {
  return {
      {
          .name = "a vector",
          .inputs = {"var f32[3] -0.125 1.125 -1.875", "f32[] 0.25", "f32[3] 1.125 -1.875 0.625"},
          .outputs = {"f32[3] -0.40625 1.59375 -2.03125"},
          .after = {{0, "f32[3] -0.40625 1.59375 -2.03125"}},
      },
      {
          .name = "a matrix of odd size",
          .inputs = {"var f32[3,7] -0.125 1.125 -1.875 -0.625 -1.375 -1.625 -1.125 -0.375 "
                     "-0.375 0.375 -0.125 0.875 -1.125 1.625 -1.875 0.875 -0.125 0.375 "
                     "-1.375 -1.125 1.375",
                     "f32[] 0.25",
                     "f32[3,7] 1.125 -1.875 0.625 1.125 0.125 -0.875 -1.125 1.125 -1.125 "
                     "-1.625 0.875 1.875 -1.875 0.125 1.375 0.625 1.125 -0.625 1.875 0.875 "
                     "0.375"},
          .outputs = {"f32[3,7] -0.40625 1.59375 -2.03125 -0.90625 -1.40625 -1.40625 -0.84375 "
                      "-0.65625 -0.09375 0.78125 -0.34375 0.40625 -0.65625 1.59375 -2.21875 "
                      "0.71875 -0.40625 0.53125 -1.84375 -1.34375 1.28125"},
          .after = {{0, "f32[3,7] -0.40625 1.59375 -2.03125 -0.90625 -1.40625 -1.40625 -0.84375 "
                        "-0.65625 -0.09375 0.78125 -0.34375 0.40625 -0.65625 1.59375 -2.21875 "
                        "0.71875 -0.40625 0.53125 -1.84375 -1.34375 1.28125"}},
      },
      {
          .name = "a scalar",
          .inputs = {"var f32[] -0.125", "f32[] 0.25", "f32[] 1.125"},
          .outputs = {"f32[] -0.40625"},
          .after = {{0, "f32[] -0.40625"}},
      },
      {
          .name = "nothing",
          .inputs = {"var f32[0,3]", "f32[] 0.25", "f32[0,3]"},
          .outputs = {"f32[0,3]"},
          .after = {{0, "f32[0,3]"}},
      },
      {
          .name = "double",
          .inputs = {"var f64[5] -0.125 1.125 -1.875 -0.625 -1.375", "f64[] 0.25",
                     "f64[5] 1.125 -1.875 0.625 1.125 0.125"},
          .outputs = {"f64[5] -0.40625 1.59375 -2.03125 -0.90625 -1.40625"},
          .after = {{0, "f64[5] -0.40625 1.59375 -2.03125 -0.90625 -1.40625"}},
      },
      {
          .name = "locked",
          .inputs = {"var f32[2] -0.125 1.125", "f32[] 0.25", "f32[2] 1.125 -1.875"},
          .attrs = {{"use_locking", true}},
          .outputs = {"f32[2] -0.40625 1.59375"},
          .after = {{0, "f32[2] -0.40625 1.59375"}},
      },
      {
          .name = "NaN and infinity",
          .inputs = {"var f32[3] -0.125 1.125 -1.875", "f32[] 0.25", "f32[3] nan inf -1"},
          .outputs = {"f32[3] nan -inf -1.625"},
          .after = {{0, "f32[3] nan -inf -1.625"}},
      },
      {
          .name = "large enough for two threads",
          .inputs = {"var f32[200000] 1.5", "f32[] 0.25", "f32[200000] 0.5"},
          .outputs = {"f32[200000] 1.375"},
          .after = {{0, "f32[200000] 1.375"}},
      },
      {
          .name = "alpha is no scalar",
          .inputs = {"var f32[2] 1 2", "f32[2] 1 2", "f32[2] 1 2"},
          .error = "Shape must be rank 0 but is rank 1",
      },
      {
          .name = "delta of another shape",
          .inputs = {"var f32[2] 1 2", "f32[] 0.5", "f32[3] 1 2 3"},
          .error = "Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are "
                   "[2] and [3].",
      },
      {
          .name = "var without value",
          .inputs = {"uninit f32", "f32[] 0.5", "f32[2] 1 2"},
          .error = "Attempting to use uninitialized value",
      },
  };
}

TROUPE_OP_CASES(ResourceApplyGradientDescent) {
  return {
      {
          .name = "a vector",
          .inputs = {"res f32[3] -0.125 1.125 -1.875", "f32[] 0.25", "f32[3] 1.125 -1.875 0.625"},
          .after = {{0, "f32[3] -0.40625 1.59375 -2.03125"}},
      },
      {
          .name = "a matrix of odd size",
          .inputs = {"res f32[3,7] -0.125 1.125 -1.875 -0.625 -1.375 -1.625 -1.125 -0.375 "
                     "-0.375 0.375 -0.125 0.875 -1.125 1.625 -1.875 0.875 -0.125 0.375 "
                     "-1.375 -1.125 1.375",
                     "f32[] 0.25",
                     "f32[3,7] 1.125 -1.875 0.625 1.125 0.125 -0.875 -1.125 1.125 -1.125 "
                     "-1.625 0.875 1.875 -1.875 0.125 1.375 0.625 1.125 -0.625 1.875 0.875 "
                     "0.375"},
          .after = {{0, "f32[3,7] -0.40625 1.59375 -2.03125 -0.90625 -1.40625 -1.40625 -0.84375 "
                        "-0.65625 -0.09375 0.78125 -0.34375 0.40625 -0.65625 1.59375 -2.21875 "
                        "0.71875 -0.40625 0.53125 -1.84375 -1.34375 1.28125"}},
      },
      {
          .name = "a scalar",
          .inputs = {"res f32[] -0.125", "f32[] 0.25", "f32[] 1.125"},
          .after = {{0, "f32[] -0.40625"}},
      },
      {
          .name = "nothing",
          .inputs = {"res f32[0,3]", "f32[] 0.25", "f32[0,3]"},
          .after = {{0, "f32[0,3]"}},
      },
      {
          .name = "double",
          .inputs = {"res f64[5] -0.125 1.125 -1.875 -0.625 -1.375", "f64[] 0.25",
                     "f64[5] 1.125 -1.875 0.625 1.125 0.125"},
          .after = {{0, "f64[5] -0.40625 1.59375 -2.03125 -0.90625 -1.40625"}},
      },
      {
          .name = "locked",
          .inputs = {"res f32[2] -0.125 1.125", "f32[] 0.25", "f32[2] 1.125 -1.875"},
          .attrs = {{"use_locking", true}},
          .after = {{0, "f32[2] -0.40625 1.59375"}},
      },
      {
          .name = "NaN and infinity",
          .inputs = {"res f32[3] -0.125 1.125 -1.875", "f32[] 0.25", "f32[3] nan inf -1"},
          .after = {{0, "f32[3] nan -inf -1.625"}},
      },
      {
          .name = "large enough for two threads",
          .inputs = {"res f32[200000] 1.5", "f32[] 0.25", "f32[200000] 0.5"},
          .after = {{0, "f32[200000] 1.375"}},
      },
      {
          .name = "alpha is no scalar",
          .inputs = {"res f32[2] 1 2", "f32[2] 1 2", "f32[2] 1 2"},
          .error = "Shape must be rank 0 but is rank 1",
      },
      {
          .name = "delta of another shape",
          .inputs = {"res f32[2] 1 2", "f32[] 0.5", "f32[3] 1 2 3"},
          .error = "var and delta do not have the same shape[2] [3]",
      },
  };
}

} // namespace
} // namespace troupe
