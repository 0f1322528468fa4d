#include "core/tensor/literal.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <limits>

#include "core/base/strings.hpp"

using namespace troupe;

namespace {

Tensor read(std::string_view text) {
  auto tensor = parse_literal(text);
  REQUIRE_MESSAGE(tensor.ok(), tensor.status().to_string());
  return *std::move(tensor);
}

std::string refusal(std::string_view text) {
  auto tensor = parse_literal(text);
  REQUIRE_FALSE(tensor.ok());
  CHECK(tensor.status().code() == Code::invalid_argument);
  return tensor.status().message();
}

} // namespace

TEST_CASE("literal: every dtype reads and writes back") {
  const char* rows[] = {
      "f32[2,3] 1 2.5 -3 1e+30 inf -inf",
      "f64[3] 0.1 -0 5e-324",
      "i32[2] 2147483647 -2147483648",
      "u8[2] 0 255",
      "i16[2] -32768 32767",
      "i8[2] -128 127",
      R"(str[3] "a" "" "q\"\\\n\t\r\x00\xff")",
      "c64[2] (1,-2) (inf,nan)",
      "i64[] -9223372036854775808",
      "bool[2] true false",
      "qi8[2] -128 127",
      "qu8[1] 255",
      "qi32[1] -2147483648",
      "bf16[4] 1 0.5 -inf 3.3895314e+38",
      "qi16[1] -32768",
      "qu16[1] 65535",
      "u16[1] 65535",
      "c128[1] (0.1,-0.2)",
      "f16[4] 65504 6.1035156e-05 5.9604645e-08 -0",
      R"(resource[1] ("/job:w","c","n\n",18446744073709551615,"Variable"))",
      R"(variant[2] ("list","\x00bytes") ("",""))",
      "u32[1] 4294967295",
      "u64[1] 18446744073709551615",
      "f8e5m2[1] 255",
      "f8e4m3fn[1] 1",
      "f8e4m3fnuz[1] 2",
      "f8e4m3b11fnuz[1] 3",
      "f8e5m2fnuz[1] 4",
      "i4[1] -8",
      "u4[1] 15",
      "i2[1] -2",
      "u2[1] 3",
      "f4e2m1fn[1] 7",
  };
  std::size_t dtypes = 0;
#define TROUPE_DTYPE(name, number, size, literal, type) ++dtypes;
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
  CHECK(std::size(rows) == dtypes);
  for (const char* row : rows) {
    CAPTURE(row);
    Tensor tensor = read(row);
    CHECK(to_literal(tensor) == row);
    CHECK(equal(read(to_literal(tensor)), tensor));
  }
}

TEST_CASE("literal: elements have the values that were written") {
  Tensor t = read("f32[2,2] 1 2 3 4");
  CHECK(t.shape() == Shape{2, 2});
  CHECK(t.data<float>()[2] == 3.0f);
  CHECK(read("i64[] 7").value<std::int64_t>() == 7);
  CHECK(read("str[] \"a b, c\"").value<std::string>() == "a b, c");
  CHECK(read("bool[2] 1 false").data<bool>()[0]);
  CHECK(read("c64[] 2").value<std::complex<float>>() == std::complex<float>(2, 0));
  CHECK(read("c64[] ( 1 , 2 )").value<std::complex<float>>() == std::complex<float>(1, 2));
  CHECK(static_cast<float>(read("f16[] 0.333").value<Half>()) == static_cast<float>(Half(0.333f)));
  CHECK(read("resource[] (\"d\",\"c\",\"n\", 5 ,\"t\")").value<ResourceHandle>() ==
        ResourceHandle{"d", "c", "n", 5, "t"});
}

TEST_CASE("literal: blanks, commas, line ends and other dtype names are accepted") {
  Tensor wanted = read("f32[2,2] 1 2 3 4");
  for (const char* text : {"f32[2,2] 1, 2, 3, 4", "  float [ 2 , 2 ]1\n2\t3,4  ",
                           "DT_FLOAT[2,2] 1 2 3 4,", "f32[2,2] 1.0 2e0 3. 4"}) {
    CAPTURE(text);
    CHECK(equal(read(text), wanted));
  }
  CHECK(equal(read("f32[1] .5"), read("f32[1] 0.5")));
}

TEST_CASE("literal: one element stands for all") {
  CHECK(equal(read("i32[2,2] 7"), read("i32[2,2] 7 7 7 7")));
  CHECK(equal(read("str[2] \"x\""), read("str[2] \"x\" \"x\"")));
  CHECK(read("f32[0,3] 1").num_elements() == 0);
  CHECK(read("f32[0,3]").shape() == Shape{0, 3});
  Tensor big = read("u8[67108864] 1");
  CHECK(big.num_elements() == 64 << 20);
  CHECK(big.data<std::uint8_t>()[(64 << 20) - 1] == 1);
}

TEST_CASE("literal: NaNs come back bit by bit") {
  for (std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7fc00001u, 0xff800001u, 0x7fffffffu}) {
    Tensor t = Tensor::scalar(std::bit_cast<float>(bits));
    CAPTURE(to_literal(t));
    CHECK(std::bit_cast<std::uint32_t>(read(to_literal(t)).value<float>()) == bits);
  }
  for (std::uint16_t bits : {0x7e00, 0xfe00, 0x7c01, 0xffff}) {
    Half half;
    half.bits = bits;
    Tensor t = Tensor::scalar(half);
    CHECK(read(to_literal(t)).value<Half>().bits == bits);
  }
  CHECK(to_literal(read("f32[2] nan -nan")) == "f32[2] nan -nan");
}

TEST_CASE("literal: every float16 and bfloat16 comes back") {
  for (int bits = 0; bits < 65536; ++bits) {
    Half half;
    BFloat16 brain;
    half.bits = brain.bits = static_cast<std::uint16_t>(bits);
    std::string text = to_literal(Tensor::scalar(half));
    REQUIRE_MESSAGE(parse_literal(text).ok(), text);
    REQUIRE((*parse_literal(text)).value<Half>().bits == bits);
    text = to_literal(Tensor::scalar(brain));
    REQUIRE_MESSAGE(parse_literal(text).ok(), text);
    REQUIRE((*parse_literal(text)).value<BFloat16>().bits == bits);
  }
}

TEST_CASE("literal: long tensors are cut where asked") {
  Tensor t = read("i32[4] 1 2 3 4");
  CHECK(to_literal(t, 2) == "i32[4] 1 2 …");
  CHECK(to_literal(t, 4) == "i32[4] 1 2 3 4");
  CHECK(to_literal(t, 0) == "i32[4] …");
  CHECK(to_literal(read("i32[0]"), 0) == "i32[0]");
  CHECK(to_literal(Tensor()) == "invalid");
  CHECK(t.to_string() == "i32[4] 1 2 3 4");
}

TEST_CASE("literal: what is wrong is said") {
  const std::pair<const char*, const char*> rows[] = {
      {"", "tensor literal '' has no shape; write a dtype, dimensions in brackets and elements, "
           "such as 'f32[2] 1 2'"},
      {"f32 1 2", "tensor literal 'f32 1 2' has no shape; write a dtype, dimensions in brackets "
                  "and elements, such as 'f32[2] 1 2'"},
      {"f33[1] 1", "tensor literal 'f33[1] 1' has an unknown dtype 'f33'; such are f32, f64, bf16, "
                   "i32, i64, u8, bool, "
                   "c64 and str"},
      {"float_ref[1] 1",
       "tensor literal 'float_ref[1] 1' has the reference dtype 'float_ref', which no value has"},
      {"f32[2 1 2", "tensor literal 'f32[2 1 2' lacks the ']' after its dimensions"},
      {"f32[a] 1", "tensor literal 'f32[a] 1' has the dimension 'a', which is not a number"},
      {"f32[1,] 1", "tensor literal 'f32[1,] 1' has the dimension '', which is not a number"},
      {"f32[-1] 1", "tensor literal 'f32[-1] 1' is wrong: shape [-1] has a negative dimension"},
      {"f32[3] 1 2",
       "tensor literal 'f32[3] 1 2' has 2 elements, but shape [3] needs 3 (or one for all)"},
      {"f32[3]", "tensor literal 'f32[3]' has 0 elements, but shape [3] needs 3 (or one for all)"},
      {"f32[] 1 2", "tensor literal 'f32[] 1 2' has 2 elements, but shape [] needs 1"},
      {"i8[1] 128",
       "tensor literal 'i8[1] 128' has the element '128', which is no value of dtype int8"},
      {"u8[1] -1",
       "tensor literal 'u8[1] -1' has the element '-1', which is no value of dtype uint8"},
      {"i32[1] 1.5",
       "tensor literal 'i32[1] 1.5' has the element '1.5', which is no value of dtype int32"},
      {"f16[1] 70000",
       "tensor literal 'f16[1] 70000' has the element '70000', which is no value of dtype half"},
      {"f32[1] 1e50",
       "tensor literal 'f32[1] 1e50' has the element '1e50', which is no value of dtype float"},
      {"f32[1] nan(0)",
       "tensor literal 'f32[1] nan(0)' has the element 'nan(0)', which is no value of dtype float"},
      {"f32[1] )",
       "tensor literal 'f32[1] )' has the element ')', which is no value of dtype float"},
      {"bool[1] yes",
       "tensor literal 'bool[1] yes' has the element 'yes', which is no value of dtype bool"},
      {"str[1] a",
       "tensor literal 'str[1] a' has the element 'a'; write a string in double quotes"},
      {"str[1] \"a", "tensor literal 'str[1] \"a' has a string without closing quote"},
      {"str[1] \"a\\", "tensor literal 'str[1] \"a\\' has a string without closing quote"},
      {"str[1] \"\\q\"",
       "tensor literal 'str[1] \"\\q\"' has the unknown escape '\\q' in a string"},
      {"str[1] \"\\x1\"",
       "tensor literal 'str[1] \"\\x1\"' has a '\\x' that two hexadecimal digits do not follow"},
      {"c64[1] (1 2)",
       "tensor literal 'c64[1] (1 2)' lacks a ',' inside an element in parentheses"},
      {"c64[1] (1,2", "tensor literal 'c64[1] (1,2' lacks the ')' after an element in parentheses"},
      {"resource[1] \"x\"", "tensor literal 'resource[1] \"x\"' has the element '\"x\"'; write "
                            "(device, container, name, hash code, type name)"},
      {"variant[1] x",
       "tensor literal 'variant[1] x' has the element 'x'; write (type name, metadata)"},
  };
  for (auto [text, sentence] : rows)
    CHECK(refusal(text) == sentence);
}

TEST_CASE("literal: a short text never takes much memory") {
  CHECK(refusal("f32[1000000000000] 1 2").find("has 2 elements") != std::string::npos);
  CHECK(refusal("u8[67108865] 1").find("that is for tensors to 64 MiB") != std::string::npos);
  CHECK(refusal("str[4611686018427387904] \"x\"").find("64 MiB") != std::string::npos);
  CHECK(refusal("f64[4294967296,4294967296] 1").find("more than 2^63 - 1 elements") !=
        std::string::npos);
  // A long string may not be multiplied beyond the bound either.
  std::string text = str_cat("str[100000] \"", std::string(1000, 'x'), "\"");
  CHECK(refusal(text).find("64 MiB") != std::string::npos);
}

TEST_CASE("literal: messages quote only the beginning of a long text") {
  std::string text = str_cat("f32[2] ", std::string(1000, '1'));
  CHECK(refusal(text).size() < 250);
}
