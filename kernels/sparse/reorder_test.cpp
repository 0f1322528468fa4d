// Cases of SparseReorder and SparseReshape; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SparseReorder) {
  return {
      {
          .name = "float32",
          .inputs = {"i64[3,2] 1 2 0 1 1 0", "f32[3] 1 0 3", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 1 1 0 1 2", "f32[3] 0 3 1"},
      },
      {
          .name = "int8",
          .inputs = {"i64[3,2] 1 2 0 1 1 0", "i8[3] 1 0 3", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 1 1 0 1 2", "i8[3] 0 3 1"},
      },
      {
          .name = "complex128",
          .inputs = {"i64[3,2] 1 2 0 1 1 0", "c128[3] (1,0) (0,0) (3,0)", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 1 1 0 1 2", "c128[3] (0,0) (3,0) (1,0)"},
      },
      {
          .name = "float16",
          .inputs = {"i64[3,2] 1 2 0 1 1 0", "f16[3] 1 0 3", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 1 1 0 1 2", "f16[3] 0 3 1"},
      },
      {
          .name = "int64",
          .inputs = {"i64[3,2] 1 2 0 1 1 0", "i64[3] 1 0 3", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 1 1 0 1 2", "i64[3] 0 3 1"},
      },
      {
          .name = "bool",
          .inputs = {"i64[3,2] 1 2 0 1 1 0", "bool[3] true false true", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 1 1 0 1 2", "bool[3] false true true"},
      },
      {
          .name = "text",
          .inputs = {"i64[3,2] 1 2 0 1 1 0", "str[3] \"a\" \"b\" \"c\"", "i64[2] 2 3"},
          .outputs = {"i64[3,2] 0 1 1 0 1 2", "str[3] \"b\" \"c\" \"a\""},
      },
      {
          .name = "sorted already",
          .inputs = {"i64[2,2] 0 1 0 2", "f64[2] 1 2", "i64[2] 2 3"},
          .outputs = {"i64[2,2] 0 1 0 2", "f64[2] 1 2"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 2 3"},
          .outputs = {"i64[0,2]", "f64[0]"},
      },
      {
          .name = "a vector of indices",
          .inputs = {"i64[2] 1 2", "f64[2] 1 2", "i64[2] 2 3"},
          .error = "Shape must be rank 2 but is rank 1",
      },
      {
          .name = "fewer indices than values",
          .inputs = {"i64[1,2] 1 2", "f64[3] 1 2 3", "i64[2] 2 3"},
          .error = "Number of elements in indices (1) and values (3) do not match",
      },
      {
          .name = "a shape of another rank",
          .inputs = {"i64[1,2] 1 2", "f64[1] 1", "i64[1] 2"},
          .error = "Index rank (2) and shape rank (1) do not match",
      },
  };
}

TROUPE_OP_CASES(SparseReshape) {
  return {
      {
          .name = "to the same, with an index beyond it",
          .inputs = {"i64[2,2] 0 1 1 7", "i64[2] 2 3", "i64[2] -1 3"},
          .outputs = {"i64[2,2] 0 1 1 7", "i64[2] 2 3"},
      },
      {
          .name = "one size is inferred",
          .inputs = {"i64[2,2] 0 1 1 2", "i64[2] 2 3", "i64[2] 3 -1"},
          .outputs = {"i64[2,2] 0 1 2 1", "i64[2] 3 2"},
      },
      {
          .name = "to one dimension",
          .inputs = {"i64[2,2] 0 1 1 2", "i64[2] 2 3", "i64[1] -1"},
          .outputs = {"i64[2,1] 1 5", "i64[1] 6"},
      },
      {
          .name = "to three dimensions",
          .inputs = {"i64[2,2] 0 1 1 2", "i64[2] 2 3", "i64[3] 1 3 2"},
          .outputs = {"i64[2,3] 0 0 1 0 2 1", "i64[3] 1 3 2"},
      },
      {
          .name = "from three dimensions",
          .inputs = {"i64[2,3] 1 0 2 0 1 1", "i64[3] 2 2 3", "i64[2] 4 -1"},
          .outputs = {"i64[2,2] 2 2 1 1", "i64[2] 4 3"},
      },
      {
          .name = "nothing",
          .inputs = {"i64[0,2]", "i64[2] 0 3", "i64[2] -1 2"},
          .outputs = {"i64[0,2]", "i64[2] 0 2"},
      },
      {
          .name = "two sizes are unknown",
          .inputs = {"i64[2,2] 0 1 1 2", "i64[2] 2 3", "i64[2] -1"},
          .error = "only one output dimension may be -1, not both 0 and 1",
      },
      {
          .name = "no multiple",
          .inputs = {"i64[2,2] 0 1 1 2", "i64[2] 2 3", "i64[2] 4 -1"},
          .error = "Input to reshape is a SparseTensor with 6 dense values, but the requested "
                   "shape requires a multiple of 4. input_shape=[2,3] output_shape=[4,1]",
      },
      {
          .name = "another size",
          .inputs = {"i64[2,2] 0 1 1 2", "i64[2] 2 3", "i64[2] 4 2"},
          .error = "Input to reshape is a tensor with 6 dense values, but the requested shape has "
                   "8. input_shape=[2,3] output_shape=[4,2]",
      },
      {
          .name = "a negative size",
          .inputs = {"i64[2,2] 0 1 1 2", "i64[2] 2 3", "i64[2] 4 -2"},
          .error = "size 1 must be non-negative, not -2",
      },
      {
          .name = "ranks differ",
          .inputs = {"i64[2,2] 0 1 1 2", "i64[1] 2", "i64[1] 6"},
          .error = "Input tensor rank must match input shape length.",
      },
      {
          .name = "nothing to infer from",
          .inputs = {"i64[0,2]", "i64[2] 0 3", "i64[2] -1 0"},
          .error = "reshape cannot infer the missing input size for an empty tensor unless all "
                   "specified input sizes are non-zero",
      },
  };
}

} // namespace
} // namespace troupe
