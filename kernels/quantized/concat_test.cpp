// Cases of QuantizedConcat; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(QuantizedConcat) {
  return {
      {.name = "one range",
       .inputs = {"i32[] 0", "qu8[2] 1 255", "qu8[1] 7", "f32[] 0", "f32[] 0", "f32[] 1",
                  "f32[] 1"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .outputs = {"qu8[3] 1 255 7", "f32[] 0", "f32[] 1"}},
      {.name = "two ranges",
       .inputs = {"i32[] 0", "qu8[3] 0 100 255", "qu8[2] 1 2", "f32[] 1", "f32[] -2", "f32[] 3",
                  "f32[] 4"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .outputs = {"qu8[5] 127 161 212 1 2", "f32[] -2", "f32[] 4"}},
      {.name = "qint32, around zero",
       .inputs = {"i32[] 0", "qi32[3] -2147483648 100 2147483647", "qi32[2] 1 1000000000",
                  "f32[] 1", "f32[] -2", "f32[] 3", "f32[] 4"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::qint32}},
       .outputs = {"qi32[5] 536870912 1073741824 1610612736 536870912 1286870912", "f32[] -4",
                   "f32[] 4"}},
      {.name = "columns",
       .inputs = {"i32[] 1", "qu8[2,1] 1 2", "qu8[2,2] 3 4 5 6", "qu8[2,1] 200 255", "f32[] 0",
                  "f32[] -1", "f32[] 0", "f32[] 1", "f32[] 1", "f32[] 2"},
       .attrs = {{"N", std::int64_t{3}}, {"T", DType::quint8}},
       .outputs = {"qu8[2,4] 85 2 3 218 86 4 4 255", "f32[] -1", "f32[] 2"}},
      {.name = "above zero",
       .inputs = {"i32[] 0", "qu8[2] 0 255", "qu8[1] 128", "f32[] 1", "f32[] 2", "f32[] 3",
                  "f32[] 4"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .outputs = {"qu8[3] 64 191 192", "f32[] 0", "f32[] 4"}},
      {.name = "ranges of nothing",
       .inputs = {"i32[] 0", "qu8[1] 5", "qu8[1] 6", "f32[] 0", "f32[] 0", "f32[] 0", "f32[] 0"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .outputs = {"qu8[2] 5 6", "f32[] 0", "f32[] 0"}},
      {.name = "nothing",
       .inputs = {"i32[] 0", "qu8[0]", "qu8[0]", "f32[] 0", "f32[] 0", "f32[] 1", "f32[] 2"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .outputs = {"qu8[0]", "f32[] 0", "f32[] 2"}},
      {.name = "a dimension that is not there",
       .inputs = {"i32[] 1", "qu8[1] 1", "qu8[1] 2", "f32[] 0", "f32[] 0", "f32[] 1", "f32[] 1"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .error = "ConcatOp : Expected concatenating dimensions in the range [0, 1), but got 1"},
      {.name = "from the end",
       .inputs = {"i32[] -1", "qu8[1] 1", "qu8[1] 2", "f32[] 0", "f32[] 0", "f32[] 1", "f32[] 1"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .error = "ConcatOp : Expected concatenating dimensions in the range [0, 1), but got -1"},
      {.name = "a vector of dimensions",
       .inputs = {"i32[1] 0", "qu8[1] 1", "qu8[1] 2", "f32[] 0", "f32[] 0", "f32[] 1", "f32[] 1"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .error = "Concat dim tensor should be a scalar integer, but got shape [1]"},
      {.name = "scalars",
       .inputs = {"i32[] 0", "qu8[] 1", "qu8[] 2", "f32[] 0", "f32[] 0", "f32[] 1", "f32[] 1"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .error = "ConcatOp : Expected concatenating dimensions in the range [0, 0), but got 0"},
      {.name = "other ranks",
       .inputs = {"i32[] 0", "qu8[1] 1", "qu8[1,1] 2", "f32[] 0", "f32[] 0", "f32[] 1", "f32[] 1"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .error = "ConcatOp : Ranks of all input tensors should match: shape[0] = [1] vs. shape[1] = "
                "[1,1]"},
      {.name = "other sizes",
       .inputs = {"i32[] 0", "qu8[1,2] 1", "qu8[1,3] 2", "f32[] 0", "f32[] 0", "f32[] 1",
                  "f32[] 1"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .error =
           "ConcatOp : Dimensions of inputs should match: shape[0] = [1,2] vs. shape[1] = [1,3]"},
      {.name = "no bound",
       .inputs = {"i32[] 0", "qu8[1] 1", "qu8[1] 2", "f32[0]", "f32[] 0", "f32[] 1", "f32[] 1"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .error = "input_mins each tensor's num elements must be 1, given num elements 0 in index 0"},
      {.name = "two bounds",
       .inputs = {"i32[] 0", "qu8[1] 1", "qu8[1] 2", "f32[] 0", "f32[] 0", "f32[] 1", "f32[2] 1"},
       .attrs = {{"N", std::int64_t{2}}, {"T", DType::quint8}},
       .error =
           "input_maxes each tensor's num elements must be 1, given num elements 2 in index 1"},
  };
}

} // namespace
} // namespace troupe
