// Cases of QuantizedMatMul; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(QuantizedMatMul) {
  return {
      {.name = "from zero on",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[3,2] 255 0 1 2 128 64", "f32[] 0", "f32[] 1",
                  "f32[] 0", "f32[] 1"},
       .outputs = {"qi32[2,2] 257 130 65225 16720", "f32[] -33025.51", "f32[] 33025.51"}},
      {.name = "ranges around zero",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[3,2] 255 0 1 2 128 64", "f32[] -1", "f32[] 3",
                  "f32[] -1", "f32[] 1"},
       .outputs = {"qi32[2,2] -127 20098 -9271 -37424", "f32[] -264204.1", "f32[] 264204.1"}},
      {.name = "zero outside of a range",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[3,2] 255 0 1 2 128 64", "f32[] 2", "f32[] 3",
                  "f32[] 0", "f32[] 1"},
       .outputs = {"qi32[2,2] 196097 33790 261065 50380", "f32[] -33025.51", "f32[] 33025.51"}},
      {.name = "transposed",
       .inputs = {"qu8[3,2] 0 127 1 200 2 255", "qu8[2,3] 255 1 128 0 2 64", "f32[] -1", "f32[] 1",
                  "f32[] 0", "f32[] 1"},
       .attrs = {{"transpose_a", true}, {"transpose_b", true}},
       .outputs = {"qi32[2,2] -48895 -8318 16073 8272", "f32[] -66051.02", "f32[] 66051.02"}},
      {.name = "no rows",
       .inputs = {"qu8[0,3]", "qu8[3,2] 255 0 1 2 128 64", "f32[] 0", "f32[] 1", "f32[] 0",
                  "f32[] 1"},
       .outputs = {"qi32[0,2]", "f32[] -33025.51", "f32[] 33025.51"}},
      {.name = "no columns",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[3,0]", "f32[] 0", "f32[] 1", "f32[] 0",
                  "f32[] 1"},
       .outputs = {"qi32[2,0]", "f32[] -33025.51", "f32[] 33025.51"}},
      {.name = "a vector",
       .inputs = {"qu8[3] 1", "qu8[3,2] 255 0 1 2 128 64", "f32[] 0", "f32[] 1", "f32[] 0",
                  "f32[] 1"},
       .error = "In[0] is not a matrix"},
      {.name = "three dimensions",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[1,3,2] 1", "f32[] 0", "f32[] 1", "f32[] 0",
                  "f32[] 1"},
       .error = "In[1] is not a matrix"},
      {.name = "sizes that do not fit",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[2,2] 1", "f32[] 0", "f32[] 1", "f32[] 0",
                  "f32[] 1"},
       .error = "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,2]"},
      {.name = "bounds in order",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[3,2] 255 0 1 2 128 64", "f32[] 1", "f32[] 0",
                  "f32[] 0", "f32[] 1"},
       .error = "max_a must be larger than min_a."},
      {.name = "a range of nothing",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[3,2] 255 0 1 2 128 64", "f32[] 0", "f32[] 1",
                  "f32[] 1", "f32[] 1"},
       .error = "max_b must be larger than min_b."},
      {.name = "no number as a bound",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[3,2] 255 0 1 2 128 64", "f32[] nan", "f32[] 1",
                  "f32[] 0", "f32[] 1"},
       .error = "max_a must be larger than min_a."},
      {.name = "a bound in a vector",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[3,2] 255 0 1 2 128 64", "f32[1] 0", "f32[] 1",
                  "f32[] 0", "f32[] 1"},
       .error = "min_a must be a scalar, but got shape[1]"},
      {.name = "two bounds",
       .inputs = {"qu8[2,3] 0 1 2 127 200 255", "qu8[3,2] 255 0 1 2 128 64", "f32[] 0", "f32[] 1",
                  "f32[] 0", "f32[2] 1"},
       .error = "max_b must be a scalar, but got shape[2]"},
  };
}

} // namespace
} // namespace troupe
