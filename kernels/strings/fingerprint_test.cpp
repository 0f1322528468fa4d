// Cases of Fingerprint; numbers are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Fingerprint) {
  const std::string method = "str[] \"farmhash64\"";
  return {
      {.name = "more hashes than there can be",
       .inputs = {"u8[4611686018427387904,0]", method},
       .error = "more than 2^63 - 1 elements"},
      {.name = "bytes",
       .inputs = {"u8[1,3,4] 47 48 49 50 51 52 53 54 55 56 57 58", method},
       .outputs = {"u8[1,8] 210 247 121 222 102 59 255 8"}},
      {.name = "floats",
       .inputs = {"f32[2,2] 1 2 3 4", method},
       .outputs = {"u8[2,8] 223 178 164 36 10 49 237 154 174 215 15 51 84 145 74 9"}},
      {.name = "booleans",
       .inputs = {"bool[2] true false", method},
       .outputs = {"u8[2,8] 62 88 126 177 19 76 162 71 84 75 233 245 237 86 96 190"}},
      {.name = "texts",
       .inputs = {"str[2] \"a\" \"bc\"", method},
       .outputs = {"u8[2,8] 227 117 223 182 101 66 69 179 119 129 82 223 68 160 90 83"}},
      {.name = "several texts in a row",
       .inputs = {"str[2,2] \"a\" \"bc\" \"\" \"x\"", method},
       .outputs = {"u8[2,8] 85 27 103 37 147 177 144 87 221 65 188 47 25 159 14 122"}},
      {.name = "no rows", .inputs = {"i32[0,3]", method}, .outputs = {"u8[0,8]"}},
      {.name = "empty rows",
       .inputs = {"i32[2,0]", method},
       .outputs = {"u8[2,8] 79 64 144 47 59 106 225 154 79 64 144 47 59 106 225 154"}},
      {.name = "a scalar",
       .inputs = {"i32[] 1", method},
       .error = "`data` should have at least one dimension: []"},
      {.name = "methods",
       .inputs = {"i32[1] 1", "str[1] \"farmhash64\""},
       .error = "`method` should be a scalar string: [1]"},
      {.name = "another method",
       .inputs = {"i32[1] 1", "str[] \"md5\""},
       .error = "Unsupported fingerprint method: md5"},
      {.name = "handles",
       .inputs = {"resource[0]", method},
       .error = "Data type not supported: DT_RESOURCE"},
  };
}

} // namespace
} // namespace troupe
