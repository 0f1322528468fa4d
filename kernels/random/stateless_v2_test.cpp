// Cases of the stateless random ops that take a generator, of those that make one, and of integers
// from seeds; numbers are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(StatelessRandomGetKeyCounter) {
  return {
      {
          .name = "two seeds",
          .inputs = {"i32[2] 1 2"},
          .outputs = {"u64[1] 10413732777507651514", "u64[2] 0 17830669156045600267"},
      },
      {
          .name = "seeds of 64 bits",
          .inputs = {"i64[2] -1 1099511627776"},
          .outputs = {"u64[1] 10657524833782568969", "u64[2] 0 2387097384896187166"},
      },
      {
          .name = "three seeds",
          .inputs = {"i32[3] 1 2 3"},
          .error = "Dimension must be 2 but is 3",
      },
  };
}

TROUPE_OP_CASES(StatelessRandomGetKeyCounterAlg) {
  return {
      {
          .name = "two seeds",
          .inputs = {"i32[2] 1 2"},
          .outputs = {"u64[1] 10413732777507651514", "u64[2] 0 17830669156045600267", "i32[] 1"},
      },
  };
}

TROUPE_OP_CASES(StatelessRandomGetAlg) {
  return {
      {
          .name = "Philox",
          .inputs = {},
          .outputs = {"i32[] 1"},
      },
  };
}

TROUPE_OP_CASES(StatelessRandomUniformV2) {
  return {
      {
          .name = "float32",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[2,5] 0.264794 0.73640835 0.39208686 0.3564775 0.9622319 0.5094954 "
                      "0.06512141 0.78819835 0.07592869 0.40409827"},
      },
      {
          .name = "float64",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float64}},
          .outputs = {"f64[2,5] 0.11835196565167672 0.1366953279012395 0.697855868394478 "
                      "0.5209714431095838 0.6074302744196696 0.7332564779812067 0.7830285433027879 "
                      "0.6161269494691435 0.06369688299437759 0.14109944504706573"},
      },
      {
          .name = "float16",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float16}},
          .outputs =
              {"f16[2,5] 0.1924 0.657 0.9756 0.2637 0.6035 0.786 0.4746 0.921 0.007812 0.373"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::bfloat16}},
          .outputs = {"bf16[2,5] 0.539062 0.257812 0.804688 0.109375 0.828125 0.289062 0.796875 "
                      "0.367188 0.0625 0.984375"},
      },
      {
          .name = "the algorithm is chosen here",
          .inputs = {"i64[1] 3", "u64[1] 5", "u64[2] 9223372036854775808 9", "i32[] 3"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[3] 0.94535685 0.25442743 0.94526434"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[1] 0", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[0]"},
      },
      {
          .name = "a longer counter",
          .inputs = {"i32[1] 2", "u64[1] 5", "u64[3] 7 9 11", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[2] 0.264794 0.73640835"},
      },
      {
          .name = "an unknown algorithm",
          .inputs = {"i32[1] 2", "u64[1] 5", "u64[2] 7 9", "i32[] 2"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Unsupported algorithm id: 2",
      },
      {
          .name = "a long key",
          .inputs = {"i32[1] 2", "u64[2] 5 6", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .error = "key must have shape [1], not [2]",
      },
      {
          .name = "a short counter",
          .inputs = {"i32[1] 2", "u64[1] 5", "u64[1] 7", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .error = "counter must be a vector with length at least 2; got shape: [1]",
      },
      {
          .name = "a scalar key",
          .inputs = {"i32[1] 2", "u64[] 5", "u64[2] 7 8", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Shape must be rank 1 but is rank 0",
      },
      {
          .name = "a scalar shape",
          .inputs = {"i32[] 2", "u64[1] 5", "u64[2] 7 8", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Shape must be rank 1 but is rank 0",
      },
  };
}

TROUPE_OP_CASES(StatelessRandomNormalV2) {
  return {
      {
          .name = "float32",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[2,5] -1.6242758 -0.13904917 1.0734227 -0.84870917 -0.016545465 "
                      "-0.2769944 -2.2703109 0.5556008 1.286923 -1.870762"},
      },
      {
          .name = "float64",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float64}},
          .outputs =
              {"f64[2,5] 1.5641634732522505 1.3496582151271743 -0.11144528313281421 "
               "-0.8408717669745773 -0.9929962882491526 -0.10485295164252328 -0.4662303641527644 "
               "-0.5213458615077435 1.8184928713995798 1.4833485689614911"},
      },
      {
          .name = "float16",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float16}},
          .outputs =
              {"f16[2,5] -1.624 -0.139 1.073 -0.8486 -0.01654 -0.277 -2.27 0.5557 1.287 -1.871"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::bfloat16}},
          .outputs = {"bf16[2,5] -1.625 -0.138672 1.07031 -0.847656 -0.0166016 -0.277344 -2.26562 "
                      "0.554688 1.28906 -1.86719"},
      },
      {
          .name = "the algorithm is chosen here",
          .inputs = {"i64[1] 3", "u64[1] 5", "u64[2] 9223372036854775808 9", "i32[] 3"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[3] 0.33510995 -0.009324616 -0.22733042"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[1] 0", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[0]"},
      },
  };
}

TROUPE_OP_CASES(StatelessTruncatedNormalV2) {
  return {
      {
          .name = "float32",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[2,5] -1.6242758 -0.13904917 1.0734227 -0.84870917 -0.0059557934 "
                      "0.93281376 0.07816471 -0.5444322 1.9441421 0.6649407"},
      },
      {
          .name = "float64",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float64}},
          .outputs =
              {"f64[2,5] 1.5641634732522505 1.3496582151271743 -1.7053298514833455 "
               "0.3281789249538767 -1.2978065712276265 1.3309654737319363 0.2964945652445989 "
               "-1.3061337024696877 -0.0916942410661394 -0.23354628969667432"},
      },
      {
          .name = "float16",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float16}},
          .outputs =
              {"f16[2,5] -1.624 -0.139 1.073 -0.8486 -0.005955 0.9326 0.0782 -0.5444 1.944 0.665"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i32[2] 2 5", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::bfloat16}},
          .outputs = {"bf16[2,5] -1.625 -0.138672 1.07031 -0.847656 -0.00595093 0.933594 0.078125 "
                      "-0.542969 1.94531 0.664062"},
      },
      {
          .name = "the algorithm is chosen here",
          .inputs = {"i64[1] 3", "u64[1] 5", "u64[2] 9223372036854775808 9", "i32[] 3"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[3] 0.33510995 -0.009324616 -0.22733042"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[1] 0", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[0]"},
      },
  };
}

TROUPE_OP_CASES(StatelessRandomUniformFullIntV2) {
  return {
      {
          .name = "int32",
          .inputs = {"i32[1] 7", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::int32}},
          .outputs = {"i32[7] 832693445 132006561 1697787879 1890427150 1417357930 -364824795 "
                      "-2071439898"},
      },
      {
          .name = "int64",
          .inputs = {"i32[1] 7", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::int64}},
          .outputs =
              {"i64[7] 566963863185122501 8119322786418274279 -1566910561877546390 "
               "2802615211113600486 -3552291729198958584 2668425238688807787 -1146976776978921656"},
      },
      {
          .name = "uint32",
          .inputs = {"i32[1] 7", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::uint32}},
          .outputs =
              {"u32[7] 832693445 132006561 1697787879 1890427150 1417357930 3930142501 2223527398"},
      },
      {
          .name = "uint64",
          .inputs = {"i32[1] 7", "u64[1] 5", "u64[2] 7 9", "i32[] 1"},
          .attrs = {{"dtype", DType::uint64}},
          .outputs =
              {"u64[7] 566963863185122501 8119322786418274279 16879833511832005226 "
               "2802615211113600486 14894452344510593032 2668425238688807787 17299767296730629960"},
      },
  };
}

TROUPE_OP_CASES(StatelessRandomUniformFullInt) {
  return {
      {
          .name = "int32",
          .inputs = {"i32[1] 7", "i32[2] 3 4"},
          .attrs = {{"dtype", DType::int32}},
          .outputs = {"i32[7] -1860230133 -671226999 -1390659934 1052501199 -1503457849 -798298177 "
                      "1820167994"},
      },
      {
          .name = "int64",
          .inputs = {"i32[1] 7", "i32[2] 3 4"},
          .attrs = {{"dtype", DType::int64}},
          .outputs =
              {"i64[7] -2882898006462487541 4520458231610095266 -3428664559879909945 "
               "8685440493091131194 -6881996267145200744 351138900906496178 -8347229644229779583"},
      },
      {
          .name = "uint32",
          .inputs = {"i32[1] 7", "i32[2] 3 4"},
          .attrs = {{"dtype", DType::uint32}},
          .outputs = {"u32[7] 2434737163 3623740297 2904307362 1052501199 2791509447 3496669119 "
                      "1820167994"},
      },
      {
          .name = "uint64",
          .inputs = {"i32[1] 7", "i32[2] 3 4"},
          .attrs = {{"dtype", DType::uint64}},
          .outputs =
              {"u64[7] 15563846067247064075 4520458231610095266 15018079513829641671 "
               "8685440493091131194 11564747806564350872 351138900906496178 10099514429479772033"},
      },
  };
}

TROUPE_OP_CASES(StatelessRandomUniformIntV2) {
  return {
      {
          .name = "int32",
          .inputs = {"i32[1] 7", "u64[1] 5", "u64[2] 7 9", "i32[] 1", "i32[] -5", "i32[] 1000"},
          .outputs = {"i32[7] 690 811 169 35 395 551 68"},
      },
      {
          .name = "int64",
          .inputs = {"i32[1] 7", "u64[1] 5", "u64[2] 7 9", "i32[] 1", "i64[] -5", "i64[] 1000"},
          .outputs = {"i64[7] 81 149 921 841 887 562 735"},
      },
      {
          .name = "no range",
          .inputs = {"i32[1] 7", "u64[1] 5", "u64[2] 7 9", "i32[] 1", "i32[] 5", "i32[] 5"},
          .error = "Need minval < maxval, got 5 >= 5",
      },
      {
          .name = "no range and nothing to draw",
          .inputs = {"i32[1] 0", "u64[1] 5", "u64[2] 7 9", "i32[] 1", "i32[] 5", "i32[] 5"},
          .outputs = {"i32[0]"},
      },
      {
          .name = "a vector of minima",
          .inputs = {"i32[1] 7", "u64[1] 5", "u64[2] 7 9", "i32[] 1", "i32[1] 5", "i32[1] 8"},
          .error = "minval must be 0-D, got shape [1]",
      },
  };
}

TROUPE_OP_CASES(StatelessRandomUniformInt) {
  return {
      {
          .name = "int32",
          .inputs = {"i32[1] 7", "i32[2] 5 6", "i32[] -5", "i32[] 1000"},
          .outputs = {"i32[7] 729 149 233 635 309 960 209"},
      },
      {
          .name = "int64",
          .inputs = {"i32[1] 7", "i32[2] 5 6", "i64[] -5", "i64[] 1000"},
          .outputs = {"i64[7] 853 918 329 346 348 4 839"},
      },
      {
          .name = "no range",
          .inputs = {"i32[1] 7", "i32[2] 5 6", "i32[] 5", "i32[] 4"},
          .error = "Need minval < maxval, got 5 >= 4",
      },
  };
}

} // namespace
} // namespace troupe
