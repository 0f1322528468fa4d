// Cases of RandomUniform, RandomStandardNormal, TruncatedNormal, RandomUniformInt and the stateless
// ones; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(RandomUniform) {
  return {
      {
          .name = "float32",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[7] 0.95227146 0.67740774 0.79531825 0.75578177 0.4759556 0.6310148 "
                      "0.18602037"},
      },
      {
          .name = "float64",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float64}},
          .outputs = {"f64[7] 0.6181726095777149 0.36254602252651336 0.8076457653772362 "
                      "0.4881631901754211 0.6897747269334924 0.7535973263109803 "
                      "0.5913636136714606"},
      },
      {
          .name = "float16",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float16}},
          .outputs = {"f16[7] 0.0078125 0.32421875 0.24707031 0.3642578 0.028320312 0.2734375 "
                      "0.87890625"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::bfloat16}},
          .outputs = {"bf16[7] 0.0625 0.59375 0.9765625 0.9140625 0.2265625 0.1875 0.03125"},
      },
      {
          .name = "a matrix",
          .inputs = {"i32[2] 3 5"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[3,5] 0.95227146 0.67740774 0.79531825 0.75578177 0.4759556 "
                      "0.6310148 0.18602037 0.11430776 0.3362218 0.723335 0.21919966 "
                      "0.8573376 0.82392037 0.59541273 0.0029627085"},
      },
      {
          .name = "a scalar",
          .inputs = {"i32[0]"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[] 0.95227146"},
      },
      {
          .name = "sizes of int64",
          .inputs = {"i64[2] 2"},
          .attrs = {{"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{1}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[2,2] 0.3875184 0.7485455 0.54871905 0.97527564"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[2] 0 3"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "negative seeds",
          .inputs = {"i32[1] 3"},
          .attrs = {{"seed", std::int64_t{-1}},
                    {"seed2", std::int64_t{-2}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[3] 0.25040865 0.37431252 0.18281448"},
      },
      {
          .name = "without seeds anything may come",
          .inputs = {"i32[1] 3"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"?"},
      },
      {
          .name = "a matrix of sizes",
          .inputs = {"i32[1,2] 0"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Shape must be rank 1 but is rank 2",
      },
      {
          .name = "a negative size",
          .inputs = {"i32[2] 2 -3"},
          .attrs = {{"dtype", DType::float32}},
          .error = "-3",
      },
  };
}

TROUPE_OP_CASES(RandomStandardNormal) {
  return {
      {
          .name = "float32",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[7] -0.28077507 -0.1377521 -0.6763296 0.024580413 -0.89358455 "
                      "-0.82847327 1.2068944"},
      },
      {
          .name = "float64",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float64}},
          .outputs = {"f64[7] 0.7456244549943906 -0.6371964266311646 0.04856931364585292 "
                      "-0.6518469707884212 -0.861626965289776 0.01947838523914368 "
                      "0.15208843595329613"},
      },
      {
          .name = "float16",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float16}},
          .outputs = {"f16[7] -0.28076172 -0.13769531 -0.67626953 0.02458191 -0.8935547 "
                      "-0.8286133 1.2070312"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::bfloat16}},
          .outputs = {"bf16[7] -0.28125 -0.13769531 -0.67578125 0.024536133 -0.89453125 "
                      "-0.828125 1.203125"},
      },
      {
          .name = "a matrix",
          .inputs = {"i32[2] 3 5"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[3,5] -0.28077507 -0.1377521 -0.6763296 0.024580413 -0.89358455 "
                      "-0.82847327 1.2068944 1.3810157 -1.4557977 -0.24621388 -1.3608406 "
                      "1.0879604 -0.3511659 -0.5138534 3.4117208"},
      },
      {
          .name = "a scalar",
          .inputs = {"i32[0]"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[] -0.28077507"},
      },
      {
          .name = "sizes of int64",
          .inputs = {"i64[2] 2"},
          .attrs = {{"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{1}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[2,2] -1.3768897 -0.012583158 -0.169515 1.0824056"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[2] 0 3"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "negative seeds",
          .inputs = {"i32[1] 3"},
          .attrs = {{"seed", std::int64_t{-1}},
                    {"seed2", std::int64_t{-2}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[3] 1.1817883 -1.1716223 -0.4502997"},
      },
      {
          .name = "without seeds anything may come",
          .inputs = {"i32[1] 3"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"?"},
      },
      {
          .name = "a matrix of sizes",
          .inputs = {"i32[1,2] 0"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Shape must be rank 1 but is rank 2",
      },
      {
          .name = "a negative size",
          .inputs = {"i32[2] 2 -3"},
          .attrs = {{"dtype", DType::float32}},
          .error = "-3",
      },
  };
}

TROUPE_OP_CASES(TruncatedNormal) {
  return {
      {
          .name = "float32",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[7] -0.28077507 -0.1377521 -0.6763296 0.024580413 -0.46845472 "
                      "-0.0024663184 -0.9745911"},
      },
      {
          .name = "float64",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float64}},
          .outputs = {"f64[7] 0.7456244549943906 -0.6371964266311646 1.0386338435537557 "
                      "0.8440623680320994 -0.10011952002828886 1.884183291284533 "
                      "-0.47788560475926145"},
      },
      {
          .name = "float16",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float16}},
          .outputs = {"f16[7] -0.28076172 -0.13769531 -0.67626953 0.02458191 -0.46850586 "
                      "-0.0024662018 -0.9746094"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i32[1] 7"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::bfloat16}},
          .outputs = {"bf16[7] -0.28125 -0.13769531 -0.67578125 0.024536133 -0.46875 "
                      "-0.0024719238 -0.97265625"},
      },
      {
          .name = "a matrix",
          .inputs = {"i32[2] 3 5"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[3,5] -0.28077507 -0.1377521 -0.6763296 0.024580413 -0.46845472 "
                      "-0.0024663184 -0.9745911 0.6638492 0.4368011 -0.7038976 0.6426843 "
                      "1.4513893 1.8412819 -0.15879929 -1.0607921"},
      },
      {
          .name = "a scalar",
          .inputs = {"i32[0]"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[] -0.28077507"},
      },
      {
          .name = "sizes of int64",
          .inputs = {"i64[2] 2"},
          .attrs = {{"seed", std::int64_t{5}},
                    {"seed2", std::int64_t{1}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[2,2] -1.3768897 -0.012583158 -0.169515 1.0824056"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[2] 0 3"},
          .attrs = {{"seed", std::int64_t{87654321}},
                    {"seed2", std::int64_t{42}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "negative seeds",
          .inputs = {"i32[1] 3"},
          .attrs = {{"seed", std::int64_t{-1}},
                    {"seed2", std::int64_t{-2}},
                    {"dtype", DType::float32}},
          .outputs = {"f32[3] 1.1817883 -1.1716223 -0.4502997"},
      },
      {
          .name = "without seeds anything may come",
          .inputs = {"i32[1] 3"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"?"},
      },
      {
          .name = "a matrix of sizes",
          .inputs = {"i32[1,2] 0"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Shape must be rank 1 but is rank 2",
      },
      {
          .name = "a negative size",
          .inputs = {"i32[2] 2 -3"},
          .attrs = {{"dtype", DType::float32}},
          .error = "-3",
      },
  };
}

TROUPE_OP_CASES(RandomUniformInt) {
  return {
      {
          .name = "int32",
          .inputs = {"i32[1] 5", "i32[] -3", "i32[] 100"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{10}}},
          .outputs = {"i32[5] 74 81 18 82 48"},
      },
      {
          .name = "int64",
          .inputs = {"i32[1] 5", "i64[] -3", "i64[] 100"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{10}}},
          .outputs = {"i64[5] 10 17 62 69 28"},
      },
      {
          .name = "a scalar",
          .inputs = {"i32[0]", "i32[] 0", "i32[] 3"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{10}}},
          .outputs = {"i32[] 2"},
      },
      {
          .name = "all of int64",
          .inputs = {"i32[1] 3", "i64[] -9223372036854775808", "i64[] 9223372036854775807"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{10}}},
          .outputs = {"i64[3] 8537265645564967719 -4945910239762067924 -6771922872960097107"},
      },
      {
          .name = "nothing, even of an empty range",
          .inputs = {"i32[1] 0", "i32[] 2", "i32[] 2"},
          .attrs = {{"seed", std::int64_t{5}}, {"seed2", std::int64_t{10}}},
          .outputs = {"i32[0]"},
      },
      {
          .name = "an empty range",
          .inputs = {"i32[1] 2", "i32[] 2", "i32[] 2"},
          .error = "Need minval < maxval, got 2 >= 2",
      },
      {
          .name = "minval is no scalar",
          .inputs = {"i32[1] 2", "i32[1] 1", "i32[] 2"},
          .error = "minval must be a scalar; got a tensor of shape [1]",
      },
      {
          .name = "maxval is no scalar",
          .inputs = {"i32[1] 2", "i32[] 2", "i32[2] 1 2"},
          .error = "maxval must be a scalar; got a tensor of shape [2]",
      },
  };
}

TROUPE_OP_CASES(StatelessRandomUniform) {
  return {
      {
          .name = "float32",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[7] 0.8440604 0.19204533 0.9962232 0.1603874 0.27199018 0.649346 "
                      "0.10694444"},
      },
      {
          .name = "float64",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::float64}},
          .outputs = {"f64[7] 0.7524837538451801 0.9697857725627486 0.17592233912897481 "
                      "0.8555556648693279 0.514811871731222 0.6077450497806227 "
                      "0.8271102573257645"},
      },
      {
          .name = "float16",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::float16}},
          .outputs = {"f16[7] 0.54296875 0.23535156 0.060546875 0.8935547 0.14355469 "
                      "0.4423828 0.08886719"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::bfloat16}},
          .outputs = {"bf16[7] 0.34375 0.8828125 0.484375 0.1484375 0.1484375 0.5390625 "
                      "0.7109375"},
      },
      {
          .name = "a matrix",
          .inputs = {"i64[2] 2 3", "i32[2] 1 2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[2,3] 0.8440604 0.19204533 0.9962232 0.1603874 0.27199018 0.649346"},
      },
      {
          .name = "negative seeds",
          .inputs = {"i32[1] 3", "i32[2] -1 -2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[3] 0.9426836 0.52127993 0.7485379"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[2] 0 3", "i32[2] 1 2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "three seeds",
          .inputs = {"i32[1] 2", "i32[3] 1 2 3"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Dimension must be 2 but is 3",
      },
      {
          .name = "a matrix of seeds",
          .inputs = {"i32[1] 2", "i32[1,2] 0"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Shape must be rank 1 but is rank 2",
      },
  };
}

TROUPE_OP_CASES(StatelessRandomNormal) {
  return {
      {
          .name = "float32",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[7] 0.5441101 0.20738031 0.07356432 0.04643455 -1.3015898 "
                      "-0.9538565 0.84172857"},
      },
      {
          .name = "float64",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::float64}},
          .outputs = {"f64[7] -0.1423118100189212 0.7406072461585091 -1.469047669443883 "
                      "1.147747453689489 -0.7218813856153005 -0.898217540706226 "
                      "0.6003592788009644"},
      },
      {
          .name = "float16",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::float16}},
          .outputs = {"f16[7] 0.5439453 0.20739746 0.07354736 0.046447754 -1.3017578 "
                      "-0.9536133 0.8417969"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::bfloat16}},
          .outputs = {"bf16[7] 0.54296875 0.20703125 0.07373047 0.04638672 -1.3046875 "
                      "-0.953125 0.83984375"},
      },
      {
          .name = "a matrix",
          .inputs = {"i64[2] 2 3", "i32[2] 1 2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[2,3] 0.5441101 0.20738031 0.07356432 0.04643455 -1.3015898 "
                      "-0.9538565"},
      },
      {
          .name = "negative seeds",
          .inputs = {"i32[1] 3", "i32[2] -1 -2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[3] -0.04580224 -0.3405163 0.5670999"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[2] 0 3", "i32[2] 1 2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "three seeds",
          .inputs = {"i32[1] 2", "i32[3] 1 2 3"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Dimension must be 2 but is 3",
      },
      {
          .name = "a matrix of seeds",
          .inputs = {"i32[1] 2", "i32[1,2] 0"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Shape must be rank 1 but is rank 2",
      },
  };
}

TROUPE_OP_CASES(StatelessTruncatedNormal) {
  return {
      {
          .name = "float32",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[7] 0.5441101 0.20738031 0.07356432 0.04643455 0.16820592 "
                      "-1.6850333 0.24202858"},
      },
      {
          .name = "float64",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::float64}},
          .outputs = {"f64[7] -0.1423118100189212 0.7406072461585091 -0.552387756244845 "
                      "-0.734450092480207 -0.39842023956588357 0.1899654040344941 "
                      "-1.1075957112525743"},
      },
      {
          .name = "float16",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::float16}},
          .outputs = {"f16[7] 0.5439453 0.20739746 0.07354736 0.046447754 0.16821289 "
                      "-1.6845703 0.24206543"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i32[1] 7", "i64[2] 1 2"},
          .attrs = {{"dtype", DType::bfloat16}},
          .outputs = {"bf16[7] 0.54296875 0.20703125 0.07373047 0.04638672 0.16796875 -1.6875 "
                      "0.2421875"},
      },
      {
          .name = "a matrix",
          .inputs = {"i64[2] 2 3", "i32[2] 1 2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[2,3] 0.5441101 0.20738031 0.07356432 0.04643455 0.16820592 "
                      "-1.6850333"},
      },
      {
          .name = "negative seeds",
          .inputs = {"i32[1] 3", "i32[2] -1 -2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[3] -0.04580224 -0.3405163 0.5670999"},
      },
      {
          .name = "nothing",
          .inputs = {"i32[2] 0 3", "i32[2] 1 2"},
          .attrs = {{"dtype", DType::float32}},
          .outputs = {"f32[0,3]"},
      },
      {
          .name = "three seeds",
          .inputs = {"i32[1] 2", "i32[3] 1 2 3"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Dimension must be 2 but is 3",
      },
      {
          .name = "a matrix of seeds",
          .inputs = {"i32[1] 2", "i32[1,2] 0"},
          .attrs = {{"dtype", DType::float32}},
          .error = "Shape must be rank 1 but is rank 2",
      },
  };
}

} // namespace
} // namespace troupe
