// Cases of the operations on sets; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(DenseToDenseSetOperation) {
  return {
      {
          .name = "members once, in order",
          .inputs = {"i32[2,3] 5 5 1 2 2 2", "i32[2,2] 1 7 3 3"},
          .attrs = {{"set_operation", "union"}},
          .outputs = {"i64[5,2] 0 0 0 1 0 2 1 0 1 1", "i32[5] 1 5 7 2 3", "i64[2] 2 3"},
      },
      {
          .name = "difference of text",
          .inputs = {"str[1,3] \"b\" \"a\" \"c\"", "str[1,1] \"a\""},
          .attrs = {{"set_operation", "A-B"}},
          .outputs = {"i64[2,2] 0 0 0 1", "str[2] \"b\" \"c\"", "i64[2] 1 2"},
      },
      {
          .name = "the other difference",
          .inputs = {"u8[1,2] 1 2", "u8[1,3] 2 4 3"},
          .attrs = {{"set_operation", "b-a"}},
          .outputs = {"i64[2,2] 0 0 0 1", "u8[2] 3 4", "i64[2] 1 2"},
      },
      {
          .name = "nothing in common",
          .inputs = {"i64[2,1] 1 2", "i64[2,1] 3 4"},
          .attrs = {{"set_operation", "intersection"}},
          .outputs = {"i64[0,2]", "i64[0]", "i64[2] 2 0"},
      },
      {
          .name = "sets of rank 3",
          .inputs = {"i16[1,2,2] 1 2 3 4", "i16[1,2,2] 2 5 4 3"},
          .attrs = {{"set_operation", "intersection"}},
          .outputs = {"i64[3,3] 0 0 0 0 1 0 0 1 1", "i16[3] 2 3 4", "i64[3] 1 2 2"},
      },
      {
          .name = "empty sets",
          .inputs = {"i8[2,0]", "i8[2,1] 1 2"},
          .attrs = {{"set_operation", "union"}},
          .outputs = {"i64[2,2] 0 0 1 0", "i8[2] 1 2", "i64[2] 2 1"},
      },
      {
          .name = "another number of sets",
          .inputs = {"i32[2,1] 1 2", "i32[1,1] 1"},
          .attrs = {{"set_operation", "union"}},
          .error = "Mismatched shapes [2] vs [1]",
      },
      {
          .name = "a vector",
          .inputs = {"i32[2] 1 2", "i32[2] 1 2"},
          .attrs = {{"set_operation", "union"}},
          .error = "has rank 1 < 2",
      },
      {
          .name = "an unknown operation",
          .inputs = {"i32[1,1] 1", "i32[1,1] 2"},
          .attrs = {{"set_operation", "a+b"}},
          .error = "Invalid set_operation a+b.",
      },
  };
}

TROUPE_OP_CASES(DenseToSparseSetOperation) {
  return {
      {
          .name = "a set that the sparse tensor lacks",
          .inputs = {"i32[2,2] 1 9 9 5", "i64[2,2] 1 0 1 1", "i32[2] 9 3", "i64[2] 2 2"},
          .attrs = {{"set_operation", "intersection"}},
          .outputs = {"i64[1,2] 1 0", "i32[1] 9", "i64[2] 2 1"},
      },
      {
          .name = "indices out of order",
          .inputs = {"i32[2,1] 1 2", "i64[2,2] 1 0 0 0", "i32[2] 9 3", "i64[2] 2 2"},
          .attrs = {{"set_operation", "union"}},
          .error = "indices[1] = [0,0] is out of order",
      },
      {
          .name = "in whatever order where that is not checked; TensorFlow loses a member",
          .inputs = {"i32[2,1] 1 2", "i64[2,2] 1 0 0 0", "i32[2] 9 3", "i64[2] 2 2"},
          .attrs = {{"set_operation", "union"}, {"validate_indices", false}},
          .outputs = {"i64[4,2] 0 0 0 1 1 0 1 1", "i32[4] 1 3 2 9", "i64[2] 2 2"},
      },
      {
          .name = "an index beyond the shape",
          .inputs = {"i32[2,1] 1 2", "i64[1,2] 2 0", "i32[1] 9", "i64[2] 2 2"},
          .attrs = {{"set_operation", "union"}, {"validate_indices", false}},
          .error = "out of bounds",
      },
  };
}

TROUPE_OP_CASES(SparseToSparseSetOperation) {
  return {
      {
          .name = "difference",
          .inputs = {"i64[3,2] 0 0 0 1 1 0", "str[3] \"x\" \"y\" \"z\"", "i64[2] 2 2",
                     "i64[2,2] 0 0 1 0", "str[2] \"y\" \"q\"", "i64[2] 2 1"},
          .attrs = {{"set_operation", "a-b"}},
          .outputs = {"i64[2,2] 0 0 1 0", "str[2] \"x\" \"z\"", "i64[2] 2 1"},
      },
      {
          .name = "an index twice",
          .inputs = {"i64[2,2] 0 0 0 0", "i32[2] 1 2", "i64[2] 2 2", "i64[0,2]", "i32[0]",
                     "i64[2] 2 2"},
          .attrs = {{"set_operation", "union"}},
          .error = "indices[1] = [0,0] is repeated",
      },
  };
}

TROUPE_OP_CASES(SetSize) {
  return {
      {
          .name = "what is twice counts once, and a set without entries is empty",
          .inputs = {"i64[4,2] 0 0 0 1 0 2 2 0", "i32[4] 7 7 8 9", "i64[2] 3 3"},
          .outputs = {"i32[3] 2 0 1"},
      },
      {
          .name = "more sets than memory holds",
          .inputs = {"i64[0,2]", "i32[0]", "i64[2] 4611686018427387904 4"},
          .error = "Encountered overflow when multiplying",
      },
      {
          .name = "a vector",
          .inputs = {"i64[1,1] 0", "i32[1] 7", "i64[1] 3"},
          .error = "Invalid rank 1.",
      },
      {
          .name = "a shape that is a scalar",
          .inputs = {"i64[1,1] 0", "i32[1] 7", "i64[] 3"},
          .error = "Shape must be a 1D tensor.",
      },
      {
          .name = "a negative dimension",
          .inputs = {"i64[1,2] 0 0", "i32[1] 7", "i64[2] 3 -1"},
          .error = "Expected shape dimensions to be non-negative, got -1",
      },
      {
          .name = "indices of another rank than the shape",
          .inputs = {"i64[1,3] 0 0 0", "i32[1] 7", "i64[2] 3 1"},
          .error = "Order length must be SparseTensor rank.",
      },
      {
          .name = "an index beyond the shape",
          .inputs = {"i64[2,2] 0 0 2 1", "i32[2] 7 8", "i64[2] 3 1"},
          .error = "indices[1] = [2,1] is out of bounds: need 0 <= index < [3,1]",
      },
  };
}

} // namespace
} // namespace troupe
