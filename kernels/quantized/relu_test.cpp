// Cases of QuantizedRelu and QuantizedRelu6; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(QuantizedRelu) {
  return {
      {.name = "quint8",
       .inputs = {"qu8[5] 0 63 64 128 255", "f32[] -1", "f32[] 3"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[5] 64 64 64 128 255", "f32[] -1", "f32[] 3"}},
      {.name = "beyond 6",
       .inputs = {"qu8[5] 0 63 64 128 255", "f32[] -8", "f32[] 16"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[5] 85 85 85 128 255", "f32[] -8", "f32[] 16"}},
      {.name = "qint32",
       .inputs = {"qi32[2,3] -2147483648 -7 0 7 1500000000 2147483647", "f32[] -10", "f32[] 10"},
       .attrs = {{"out_type", DType::qint32}},
       .outputs = {"qi32[2,3] 0 0 0 7 1500000000 2147483647", "f32[] -10", "f32[] 10"}},
      {.name = "zero outside of the range",
       .inputs = {"qu8[3] 0 128 255", "f32[] 1", "f32[] 3"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[3] 0 128 255", "f32[] 1", "f32[] 3"}},
      {.name = "a range of nothing",
       .inputs = {"qu8[3] 0 128 255", "f32[] 1", "f32[] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[3] 0 128 255", "f32[] 1", "f32[] 1"}},
      {.name = "bounds in order",
       .inputs = {"qu8[3] 0 128 255", "f32[] 1", "f32[] 0"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[3] 255", "f32[] 1", "f32[] 0"}},
      {.name = "a scalar",
       .inputs = {"qu8[] 1", "f32[] -1", "f32[] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[] 128", "f32[] -1", "f32[] 1"}},
      {.name = "nothing",
       .inputs = {"qi32[0,2]", "f32[] -1", "f32[] 1"},
       .attrs = {{"out_type", DType::qint32}},
       .outputs = {"qi32[0,2]", "f32[] -1", "f32[] 1"}},
      {.name = "a bound in a vector",
       .inputs = {"qu8[] 1", "f32[1] -1", "f32[] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .error = "`min_input` must be rank 0 but is rank 1"},
      {.name = "two bounds",
       .inputs = {"qu8[] 1", "f32[] -1", "f32[2] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .error = "`max_input` must be rank 0 but is rank 1"},
  };
}

TROUPE_OP_CASES(QuantizedRelu6) {
  return {
      {.name = "quint8",
       .inputs = {"qu8[5] 0 63 64 128 255", "f32[] -1", "f32[] 3"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[5] 64 64 64 128 255", "f32[] -1", "f32[] 3"}},
      {.name = "beyond 6",
       .inputs = {"qu8[5] 0 63 64 128 255", "f32[] -8", "f32[] 16"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[5] 85 85 85 128 149", "f32[] -8", "f32[] 16"}},
      {.name = "qint32",
       .inputs = {"qi32[2,3] -2147483648 -7 0 7 1500000000 2147483647", "f32[] -10", "f32[] 10"},
       .attrs = {{"out_type", DType::qint32}},
       .outputs = {"qi32[2,3] 0 0 0 7 1288490189 1288490189", "f32[] -10", "f32[] 10"}},
      {.name = "zero outside of the range",
       .inputs = {"qu8[3] 0 128 255", "f32[] 1", "f32[] 3"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[3] 0 128 255", "f32[] 1", "f32[] 3"}},
      {.name = "a range of nothing",
       .inputs = {"qu8[3] 0 128 255", "f32[] 1", "f32[] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[3] 0", "f32[] 1", "f32[] 1"}},
      {.name = "bounds in order",
       .inputs = {"qu8[3] 0 128 255", "f32[] 1", "f32[] 0"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[3] 0", "f32[] 1", "f32[] 0"}},
      {.name = "a scalar",
       .inputs = {"qu8[] 1", "f32[] -1", "f32[] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .outputs = {"qu8[] 128", "f32[] -1", "f32[] 1"}},
      {.name = "nothing",
       .inputs = {"qi32[0,2]", "f32[] -1", "f32[] 1"},
       .attrs = {{"out_type", DType::qint32}},
       .outputs = {"qi32[0,2]", "f32[] -1", "f32[] 1"}},
      {.name = "a bound in a vector",
       .inputs = {"qu8[] 1", "f32[1] -1", "f32[] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .error = "`min_input` must be rank 0 but is rank 1"},
      {.name = "two bounds",
       .inputs = {"qu8[] 1", "f32[] -1", "f32[2] 1"},
       .attrs = {{"out_type", DType::quint8}},
       .error = "`max_input` must be rank 0 but is rank 1"},
  };
}

} // namespace
} // namespace troupe
