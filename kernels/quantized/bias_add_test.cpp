// Cases of QuantizedBiasAdd; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using Attrs = std::vector<std::pair<std::string, AttrValue>>;
const Attrs sums = {{"out_type", DType::qint32}};

TROUPE_OP_CASES(QuantizedBiasAdd) {
  return {
      {.name = "quint8",
       .inputs = {"qu8[2,3] 0 1 127 128 200 255", "qu8[3] 0 128 255", "f32[] 0", "f32[] 1",
                  "f32[] 0", "f32[] 1"},
       .attrs = sums,
       .outputs = {"qi32[2,3] 0 8288 24544 8224 21074 32768", "f32[] -131072", "f32[] 131072"}},
      {.name = "ranges of their own",
       .inputs = {"qu8[2,3] 0 1 127 128 200 255", "qu8[3] 0 128 255", "f32[] -3", "f32[] 5",
                  "f32[] -1", "f32[] 1"},
       .attrs = sums,
       .outputs = {"qi32[2,3] -13133 -9740 6477 26 10717 19635", "f32[] -655360", "f32[] 655360"}},
      {.name = "qint8",
       .inputs = {"qi8[2,2] -128 -1 0 127", "qi8[2] -128 5", "f32[] -1", "f32[] 1", "f32[] -4",
                  "f32[] 4"},
       .attrs = sums,
       .outputs = {"qi32[2,2] -20400 771 -16288 4883", "f32[] -524288", "f32[] 524288"}},
      {.name = "bounds in order",
       .inputs = {"qu8[2,3] 0 1 127 128 200 255", "qu8[3] 1 2 3", "f32[] 1", "f32[] 0", "f32[] 0",
                  "f32[] 1"},
       .attrs = sums,
       .outputs = {"qi32[2,3] 16448 16449 8417 8224 3663 193", "f32[] -131072", "f32[] 131072"}},
      {.name = "ranges of nothing",
       .inputs = {"qu8[2,3] 0 1 127 128 200 255", "qu8[3] 1 2 3", "f32[] 0", "f32[] 0", "f32[] 0",
                  "f32[] 0"},
       .attrs = sums,
       .outputs = {"qi32[2,3] -2147483648", "f32[] -0", "f32[] 0"}},
      {.name = "no rows",
       .inputs = {"qu8[0,3]", "qu8[3] 1", "f32[] 0", "f32[] 1", "f32[] 0", "f32[] 1"},
       .attrs = sums,
       .outputs = {"qi32[0,3]", "f32[] -131072", "f32[] 131072"}},
      {.name = "high rank",
       .inputs = {"qu8[1,1,1,2,2] 1 2 3 4", "qu8[2] 9 10", "f32[] 0", "f32[] 1", "f32[] 0",
                  "f32[] 1"},
       .attrs = sums,
       .outputs = {"qi32[1,1,1,2,2] 642 772 771 900", "f32[] -131072", "f32[] 131072"}},
      {.name = "no biases",
       .inputs = {"qu8[2,0]", "qu8[0]", "f32[] 0", "f32[] 1", "f32[] 0", "f32[] 1"},
       .attrs = sums,
       .error = "Must provide at least 1 bias"},
      {.name = "a vector",
       .inputs = {"qu8[3] 1", "qu8[3] 1", "f32[] 0", "f32[] 1", "f32[] 0", "f32[] 1"},
       .attrs = sums,
       .error = "Input tensor must be at least 2D: [3]"},
      {.name = "a matrix of biases",
       .inputs = {"qu8[2,3] 0 1 127 128 200 255", "qu8[1,3] 1", "f32[] 0", "f32[] 1", "f32[] 0",
                  "f32[] 1"},
       .attrs = sums,
       .error = "Biases must be 1D: [1,3]"},
      {.name = "too few biases",
       .inputs = {"qu8[2,3] 0 1 127 128 200 255", "qu8[2] 1", "f32[] 0", "f32[] 1", "f32[] 0",
                  "f32[] 1"},
       .attrs = sums,
       .error =
           "Must provide as many biases as the last dimension of the input tensor: [2] vs. [2,3]"},
      {.name = "a bound in a vector",
       .inputs = {"qu8[2,3] 0 1 127 128 200 255", "qu8[3] 1", "f32[1] 0", "f32[] 1", "f32[] 0",
                  "f32[] 1"},
       .attrs = sums,
       .error = "`min_input` must be rank 0 but is rank 1"},
      {.name = "two bounds",
       .inputs = {"qu8[2,3] 0 1 127 128 200 255", "qu8[3] 1", "f32[] 0", "f32[] 1", "f32[] 0",
                  "f32[2] 1"},
       .attrs = sums,
       .error = "`max_bias` must be rank 0 but is rank 1"},
  };
}

} // namespace
} // namespace troupe
