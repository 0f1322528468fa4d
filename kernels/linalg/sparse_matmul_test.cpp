// Cases of SparseMatMul; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SparseMatMul) {
  return {
      {.name = "more results than there can be",
       .inputs = {"f32[4611686018427387904,0]", "f32[0,16]"},
       .error = "more than 2^63 - 1 elements"},
      {
          .name = "sparse: a False, b False",
          .inputs = {"f32[2,3] 0 1 2 3 0 0", "f32[3,2] 1 0 0 2 3 0"},
          .attrs = {{"a_is_sparse", false}, {"b_is_sparse", false}},
          .outputs = {"f32[2,2] 6 2 3 0"},
      },
      {
          .name = "sparse: a True, b False",
          .inputs = {"f32[2,3] 0 1 2 3 0 0", "f32[3,2] 1 0 0 2 3 0"},
          .attrs = {{"a_is_sparse", true}, {"b_is_sparse", false}},
          .outputs = {"f32[2,2] 6 2 3 0"},
      },
      {
          .name = "sparse: a False, b True",
          .inputs = {"f32[2,3] 0 1 2 3 0 0", "f32[3,2] 1 0 0 2 3 0"},
          .attrs = {{"a_is_sparse", false}, {"b_is_sparse", true}},
          .outputs = {"f32[2,2] 6 2 3 0"},
      },
      {
          .name = "sparse: a True, b True",
          .inputs = {"f32[2,3] 0 1 2 3 0 0", "f32[3,2] 1 0 0 2 3 0"},
          .attrs = {{"a_is_sparse", true}, {"b_is_sparse", true}},
          .outputs = {"f32[2,2] 6 2 3 0"},
      },
      {
          .name = "transposed",
          .inputs = {"f32[3,2] 0 3 1 0 2 0", "f32[2,3] 1 0 3 0 2 0"},
          .attrs = {{"transpose_a", true}, {"transpose_b", true}, {"a_is_sparse", true}},
          .outputs = {"f32[2,2] 6 2 3 0"},
      },
      {
          .name = "f32 and bf16",
          .inputs = {"f32[2,3] 0 1 2 3 0 0", "bf16[3,2] 1 0 0 2 3 0"},
          .attrs = {{"a_is_sparse", true}},
          .outputs = {"f32[2,2] 6 2 3 0"},
      },
      {
          .name = "bf16 and f32",
          .inputs = {"bf16[2,3] 0 1 2 3 0 0", "f32[3,2] 1 0 0 2 3 0"},
          .attrs = {{"a_is_sparse", true}},
          .outputs = {"f32[2,2] 6 2 3 0"},
      },
      {
          .name = "bf16 and bf16",
          .inputs = {"bf16[2,3] 0 1 2 3 0 0", "bf16[3,2] 1 0 0 2 3 0"},
          .attrs = {{"a_is_sparse", true}},
          .outputs = {"f32[2,2] 6 2 3 0"},
      },
      {
          .name = "nothing between",
          .inputs = {"f32[2,0]", "f32[0,3]"},
          .attrs = {{"a_is_sparse", true}},
          .outputs = {"f32[2,3] 0"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0,2]", "f32[2,3] 1"},
          .outputs = {"f32[0,3]"},
      },
      {.name = "zeros are passed over",
       .inputs = {"f32[1,2] 0 1", "f32[2,1] inf 2"},
       .attrs = {{"a_is_sparse", true}},
       .outputs = {"f32[1,1] 2"}},
      {.name = "sizes that do not fit",
       .inputs = {"f32[2,2] 1", "f32[1,1] 1"},
       .attrs = {{"a_is_sparse", true}},
       .error = "2"},
      {.name = "a vector", .inputs = {"f32[2,2] 1", "f32[2] 1"}, .error = "b is not a matrix"},
      {
          .name = "few are not zero: a",
          .inputs = {"f32[2,4] 0 0 2 0 0 0 0 0", "f32[4,3] inf 1 1 nan 1 1 1 inf 3 inf 1 1"},
          .attrs = {{"a_is_sparse", true}},
          .outputs = {"f32[2,3] 2 inf 6 0 0 0"},
          .check_gradient = false,
          .no_gradient_reason = "NaN has no differences",
      },
      {
          .name = "few are not zero: b",
          .inputs = {"f32[2,4] 1 nan 3 4 inf 6 7 8", "f32[4,3] 0 0 0 0 0 0 2 0 0 0 0 0"},
          .attrs = {{"b_is_sparse", true}},
          .outputs = {"f32[2,3] 6 0 0 14 0 0"},
          .check_gradient = false,
          .no_gradient_reason = "NaN has no differences",
      },
      {
          .name = "few are not zero: a and b",
          .inputs = {"f32[2,4] 0 0 inf 0 0 0 0 0", "f32[4,3] 0 0 0 nan 0 0 2 0 0 0 0 0"},
          .attrs = {{"a_is_sparse", true}, {"b_is_sparse", true}},
          .outputs = {"f32[2,3] inf 0 0 0 0 0"},
          .check_gradient = false,
          .no_gradient_reason = "NaN has no differences",
      },
      {
          .name = "few are not zero: a and b, transposed",
          .inputs = {"f32[4,2] 0 0 0 0 3 0 0 0", "f32[3,4] 0 0 2 0 0 5 0 0 0 0 4 0"},
          .attrs = {{"transpose_a", true},
                    {"transpose_b", true},
                    {"a_is_sparse", true},
                    {"b_is_sparse", true}},
          .outputs = {"f32[2,3] 6 0 12 0 0 0"},
      },
      {
          .name = "few are not zero: b, transposed",
          .inputs = {"f32[4,2] 1 2 3 4 5 6 7 8", "f32[3,4] 0 0 2 0 0 0 0 0 0 0 0 0"},
          .attrs = {{"transpose_a", true}, {"transpose_b", true}, {"b_is_sparse", true}},
          .outputs = {"f32[2,3] 10 0 0 12 0 0"},
      },
  };
}

} // namespace
} // namespace troupe
