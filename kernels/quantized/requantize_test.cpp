// Cases of RequantizationRange, Requantize and QuantizeDownAndShrinkRange; values are those of
// TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(RequantizationRange) {
  return {
      {.name = "all of it",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[] -10", "f32[] 20"},
       .outputs = {"f32[] -10", "f32[] 20"}},
      {.name = "a part of it",
       .inputs = {"qi32[4] 100000 200000000 700000000 5", "f32[] -10", "f32[] 20"},
       .outputs = {"f32[] 0", "f32[] 9.889443"}},
      {.name = "below zero",
       .inputs = {"qi32[2] -2000000000 -1500000000", "f32[] -10", "f32[] 20"},
       .outputs = {"f32[] -8.969838", "f32[] -5.477379"}},
      {.name = "nothing",
       .inputs = {"qi32[0]", "f32[] -10", "f32[] 20"},
       .outputs = {"f32[] 0", "f32[] -10"}},
      {.name = "a scalar",
       .inputs = {"qi32[] 7", "f32[] -10", "f32[] 20"},
       .outputs = {"f32[] 0", "f32[] 5"}},
      {.name = "no least bound",
       .inputs = {"qi32[4] 100000 200000000 700000000 5", "f32[0]", "f32[] 1"},
       .error = "Input min must not be empty."},
      {.name = "no most bound",
       .inputs = {"qi32[4] 100000 200000000 700000000 5", "f32[] 0", "f32[0]"},
       .error = "Input max must not be empty."},
  };
}

TROUPE_OP_CASES(Requantize) {
  return {
      {.name = "to quint8",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[] -10", "f32[] 20",
                  "f32[] -10", "f32[] 20"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[5] 0 68 128 128 255", "f32[] -10", "f32[] 20"}},
      {.name = "to qint8",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[] -10", "f32[] 20",
                  "f32[] -10", "f32[] 20"},
       .attrs = {{"out_type", DType::qint8}},
       .outputs = {"qi8[5] -128 -60 0 0 127", "f32[] -10", "f32[] 20"}},
      {.name = "a part of it",
       .inputs = {"qi32[4] 100000 200000000 700000000 5", "f32[] -10", "f32[] 20", "f32[] -1",
                  "f32[] 12"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[4] 118 145 214 118", "f32[] -1", "f32[] 12"}},
      {.name = "a part of it to qint8",
       .inputs = {"qi32[4] 100000 200000000 700000000 5", "f32[] -10", "f32[] 20", "f32[] -1",
                  "f32[] 12"},
       .attrs = {{"out_type", DType::qint8}},
       .outputs = {"qi8[4] -10 17 86 -10", "f32[] -1", "f32[] 12"}},
      {.name = "a range of nothing",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[] -10", "f32[] 20",
                  "f32[] -1", "f32[] -1"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[5] 0", "f32[] -1", "f32[] -1"}},
      {.name = "nothing",
       .inputs = {"qi32[0,3]", "f32[] -10", "f32[] 20", "f32[] 0", "f32[] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[0,3]", "f32[] 0", "f32[] 1"}},
      {.name = "a least bound above zero",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[] -10", "f32[] 20",
                  "f32[] 0.5", "f32[] 2"},
       .attrs = {{"out_type", DType::quint8}},
       .error = "requested_output_min must be <= 0, but got 0.5"},
      {.name = "bounds in order",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[] -10", "f32[] 20",
                  "f32[] -1", "f32[] -2"},
       .attrs = {{"out_type", DType::qint8}},
       .error = "requested_output_max must be >= requested_output_min, but got -2 and -1"},
      {.name = "a bound in a vector",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[1] 0", "f32[] 1",
                  "f32[] 0", "f32[] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .error = "`input_min` must be rank 0 but is rank 1"},
      {.name = "two wanted bounds",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[] -10", "f32[] 20",
                  "f32[] 0", "f32[2] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .error = "`requested_output_max` must be rank 0 but is rank 1"},
  };
}

TROUPE_OP_CASES(QuantizeDownAndShrinkRange) {
  return {
      {.name = "all of it",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[] -10", "f32[] 20"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[5] 0 68 128 128 255", "f32[] -10", "f32[] 20"}},
      {.name = "a part of it",
       .inputs = {"qi32[4] 100000 200000000 700000000 5", "f32[] -10", "f32[] 20"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[4] 129 165 255 129", "f32[] 0", "f32[] 9.889443"}},
      {.name = "below zero",
       .inputs = {"qi32[2] -2000000000 -1500000000", "f32[] -10", "f32[] 20"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[2] 0 255", "f32[] -8.969838", "f32[] -5.477379"}},
      {.name = "nothing",
       .inputs = {"qi32[0]", "f32[] -10", "f32[] 20"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[0]", "f32[] 0", "f32[] -10"}},
      {.name = "high rank",
       .inputs = {"qi32[1,2,1,1,1,2] 1000000000 -1 2000000000 5", "f32[] -10", "f32[] 20"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[1,2,1,1,1,2] 161 67 255 67", "f32[] 0", "f32[] 18.96984"}},
      {.name = "a bound in a vector",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[1] 0", "f32[] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .error = "`input_min` must be rank 0 but is rank 1"},
      {.name = "two bounds",
       .inputs = {"qi32[5] -2147483648 -1000000000 0 5 2147483647", "f32[] 0", "f32[2] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .error = "`input_max` must be rank 0 but is rank 1"},
  };
}

} // namespace
} // namespace troupe
