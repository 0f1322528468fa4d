// Cases of EditDistance; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(EditDistance) {
  return {
      {
          .name = "by the truth's length",
          .inputs = {"i64[3,2] 0 0 0 1 1 0", "str[3] \"a\" \"b\" \"c\"", "i64[2] 2 2",
                     "i64[4,2] 0 0 0 1 0 2 2 0", "str[4] \"a\" \"c\" \"b\" \"d\"", "i64[2] 3 3"},
          .outputs = {"f32[3] 0.33333334 inf 1"},
      },
      {
          .name = "as counted",
          .inputs = {"i64[3,2] 0 0 0 1 1 0", "str[3] \"a\" \"b\" \"c\"", "i64[2] 2 2",
                     "i64[4,2] 0 0 0 1 0 2 2 0", "str[4] \"a\" \"c\" \"b\" \"d\"", "i64[2] 3 3"},
          .attrs = {{"normalize", false}},
          .outputs = {"f32[3] 1"},
      },
      {
          .name = "rank 3",
          .inputs = {"i64[3,3] 0 0 0 0 1 0 0 1 1", "i32[3] 1 2 3", "i64[3] 1 2 2",
                     "i64[2,3] 0 0 0 0 1 0", "i32[2] 1 3", "i64[3] 1 2 1"},
          .outputs = {"f32[1,2] 0 1"},
      },
      {
          .name = "nothing",
          .inputs = {"i64[0,2]", "f32[0]", "i64[2] 2 2", "i64[0,2]", "f32[0]", "i64[2] 1 1"},
          .outputs = {"f32[2] 0"},
      },
      {
          .name = "dtype f32",
          .inputs = {"i64[2,2] 0 0 0 1", "f32[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1",
                     "f32[2] 3 2", "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype f64",
          .inputs = {"i64[2,2] 0 0 0 1", "f64[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1",
                     "f64[2] 3 2", "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype f16",
          .inputs = {"i64[2,2] 0 0 0 1", "f16[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1",
                     "f16[2] 3 2", "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype bf16",
          .inputs = {"i64[2,2] 0 0 0 1", "bf16[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1",
                     "bf16[2] 3 2", "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype i8",
          .inputs = {"i64[2,2] 0 0 0 1", "i8[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1", "i8[2] 3 2",
                     "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype i16",
          .inputs = {"i64[2,2] 0 0 0 1", "i16[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1",
                     "i16[2] 3 2", "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype i32",
          .inputs = {"i64[2,2] 0 0 0 1", "i32[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1",
                     "i32[2] 3 2", "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype i64",
          .inputs = {"i64[2,2] 0 0 0 1", "i64[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1",
                     "i64[2] 3 2", "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype u8",
          .inputs = {"i64[2,2] 0 0 0 1", "u8[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1", "u8[2] 3 2",
                     "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype u16",
          .inputs = {"i64[2,2] 0 0 0 1", "u16[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1",
                     "u16[2] 3 2", "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype u32",
          .inputs = {"i64[2,2] 0 0 0 1", "u32[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1",
                     "u32[2] 3 2", "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "dtype u64",
          .inputs = {"i64[2,2] 0 0 0 1", "u64[2] 1 2", "i64[2] 1 2", "i64[2,2] 0 0 0 1",
                     "u64[2] 3 2", "i64[2] 1 2"},
          .outputs = {"f32[1] 0.5"},
      },
      {
          .name = "kitten and sitting",
          .inputs = {"i64[6,2] 0 0 0 1 0 2 0 3 0 4 0 5",
                     "str[6] \"k\" \"i\" \"t\" \"t\" \"e\" \"n\"", "i64[2] 1 6",
                     "i64[7,2] 0 0 0 1 0 2 0 3 0 4 0 5 0 6",
                     "str[7] \"s\" \"i\" \"t\" \"t\" \"i\" \"n\" \"g\"", "i64[2] 1 7"},
          .attrs = {{"normalize", false}},
          .outputs = {"f32[1] 3"},
      },
      {
          .name = "an index outside",
          .inputs = {"i64[1,2] 5 0", "str[1] \"a\"", "i64[2] 2 2", "i64[4,2] 0 0 0 1 0 2 2 0",
                     "str[4] \"a\" \"c\" \"b\" \"d\"", "i64[2] 3 3"},
          .error = "Got an inner product 5 which would require writing to outside of the buffer "
                   "for the output tensor (max elements 3)",
      },
      {
          .name = "a negative index",
          .inputs = {"i64[1,2] -1 0", "str[1] \"a\"", "i64[2] 2 2", "i64[4,2] 0 0 0 1 0 2 2 0",
                     "str[4] \"a\" \"c\" \"b\" \"d\"", "i64[2] 3 3"},
          .error = "Got an inner product -1",
      },
      {
          .name = "values that do not fit",
          .inputs = {"i64[2,2] 1 0 0 0", "str[1] \"a\"", "i64[2] 2 2", "i64[4,2] 0 0 0 1 0 2 2 0",
                     "str[4] \"a\" \"c\" \"b\" \"d\"", "i64[2] 3 3"},
          .error = "Expected hypothesis_values.NumElements == #rows(hypothesis_indices)",
      },
      {
          .name = "rank 1",
          .inputs = {"i64[1,1] 0", "str[1] \"a\"", "i64[1] 2", "i64[1,1] 0", "str[1] \"a\"",
                     "i64[1] 2"},
          .error = "Input SparseTensors must have rank at least 2",
      },
  };
}

} // namespace
} // namespace troupe
