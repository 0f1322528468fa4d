// Cases of the arithmetic on sparse tensors; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SparseAdd) {
  return {
      {
          .name = "float32",
          .inputs = {"i64[2,2] 0 1 2 2", "f32[2] 1 2", "i64[2] 3", "i64[2,2] 0 0 2 2",
                     "f32[2] 1 -2", "i64[2] 3", "f32[] 0.5"},
          .outputs = {"i64[2,2] 0 0 0 1", "f32[2] 1", "i64[2] 3"},
      },
      {
          .name = "float64",
          .inputs = {"i64[2,2] 0 1 2 2", "f64[2] 1 2", "i64[2] 3", "i64[2,2] 0 0 2 2",
                     "f64[2] 1 -2", "i64[2] 3", "f64[] 0.5"},
          .outputs = {"i64[2,2] 0 0 0 1", "f64[2] 1", "i64[2] 3"},
      },
      {
          .name = "int32",
          .inputs = {"i64[2,2] 0 1 2 2", "i32[2] 1 2", "i64[2] 3", "i64[2,2] 0 0 2 2",
                     "i32[2] 1 -2", "i64[2] 3", "i32[] 1"},
          .outputs = {"i64[2,2] 0 0 0 1", "i32[2] 1", "i64[2] 3"},
      },
      {
          .name = "int64",
          .inputs = {"i64[2,2] 0 1 2 2", "i64[2] 1 2", "i64[2] 3", "i64[2,2] 0 0 2 2",
                     "i64[2] 1 -2", "i64[2] 3", "i64[] 1"},
          .outputs = {"i64[2,2] 0 0 0 1", "i64[2] 1", "i64[2] 3"},
      },
      {
          .name = "int16",
          .inputs = {"i64[2,2] 0 1 2 2", "i16[2] 1 2", "i64[2] 3", "i64[2,2] 0 0 2 2",
                     "i16[2] 1 -2", "i64[2] 3", "i16[] 1"},
          .outputs = {"i64[2,2] 0 0 0 1", "i16[2] 1", "i64[2] 3"},
      },
      {
          .name = "int8",
          .inputs = {"i64[2,2] 0 1 2 2", "i8[2] 1 2", "i64[2] 3", "i64[2,2] 0 0 2 2", "i8[2] 1 -2",
                     "i64[2] 3", "i8[] 1"},
          .outputs = {"i64[2,2] 0 0 0 1", "i8[2] 1", "i64[2] 3"},
      },
      {
          .name = "complex64",
          .inputs = {"i64[2,2] 0 1 2 2", "c64[2] (1,0) (2,0)", "i64[2] 3", "i64[2,2] 0 0 2 2",
                     "c64[2] (1,0) (-2,0)", "i64[2] 3", "f32[] 0.5"},
          .outputs = {"i64[2,2] 0 0 0 1", "c64[2] (1,0)", "i64[2] 3"},
      },
      {
          .name = "complex128",
          .inputs = {"i64[2,2] 0 1 2 2", "c128[2] (1,0) (2,0)", "i64[2] 3", "i64[2,2] 0 0 2 2",
                     "c128[2] (1,0) (-2,0)", "i64[2] 3", "f64[] 0.5"},
          .outputs = {"i64[2,2] 0 0 0 1", "c128[2] (1,0)", "i64[2] 3"},
      },
      {
          .name = "no threshold",
          .inputs = {"i64[2,2] 0 1 2 2", "f64[2] 1 2", "i64[2] 3", "i64[2,2] 0 0 2 2",
                     "f64[2] 1 -2", "i64[2] 3", "f64[] 0"},
          .outputs = {"i64[3,2] 0 0 0 1 2 2", "f64[3] 1 1 0", "i64[2] 3"},
      },
      {
          .name = "nothing",
          .inputs = {"i64[0,2]", "f64[0]", "i64[2] 3", "i64[0,2]", "f64[0]", "i64[2] 3", "f64[] 0"},
          .outputs = {"i64[0,2]", "f64[0]", "i64[2] 3"},
      },
      {
          .name = "shapes differ",
          .inputs = {"i64[2,2] 0 1 2 2", "f64[2] 1 2", "i64[2] 3", "i64[2,2] 0 0 2 2",
                     "f64[2] 1 -2", "i64[2] 3 2", "f64[] 0"},
          .error = "Operands' shapes do not match: got 3 and 2 for dimension 1",
      },
      {
          .name = "ranks differ",
          .inputs = {"i64[2,2] 0 1 2 2", "f64[2] 1 2", "i64[2] 3", "i64[1,1] 1", "f64[1] 1",
                     "i64[1] 3", "f64[] 0"},
          .error = "Input indices must have the same dimension, got 2 and 1",
      },
  };
}

TROUPE_OP_CASES(SparseAddGrad) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[2] 5 6", "i64[2,2] 0 1 2 2", "i64[2,2] 0 0 2 2", "i64[2,2] 0 0 0 1"},
          .outputs = {"f32[2] 6 0", "f32[2] 5 0"},
      },
      {
          .name = "float64",
          .inputs = {"f64[2] 5 6", "i64[2,2] 0 1 2 2", "i64[2,2] 0 0 2 2", "i64[2,2] 0 0 0 1"},
          .outputs = {"f64[2] 6 0", "f64[2] 5 0"},
      },
      {
          .name = "int32",
          .inputs = {"i32[2] 5 6", "i64[2,2] 0 1 2 2", "i64[2,2] 0 0 2 2", "i64[2,2] 0 0 0 1"},
          .outputs = {"i32[2] 6 0", "i32[2] 5 0"},
      },
      {
          .name = "int64",
          .inputs = {"i64[2] 5 6", "i64[2,2] 0 1 2 2", "i64[2,2] 0 0 2 2", "i64[2,2] 0 0 0 1"},
          .outputs = {"i64[2] 6 0", "i64[2] 5 0"},
      },
      {
          .name = "int16",
          .inputs = {"i16[2] 5 6", "i64[2,2] 0 1 2 2", "i64[2,2] 0 0 2 2", "i64[2,2] 0 0 0 1"},
          .outputs = {"i16[2] 6 0", "i16[2] 5 0"},
      },
      {
          .name = "int8",
          .inputs = {"i8[2] 5 6", "i64[2,2] 0 1 2 2", "i64[2,2] 0 0 2 2", "i64[2,2] 0 0 0 1"},
          .outputs = {"i8[2] 6 0", "i8[2] 5 0"},
      },
      {
          .name = "complex64",
          .inputs = {"c64[2] (5,0) (6,0)", "i64[2,2] 0 1 2 2", "i64[2,2] 0 0 2 2",
                     "i64[2,2] 0 0 0 1"},
          .outputs = {"c64[2] (6,0) (0,0)", "c64[2] (5,0) (0,0)"},
      },
      {
          .name = "complex128",
          .inputs = {"c128[2] (5,0) (6,0)", "i64[2,2] 0 1 2 2", "i64[2,2] 0 0 2 2",
                     "i64[2,2] 0 0 0 1"},
          .outputs = {"c128[2] (6,0) (0,0)", "c128[2] (5,0) (0,0)"},
      },
  };
}

TROUPE_OP_CASES(SparseTensorDenseAdd) {
  return {
      {
          .name = "float32",
          .inputs = {"i64[1,2] 0 1", "f32[1] 1", "i64[2] 2", "f32[2,2] 1"},
          .outputs = {"f32[2,2] 1 2 1 1"},
      },
      {
          .name = "float64",
          .inputs = {"i64[1,2] 0 1", "f64[1] 1", "i64[2] 2", "f64[2,2] 1"},
          .outputs = {"f64[2,2] 1 2 1 1"},
      },
      {
          .name = "int32",
          .inputs = {"i64[1,2] 0 1", "i32[1] 1", "i64[2] 2", "i32[2,2] 1"},
          .outputs = {"i32[2,2] 1 2 1 1"},
      },
      {
          .name = "int64",
          .inputs = {"i64[1,2] 0 1", "i64[1] 1", "i64[2] 2", "i64[2,2] 1"},
          .outputs = {"i64[2,2] 1 2 1 1"},
      },
      {
          .name = "int8",
          .inputs = {"i64[1,2] 0 1", "i8[1] 1", "i64[2] 2", "i8[2,2] 1"},
          .outputs = {"i8[2,2] 1 2 1 1"},
      },
      {
          .name = "uint8",
          .inputs = {"i64[1,2] 0 1", "u8[1] 1", "i64[2] 2", "u8[2,2] 1"},
          .outputs = {"u8[2,2] 1 2 1 1"},
      },
      {
          .name = "int16",
          .inputs = {"i64[1,2] 0 1", "i16[1] 1", "i64[2] 2", "i16[2,2] 1"},
          .outputs = {"i16[2,2] 1 2 1 1"},
      },
      {
          .name = "uint16",
          .inputs = {"i64[1,2] 0 1", "u16[1] 1", "i64[2] 2", "u16[2,2] 1"},
          .outputs = {"u16[2,2] 1 2 1 1"},
      },
      {
          .name = "complex64",
          .inputs = {"i64[1,2] 0 1", "c64[1] (1,0)", "i64[2] 2", "c64[2,2] (1,0)"},
          .outputs = {"c64[2,2] (1,0) (2,0) (1,0) (1,0)"},
      },
      {
          .name = "complex128",
          .inputs = {"i64[1,2] 0 1", "c128[1] (1,0)", "i64[2] 2", "c128[2,2] (1,0)"},
          .outputs = {"c128[2,2] (1,0) (2,0) (1,0) (1,0)"},
      },
      {
          .name = "float16",
          .inputs = {"i64[1,2] 0 1", "f16[1] 1", "i64[2] 2", "f16[2,2] 1"},
          .outputs = {"f16[2,2] 1 2 1 1"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i64[1,2] 0 1", "bf16[1] 1", "i64[2] 2", "bf16[2,2] 1"},
          .outputs = {"bf16[2,2] 1 2 1 1"},
      },
      {
          .name = "sizes differ",
          .inputs = {"i64[1,2] 0 1", "f64[1] 1", "i64[2] 2 3", "f64[2,2] 1"},
          .error = "Dimension 1 does not equal (no broadcasting is supported): sparse side 3 vs "
                   "dense side 2",
      },
      {
          .name = "an index beyond the tensor",
          .inputs = {"i64[1,2] 0 5", "f64[1] 1", "i64[2] 2", "f64[2,2] 1"},
          .error = "Sparse tensor has an invalid index on dimension 1: a_indices(0,1) = 5, dense "
                   "tensor shape: 2 2",
      },
  };
}

TROUPE_OP_CASES(SparseSoftmax) {
  return {
      {
          .name = "float32",
          .inputs = {"i64[3,2] 0 1 0 2 2 2", "f32[3] 1 2 5", "i64[2] 3"},
          .outputs = {"f32[3] 0.26894143 0.7310586 1"},
      },
      {
          .name = "float64",
          .inputs = {"i64[3,2] 0 1 0 2 2 2", "f64[3] 1 2 5", "i64[2] 3"},
          .outputs = {"f64[3] 0.26894142136999516 0.7310585786300049 1"},
      },
      {
          .name = "float16",
          .inputs = {"i64[3,2] 0 1 0 2 2 2", "f16[3] 1 2 5", "i64[2] 3"},
          .outputs = {"f16[3] 0.269 0.731 1"},
      },
      {
          .name = "large logits do not overflow",
          .inputs = {"i64[2,2] 0 1 0 2", "f64[2] 10000", "i64[2] 3"},
          .outputs = {"f64[2] 0.5"},
      },
      {
          .name = "a vector",
          .inputs = {"i64[1,1] 1", "f64[1] 1", "i64[1] 3"},
          .error = "Input should have rank >= 2, but received shape: 3",
      },
  };
}

} // namespace
} // namespace troupe
