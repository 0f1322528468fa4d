#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

// "hello" ten times, as Python's zlib and gzip compress it.
constexpr auto zlib = R"("\x78\x9c\xcb\x48\xcd\xc9\xc9\xcf\x20\x85\x00\x00\x11\x6a\x14\xc9")";
constexpr auto gzip =
    R"("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\xcf\x20\x85\x00\x00\x1a\x1c\xb4\x8d\x32\x00\x00\x00")";

} // namespace

TROUPE_OP_CASES(DecodeCompressed) {
  const std::string hello = "\"hellohellohellohellohellohellohellohellohellohello\"";
  return {
      {.name = "not compressed",
       .inputs = {"str[2] \"abc\" \"\""},
       .outputs = {"str[2] \"abc\" \"\""}},
      {.name = "ZLIB",
       .inputs = {std::string("str[1,1] ") + zlib},
       .attrs = {{"compression_type", std::string("ZLIB")}},
       .outputs = {"str[1,1] " + hello}},
      {.name = "GZIP, and a text that is cut off",
       .inputs = {std::string("str[2] ") + gzip + " " + std::string(gzip).substr(0, 4 * 16 + 1) +
                  "\""},
       .attrs = {{"compression_type", std::string("GZIP")}},
       .outputs = {"str[2] " + hello + " \"hello\""}},
      {.name = "nothing is compressed into nothing",
       .inputs = {"str[] \"\""},
       .attrs = {{"compression_type", std::string("GZIP")}},
       .outputs = {"str[] \"\""}},
      {.name = "no texts",
       .inputs = {"str[0]"},
       .attrs = {{"compression_type", std::string("ZLIB")}},
       .outputs = {"str[0]"}},
      {.name = "what is not compressed is refused",
       .inputs = {"str[] \"xyz\""},
       .attrs = {{"compression_type", std::string("ZLIB")}},
       .error = "inflate() failed with error -3: incorrect header check"},
      {.name = "another kind is refused",
       .inputs = {"str[] \"abc\""},
       .attrs = {{"compression_type", std::string("SNAPPY")}},
       .error = "Only ZLIB, GZIP or NONE are supported compressions"},
  };
}

} // namespace troupe
