// Cases of UnravelIndex; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(UnravelIndex) {
  return {
      {
          .name = "a vector",
          .inputs = {"i32[3] 22 41 37", "i32[2] 7 6"},
          .outputs = {"i32[2,3] 3 6 6 4 5 1"},
      },
      {
          .name = "a scalar, int64",
          .inputs = {"i64[] 1234567890123", "i64[3] 1000000 1000 1000000"},
          .outputs = {"i64[3] 1234 567 890123"},
      },
      {
          .name = "beyond",
          .inputs = {"i32[1] 42", "i32[2] 7 6"},
          .error = "index is out of bound as with dims",
      },
      {
          .name = "a dimension of zero",
          .inputs = {"i32[1] 1", "i32[2] 0 6"},
          .error = "Input dims cannot contain a dim of zero, but dims contains zero at index 0",
      },
      {
          .name = "a negative dimension",
          .inputs = {"i32[1] 1", "i32[2] -7 -6"},
          .error = "Input dims cannot be negative. Got dim = -7 at index 0",
      },
      {
          .name = "a product that is no int32",
          .inputs = {"i32[1] 1", "i32[2] 100000 100000"},
          .error = "Input dims product is causing integer overflow",
      },
      {
          .name = "a matrix of dimensions",
          .inputs = {"i32[1] 1", "i32[1,2] 7 6"},
          .error = "The indices can only be 1-D",
      },
      {
          .name = "a scalar dimension",
          .inputs = {"i32[1] 1", "i32[] 7"},
          .error = "The indices can only be 1-D",
      },
      {
          .name = "no indices",
          .inputs = {"i32[0]", "i32[2] 7 6"},
          .error = "received empty tensor indices",
      },
      {.name = "a negative index; TensorFlow counts on",
       .inputs = {"i32[1] -1", "i32[2] 7 6"},
       .error = "index is out of bound as with dims"},
  };
}

} // namespace
} // namespace troupe
