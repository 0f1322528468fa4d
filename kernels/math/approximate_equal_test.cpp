// Cases of ApproximateEqual; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ApproximateEqual) {
  return {
      {
          .name = "close or not, NaN and infinity",
          .inputs = {"f32[5] 1 2 nan inf 0", "f32[5] 1.000001 2.1 nan inf -0.00002"},
          .outputs = {"bool[5] true false false false false"},
      },
      {
          .name = "a wide tolerance",
          .inputs = {"f64[2] 1 2", "f64[2] 1.15 2.3"},
          .attrs = {{"tolerance", 0.25F}},
          .outputs = {"bool[2] true false"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]", "f32[0]"},
          .outputs = {"bool[0]"},
      },
  };
}

} // namespace
} // namespace troupe
