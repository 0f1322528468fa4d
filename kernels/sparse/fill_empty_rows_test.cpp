// Cases of SparseFillEmptyRows and its gradient; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SparseFillEmptyRows) {
  return {
      {
          .name = "float32",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "f32[3] 1 0 3", "i64[2] 4 3", "f32[] 1"},
          .outputs = {"i64[5,2] 0 1 1 0 2 2 2 0 3 0", "f32[5] 1 1 0 3 1",
                      "bool[4] false true false true", "i64[3] 0 2 3"},
          .check_gradient = false,
          .no_gradient_reason = "indices and values are checked together",
      },
      {
          .name = "int8",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "i8[3] 1 0 3", "i64[2] 4 3", "i8[] 1"},
          .outputs = {"i64[5,2] 0 1 1 0 2 2 2 0 3 0", "i8[5] 1 1 0 3 1",
                      "bool[4] false true false true", "i64[3] 0 2 3"},
          .check_gradient = false,
          .no_gradient_reason = "indices and values are checked together",
      },
      {
          .name = "complex128",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "c128[3] (1,0) (0,0) (3,0)", "i64[2] 4 3",
                     "c128[] (1,0)"},
          .outputs = {"i64[5,2] 0 1 1 0 2 2 2 0 3 0", "c128[5] (1,0) (1,0) (0,0) (3,0) (1,0)",
                      "bool[4] false true false true", "i64[3] 0 2 3"},
          .check_gradient = false,
          .no_gradient_reason = "indices and values are checked together",
      },
      {
          .name = "bool",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "bool[3] true false true", "i64[2] 4 3",
                     "bool[] true"},
          .outputs = {"i64[5,2] 0 1 1 0 2 2 2 0 3 0", "bool[5] true true false true true",
                      "bool[4] false true false true", "i64[3] 0 2 3"},
          .check_gradient = false,
          .no_gradient_reason = "indices and values are checked together",
      },
      {
          .name = "text",
          .inputs = {"i64[3,2] 0 1 2 2 2 0", "str[3] \"a\" \"b\" \"c\"", "i64[2] 4 3",
                     "str[] \"z\""},
          .outputs = {"i64[5,2] 0 1 1 0 2 2 2 0 3 0", "str[5] \"a\" \"z\" \"b\" \"c\" \"z\"",
                      "bool[4] false true false true", "i64[3] 0 2 3"},
      },
      {
          .name = "not in order",
          .inputs = {"i64[3,2] 2 1 0 2 2 0", "f64[3] 1 2 3", "i64[2] 4 3", "f64[] 9"},
          .outputs = {"i64[5,2] 0 2 1 0 2 1 2 0 3 0", "f64[5] 2 9 1 3 9",
                      "bool[4] false true false true", "i64[3] 2 0 3"},
          .check_gradient = false,
          .no_gradient_reason = "indices and values are checked together",
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 2 3", "f64[] 9"},
          .outputs = {"i64[2,2] 0 0 1 0", "f64[2] 9", "bool[2] true", "i64[0]"},
          .check_gradient = false,
          .no_gradient_reason = "indices and values are checked together",
      },
      {
          .name = "no rows",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 0 3", "f64[] 9"},
          .outputs = {"i64[0,2]", "f64[0]", "bool[0]", "i64[0]"},
          .check_gradient = false,
          .no_gradient_reason = "indices and values are checked together",
      },
      {
          .name = "a row beyond the shape",
          .inputs = {"i64[1,2] 5 1", "f64[1] 1", "i64[2] 4 3", "f64[] 9"},
          .error = "indices(0, 0) is invalid: 5 >= 4",
      },
      {
          .name = "entries without rows",
          .inputs = {"i64[1,2] 0", "f64[1] 1", "i64[2] 0 3", "f64[] 9"},
          .error = "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = 1",
      },
      {
          .name = "more values than indices",
          .inputs = {"i64[1,2] 0", "f64[2] 1 2", "i64[2] 4 3", "f64[] 9"},
          .error = "The length of `values` (2) must match the first dimension of `indices` (1).",
      },
      {
          .name = "a vector of defaults",
          .inputs = {"i64[1,2] 0", "f64[1] 1", "i64[2] 4 3", "f64[1] 9"},
          .error = "Shape must be rank 0 but is rank 1",
      },
      {
          .name = "no row is empty",
          .inputs = {"i64[3,2] 0 1 1 2 1 0", "f32[3] 1 0 3", "i64[2] 2 3", "f32[] 1"},
          .outputs = {"i64[3,2] 0 1 1 2 1 0", "f32[3] 1 0 3", "bool[2] false false",
                      "i64[3] 0 1 2"},
          .check_gradient = false,
          .no_gradient_reason = "indices and values are checked together",
      },
      {
          .name = "no row is empty, not in order",
          .inputs = {"i64[3,2] 1 2 0 1 1 0", "f32[3] 1 0 3", "i64[2] 2 3", "f32[] 1"},
          .outputs = {"i64[3,2] 0 1 1 2 1 0", "f32[3] 0 1 3", "bool[2] false false",
                      "i64[3] 1 0 2"},
          .check_gradient = false,
          .no_gradient_reason = "indices and values are checked together",
      },
  };
}

TROUPE_OP_CASES(SparseFillEmptyRowsGrad) {
  return {
      {
          .name = "float32",
          .inputs = {"i64[2] 0 2", "f32[4] 1 2 3 4"},
          .outputs = {"f32[2] 1 3", "f32[] 6"},
      },
      {
          .name = "float64",
          .inputs = {"i64[2] 0 2", "f64[4] 1 2 3 4"},
          .outputs = {"f64[2] 1 3", "f64[] 6"},
      },
      {
          .name = "int32",
          .inputs = {"i64[2] 0 2", "i32[4] 1 2 3 4"},
          .outputs = {"i32[2] 1 3", "i32[] 6"},
      },
      {
          .name = "int8",
          .inputs = {"i64[2] 0 2", "i8[4] 1 2 3 4"},
          .outputs = {"i8[2] 1 3", "i8[] 6"},
      },
      {
          .name = "uint64",
          .inputs = {"i64[2] 0 2", "u64[4] 1 2 3 4"},
          .outputs = {"u64[2] 1 3", "u64[] 6"},
      },
      {
          .name = "complex64",
          .inputs = {"i64[2] 0 2", "c64[4] (1,0) (2,0) (3,0) (4,0)"},
          .outputs = {"c64[2] (1,0) (3,0)", "c64[] (6,0)"},
      },
      {
          .name = "float16",
          .inputs = {"i64[2] 0 2", "f16[4] 1 2 3 4"},
          .outputs = {"f16[2] 1 3", "f16[] 6"},
      },
      {
          .name = "an index beyond the gradients",
          .inputs = {"i64[2] 0 7", "f64[4] 1 2 3 4"},
          .error = "Elements in reverse index must be in [0, 4) but got 7",
      },
  };
}

} // namespace
} // namespace troupe
