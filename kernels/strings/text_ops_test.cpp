// StringFormat, AsString, StringJoin, StringSplit, Substr, StringToNumber, letters. Expected values
// are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using Dtypes = std::vector<DType>;
using namespace std::string_literals;

TROUPE_OP_CASES(StringFormat) {
  auto shown = [](std::string name, std::string input, DType dtype, std::string output,
                  std::int64_t summarize = 3) {
    return testing::OpCase{.name = std::move(name),
                           .inputs = {std::move(input)},
                           .attrs = {{"T", Dtypes{dtype}}, {"summarize", summarize}},
                           .outputs = {"str[] \"" + output + "\""}};
  };
  return {
      {.name = "no placeholder",
       .attrs = {{"T", Dtypes{}}, {"template", "text"s}},
       .outputs = {"str[] \"text\""}},
      shown("no booleans", "bool[5,0]", DType::bool_, ""),
      shown("no integers", "i32[0,5]", DType::int32, "[]"),
      {.name = "two inputs",
       .inputs = {"i32[] 1", "str[] \"a\""},
       .attrs = {{"T", Dtypes{DType::int32, DType::string}},
                 {"template", "x={} y={}."s},
                 {"placeholder", "{}"s}},
       .outputs = {"str[] \"x=1 y=\\\"a\\\".\""}},
      shown("floats", "f32[5] 0.1234567 1e10 1.5 nan -inf", DType::float32,
            "[0.123456702 1e+10 1.5 nan -inf]", -1),
      shown("doubles", "f64[3] 0.1234567 0.3333333333333333 123456789.123", DType::float64,
            "[0.1234567 0.33333333333333331 123456789.123]"),
      shown("halves", "f16[1] 1.5", DType::float16, "[1.5]"),
      shown("bool", "bool[2] true false", DType::bool_, "[1 0]"),
      shown("small integers are numbers", "u8[2] 65 66", DType::uint8, "[65 66]"),
      shown("complex numbers are not shown", "c64[1] (1,2)", DType::complex64, "[?]"),
      shown("no elements", "f32[0,3]", DType::float32, "[]"),
      shown("the ends of each dimension", "i32[4,4] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
            DType::int32, "[[0 ... 3]\\n ...\\n [12 ... 15]]", 1),
      shown("rank 3", "i32[2,2,1] 0 1 2 3", DType::int32, "[[[0]\\n  [1]]\\n\\n [[2]\\n  [3]]]"),
      {.name = "one placeholder too many",
       .attrs = {{"T", Dtypes{}}, {"template", "%s"s}},
       .error = "num placeholders in template and num inputs must match: 1 vs. 0"},
  };
}

TROUPE_OP_CASES(AsString) {
  return {
      {.name = "a scalar", .inputs = {"f32[] 1.5"}, .outputs = {"str[] \"1.500000\""}},
      {.name = "no elements", .inputs = {"f32[0,2]"}, .outputs = {"str[0,2]"}},
      {.name = "texts stay as they are",
       .inputs = {"str[1] \"a\""},
       .attrs = {{"scientific", true}, {"precision", std::int64_t{2}}},
       .outputs = {"str[1] \"a\""}},
      {.name = "NaN and infinity",
       .inputs = {"f64[3] nan inf -inf"},
       .outputs = {"str[3] \"nan\" \"inf\" \"-inf\""}},
      {.name = "precision",
       .inputs = {"f64[1] 1.005"},
       .attrs = {{"precision", std::int64_t{2}}},
       .outputs = {"str[1] \"1.00\""}},
      {.name = "scientific",
       .inputs = {"f32[1] 1500"},
       .attrs = {{"scientific", true}},
       .outputs = {"str[1] \"1.500000e+03\""}},
      {.name = "shortest",
       .inputs = {"f32[1] 1500"},
       .attrs = {{"shortest", true}},
       .outputs = {"str[1] \"1500\""}},
      {.name = "half", .inputs = {"f16[1] 1.5"}, .outputs = {"str[1] \"1.500000\""}},
      {.name = "bfloat16", .inputs = {"bf16[1] 1.5"}, .outputs = {"str[1] \"1.500000\""}},
      {.name = "complex",
       .inputs = {"c64[1] (1,2)"},
       .attrs = {{"precision", std::int64_t{2}}, {"width", std::int64_t{6}}},
       .outputs = {"str[1] \"(  1.00,  2.00)\""}},
      {.name = "filled with zeros",
       .inputs = {"i32[2] 5 -5"},
       .attrs = {{"width", std::int64_t{6}}, {"fill", "0"s}},
       .outputs = {"str[2] \"000005\" \"-00005\""}},
      {.name = "wider than any number",
       .inputs = {"i32[1] 5"},
       .attrs = {{"width", std::int64_t{70}}},
       .outputs = {"str[1] \"" + std::string(69, ' ') + "5\""}},
      {.name = "int8", .inputs = {"i8[1] -128"}, .outputs = {"str[1] \"-128\""}},
      {.name = "uint8", .inputs = {"u8[1] 255"}, .outputs = {"str[1] \"255\""}},
      {.name = "int64",
       .inputs = {"i64[1] -9223372036854775808"},
       .outputs = {"str[1] \"-9223372036854775808\""}},
      {.name = "uint64",
       .inputs = {"u64[1] 18446744073709551615"},
       .outputs = {"str[1] \"18446744073709551615\""}},
      {.name = "bool", .inputs = {"bool[2] true false"}, .outputs = {"str[2] \"true\" \"false\""}},
      {.name = "text",
       .inputs = {"str[1] \"abc\""},
       .attrs = {{"width", std::int64_t{6}}},
       .outputs = {"str[1] \"   abc\""}},
      {.name = "text, padded and cut",
       .inputs = {"str[2] \"abcdef\" \"a\""},
       .attrs = {{"width", std::int64_t{4}}, {"precision", std::int64_t{2}}},
       .outputs = {"str[2] \"  ab\" \"   a\""}},
      {.name = "text, not padded and not cut",
       .inputs = {"str[1] \"abcdef\""},
       .attrs = {{"precision", std::int64_t{2}}},
       .outputs = {"str[1] \"abcdef\""}},
      {.name = "precision of integers",
       .inputs = {"i32[1] 5"},
       .attrs = {{"precision", std::int64_t{2}}},
       .error = "precision not supported for datatype int32"},
      {.name = "scientific integers",
       .inputs = {"i32[1] 5"},
       .attrs = {{"scientific", true}},
       .error = "scientific and shortest format not supported for datatype int32"},
      {.name = "both notations",
       .inputs = {"f32[1] 5"},
       .attrs = {{"scientific", true}, {"shortest", true}},
       .error = "Cannot select both scientific and shortest notation"},
      {.name = "a letter to fill with",
       .inputs = {"i32[1] 5"},
       .attrs = {{"fill", "x"s}},
       .error = "Fill argument not supported: \"x\""},
      {.name = "two characters to fill with",
       .inputs = {"i32[1] 5"},
       .attrs = {{"fill", "00"s}},
       .error = "Fill string must be one or fewer characters"},
      {.name = "endless width",
       .inputs = {"i32[1] 5"},
       .attrs = {{"width", std::int64_t{1} << 40}},
       .error = "width and precision are at most"},
  };
}

TROUPE_OP_CASES(StringJoin) {
  return {
      {.name = "scalars go with every element",
       .inputs = {"str[2] \"a\" \"b\"", "str[] \"c\""},
       .attrs = {{"separator", "-"s}},
       .outputs = {"str[2] \"a-c\" \"b-c\""}},
      {.name = "two scalars",
       .inputs = {"str[] \"a\"", "str[] \"b\""},
       .outputs = {"str[] \"ab\""}},
      {.name = "one", .inputs = {"str[1,1] \"a\""}, .outputs = {"str[1,1] \"a\""}},
      {.name = "no elements", .inputs = {"str[0]", "str[] \"b\""}, .outputs = {"str[0]"}},
      {.name = "shapes", .inputs = {"str[2] \"a\" \"b\"", "str[1] \"c\""}, .error = "2"},
  };
}

TROUPE_OP_CASES(StringSplit) {
  return {
      {.name = "at blanks",
       .inputs = {"str[3] \"a b\" \"c\" \"\"", "str[] \" \""},
       .outputs = {"i64[3,2] 0 0 0 1 1 0", "str[3] \"a\" \"b\" \"c\"", "i64[2] 3 2"}},
      {.name = "empty pieces are left out",
       .inputs = {"str[1] \",a,,b,\"", "str[] \",\""},
       .outputs = {"i64[2,2] 0 0 0 1", "str[2] \"a\" \"b\"", "i64[2] 1 2"}},
      {.name = "empty pieces are kept",
       .inputs = {"str[1] \",a,\"", "str[] \",\""},
       .attrs = {{"skip_empty", false}},
       .outputs = {"i64[3,2] 0 0 0 1 0 2", "str[3] \"\" \"a\" \"\"", "i64[2] 1 3"}},
      {.name = "at any of two",
       .inputs = {"str[1] \"a,b.c\"", "str[] \",.\""},
       .outputs = {"i64[3,2] 0 0 0 1 0 2", "str[3] \"a\" \"b\" \"c\"", "i64[2] 1 3"}},
      {.name = "bytes",
       .inputs = {"str[1] \"ab\"", "str[] \"\""},
       .outputs = {"i64[2,2] 0 0 0 1", "str[2] \"a\" \"b\"", "i64[2] 1 2"}},
      {.name = "nothing to split",
       .inputs = {"str[0]", "str[] \" \""},
       .outputs = {"i64[0,2]", "str[0]", "i64[2] 0 0"}},
      {.name = "a scalar is refused", .inputs = {"str[] \"a\"", "str[] \" \""}, .error = "rank"},
  };
}

TROUPE_OP_CASES(StringSplitV2) {
  return {
      {.name = "a separator of two characters",
       .inputs = {"str[1] \"1<>2<><>3\"", "str[] \"<>\""},
       .outputs = {"i64[4,2] 0 0 0 1 0 2 0 3", "str[4] \"1\" \"2\" \"\" \"3\"", "i64[2] 1 4"}},
      {.name = "an empty text has one piece",
       .inputs = {"str[1] \"\"", "str[] \",\""},
       .outputs = {"i64[1,2] 0 0", "str[1] \"\"", "i64[2] 1 1"}},
      {.name = "runs of blanks",
       .inputs = {"str[2] \"  a  b \" \"  \"", "str[] \"\""},
       .outputs = {"i64[2,2] 0 0 0 1", "str[2] \"a\" \"b\"", "i64[2] 2 2"}},
      {.name = "one cut",
       .inputs = {"str[1] \"a,b,c\"", "str[] \",\""},
       .attrs = {{"maxsplit", std::int64_t{1}}},
       .outputs = {"i64[2,2] 0 0 0 1", "str[2] \"a\" \"b,c\"", "i64[2] 1 2"}},
      {.name = "one cut at blanks",
       .inputs = {"str[1] \" a  b c \"", "str[] \"\""},
       .attrs = {{"maxsplit", std::int64_t{1}}},
       .outputs = {"i64[2,2] 0 0 0 1", "str[2] \"a\" \"b c \"", "i64[2] 1 2"}},
      {.name = "no cut",
       .inputs = {"str[1] \"a,b\"", "str[] \",\""},
       .attrs = {{"maxsplit", std::int64_t{0}}},
       .outputs = {"i64[1,2] 0 0", "str[1] \"a,b\"", "i64[2] 1 1"}},
      {.name = "a vector is no separator",
       .inputs = {"str[1] \"a\"", "str[1] \",\""},
       .error = "rank"},
  };
}

TROUPE_OP_CASES(Substr) {
  const std::pair<std::string, AttrValue> characters{"unit", "UTF8_CHAR"s};
  return {
      {.name = "a scalar",
       .inputs = {"str[] \"hello\"", "i32[] 1", "i32[] 2"},
       .outputs = {"str[] \"el\""}},
      {.name = "from the end, and beyond it",
       .inputs = {"str[2] \"hello\" \"wor\"", "i64[2] 1 -2", "i64[2] 2 5"},
       .outputs = {"str[2] \"el\" \"or\""}},
      {.name = "at the end",
       .inputs = {"str[1] \"ab\"", "i32[] 2", "i32[] 2"},
       .outputs = {"str[1] \"\""}},
      {.name = "a negative length is all",
       .inputs = {"str[1] \"hello\"", "i32[] 1", "i32[] -2"},
       .outputs = {"str[1] \"ello\""}},
      {.name = "broadcast",
       .inputs = {"str[2,1] \"hello\" \"abc\"", "i32[2] 1 2", "i32[2] 1 2"},
       .outputs = {"str[2,2] \"e\" \"ll\" \"b\" \"c\""}},
      {.name = "no elements", .inputs = {"str[0]", "i32[] 1", "i32[] 1"}, .outputs = {"str[0]"}},
      {.name = "characters",
       .inputs = {"str[1] \"h\xc3\xa9llo\"", "i32[] 1", "i32[] 2"},
       .attrs = {characters},
       .outputs = {"str[1] \"\xc3\xa9l\""}},
      {.name = "characters from the end",
       .inputs = {"str[1] \"ab\xc3\xa9\xe2\x82\xac\"", "i32[] -2", "i32[] 1"},
       .attrs = {characters},
       .outputs = {"str[1] \"\xc3\xa9\""}},
      {.name = "beyond the end",
       .inputs = {"str[1] \"hello\"", "i32[] 6", "i32[] 1"},
       .error = "pos 6 out of range for string b'hello' at index 0"},
      {.name = "before the beginning",
       .inputs = {"str[1] \"hello\"", "i32[] -6", "i32[] 1"},
       .error = "pos -6 out of range for string b'hello' at index 0"},
      {.name = "characters beyond the end",
       .inputs = {"str[1] \"h\xc3\xa9\"", "i32[] 3", "i32[] 1"},
       .attrs = {characters},
       .error = "pos 3 out of range for string at index 0"},
      {.name = "shapes of pos and len",
       .inputs = {"str[1] \"hello\"", "i32[3] 1 2 3", "i32[2] 1 2"},
       .error = "3 and 2"},
      {.name = "shapes",
       .inputs = {"str[2] \"a\" \"b\"", "i32[3] 0 0 0", "i32[3] 1 1 1"},
       .error = "2 and 3"},
  };
}

TROUPE_OP_CASES(StringToNumber) {
  auto as = [](DType dtype) {
    return std::vector<std::pair<std::string, AttrValue>>{{"out_type", dtype}};
  };
  auto refused = [&](std::string text, DType dtype) {
    return testing::OpCase{.name = "'" + text + "' is refused",
                           .inputs = {"str[1] \"" + text + "\""},
                           .attrs = as(dtype),
                           .error = "StringToNumberOp could not correctly convert string: " + text};
  };
  return {
      {.name = "floats",
       .inputs = {"str[7] \" 1.5 \" \"1e3\" \"0x10\" \"inf\" \"-NaN\" \"1e400\" \"Infinity\""},
       .attrs = as(DType::float64),
       .outputs = {"f64[7] 1.5 1000 16 inf nan inf inf"}},
      {.name = "a scalar",
       .inputs = {"str[] \"-.5\""},
       .attrs = as(DType::float32),
       .outputs = {"f32[] -0.5"}},
      {.name = "no elements",
       .inputs = {"str[0,2]"},
       .attrs = as(DType::float32),
       .outputs = {"f32[0,2]"}},
      {.name = "int32",
       .inputs = {"str[2] \"+5\" \"-7\""},
       .attrs = as(DType::int32),
       .outputs = {"i32[2] 5 -7"}},
      {.name = "int64",
       .inputs = {"str[1] \" 5 \""},
       .attrs = as(DType::int64),
       .outputs = {"i64[1] 5"}},
      {.name = "uint32",
       .inputs = {"str[1] \"4294967295\""},
       .attrs = as(DType::uint32),
       .outputs = {"u32[1] 4294967295"}},
      {.name = "uint64",
       .inputs = {"str[1] \"18446744073709551615\""},
       .attrs = as(DType::uint64),
       .outputs = {"u64[1] 18446744073709551615"}},
      refused("x", DType::float32),
      refused("1.5", DType::int32),
      refused("99999999999", DType::int32),
      refused("", DType::float32),
      refused("5a", DType::int32),
      refused("-1", DType::uint32),
      refused("0x10", DType::int32),
      refused("1_0", DType::float32),
      refused("1e", DType::float32),
      refused("+-1", DType::float32),
      refused("0x", DType::float32),
  };
}

TROUPE_OP_CASES(StringLower) {
  const std::pair<std::string, AttrValue> utf8{"encoding", "utf-8"s};
  return {
      {.name = "ASCII alone",
       .inputs = {"str[1] \"\xc3\x89"
                  "A\""},
       .outputs = {"str[1] \"\xc3\x89"
                   "a\""}},
      {.name = "a scalar", .inputs = {"str[] \"AbC z[\""}, .outputs = {"str[] \"abc z[\""}},
      {.name = "no elements", .inputs = {"str[0]"}, .outputs = {"str[0]"}},
      {.name = "all letters",
       .inputs = {"str[2] \"\xc3\x89"
                  "A\" \"\xc4\xb0\xd0\x96\""},
       .attrs = {utf8},
       .outputs = {"str[2] \"\xc3\xa9"
                   "a\" \"i\xcc\x87\xd0\xb6\""}},
      {.name = "another encoding",
       .inputs = {"str[1] \"A\""},
       .attrs = {{"encoding", "latin1"s}},
       .error = "only utf-8 or '' (no encoding) is supported, received latin1"},
  };
}

TROUPE_OP_CASES(StringUpper) {
  return {
      {.name = "ASCII alone",
       .inputs = {"str[1] \"\xc3\xa9"
                  "a{\""},
       .outputs = {"str[1] \"\xc3\xa9"
                   "A{\""}},
      {.name = "all letters",
       .inputs = {"str[1] \"\xc3\x9f\xc3\xa9"
                  "a\""},
       .attrs = {{"encoding", "utf-8"s}},
       .outputs = {"str[1] \"SS\xc3\x89"
                   "A\""}},
  };
}

TROUPE_OP_CASES(StringStrip) {
  return {
      {.name = "blanks at both ends",
       .inputs = {"str[3] \" \\t a b\\n\" \"\" \"  \""},
       .outputs = {"str[3] \"a b\" \"\" \"\""}},
      {.name = "no elements", .inputs = {"str[2,0]"}, .outputs = {"str[2,0]"}},
  };
}

TROUPE_OP_CASES(StringLength) {
  return {
      {.name = "bytes", .inputs = {"str[2] \"h\xc3\xa9\" \"\""}, .outputs = {"i32[2] 3 0"}},
      {.name = "characters",
       .inputs = {"str[1] \"h\xc3\xa9\xe2\x82\xac\""},
       .attrs = {{"unit", "UTF8_CHAR"s}},
       .outputs = {"i32[1] 3"}},
      {.name = "a scalar", .inputs = {"str[] \"ab\""}, .outputs = {"i32[] 2"}},
  };
}

TROUPE_OP_CASES(Print) {
  return {
      {.name = "the input goes on",
       .inputs = {"f32[2] 1 2", "i32[] 3", "str[1] \"a\""},
       .attrs = {{"U", Dtypes{DType::int32, DType::string}}, {"message", "x: "s}},
       .outputs = {"f32[2] 1 2"}},
      {.name = "nothing is printed",
       .inputs = {"i32[] 1"},
       .attrs = {{"U", Dtypes{}}, {"first_n", std::int64_t{0}}},
       .outputs = {"i32[] 1"}},
  };
}

TROUPE_OP_CASES(PrintV2) {
  return {
      {.name = "text", .inputs = {"str[] \"text\""}},
      {.name = "a vector is refused", .inputs = {"str[1] \"a\""}, .error = "calar"},
      {.name = "no such stream",
       .inputs = {"str[] \"a\""},
       .attrs = {{"output_stream", "printer"s}},
       .error = "Unknown output stream: printer"},
      {.name = "a file",
       .inputs = {"str[] \"a\""},
       .attrs = {{"output_stream", "file:///tmp/a"s}},
       .error = "has no files: its node was started without any folder"},
  };
}

} // namespace
} // namespace troupe
