// Summaries, and tensors as messages. Expected bytes are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include <zlib.h>

#include "kernels/io/internal/summary.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using testing::OpCase;

TROUPE_OP_CASES(ScalarSummary) {
  return {
      {.name = "two tags",
       .inputs = {"str[2] \"a\" \"b\"", "f32[2] 1.5 0"},
       .outputs =
           {R"(str[] "\x0a\x08\x0a\x01a\x15\x00\x00\xc0?\x0a\x08\x0a\x01b\x15\x00\x00\x00\x00")"}},
      {.name = "an integer",
       .inputs = {"str[] \"a\"", "i32[] 3"},
       .outputs = {R"(str[] "\x0a\x08\x0a\x01a\x15\x00\x00@@")"}},
      {.name = "a half",
       .inputs = {"str[] \"a\"", "f16[] 3"},
       .outputs = {R"(str[] "\x0a\x08\x0a\x01a\x15\x00\x00@@")"}},
      {.name = "none", .inputs = {"str[0]", "f32[0]"}, .outputs = {"str[] \"\""}},
      {.name = "two shapes",
       .inputs = {"str[1] \"a\"", "f32[] 3"},
       .error = "tags and values are not the same shape: [1] != [] (tag 'a')"},
  };
}

TROUPE_OP_CASES(HistogramSummary) {
  return {
      {.name = "four values",
       .inputs = {"str[] \"h\"", "f32[4] 1 2 2 -1"},
       .outputs =
           {R"(str[] "\x0a\xa7\x01\x0a\x01h*\xa1\x01\x09\x00\x00\x00\x00\x00\x00\xf0\xbf\x11\x00\x00\x00\x00\x00\x00\x00@\x19\x00\x00\x00\x00\x00\x00\x10@!\x00\x00\x00\x00\x00\x00\x10@)\x00\x00\x00\x00\x00\x00$@28+\x14\xfa\xcd\xbe$\xf0\xbf\x08\x99i\x19\x15Z\xed\xbf\x08\x99i\x19\x15Z\xed?+\x14\xfa\xcd\xbe$\xf0?\xdc\x94\xcd.\x8du\xff?\xe0\x11\xf1\x0ctM\x01@\xff\xff\xff\xff\xff\xff\xef\x7f:8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x00\x00")"}},
      {.name = "none",
       .inputs = {"str[] \"h\"", "i32[0]"},
       .outputs =
           {R"(str[] "\x0a+\x0a\x01h*&\x09\xff\xff\xff\xff\xff\xff\xef\x7f\x11\xff\xff\xff\xff\xff\xff\xef\xff2\x08\xff\xff\xff\xff\xff\xff\xef\x7f:\x08\x00\x00\x00\x00\x00\x00\x00\x00")"}},
      {.name = "the largest double",
       .inputs = {"str[] \"h\"", "f64[1] 1.7976931348623157e308"},
       .outputs = {"?"}},
      {.name = "NaN",
       .inputs = {"str[] \"h\"", "f32[1] nan"},
       .error = "Nan in summary histogram for: "},
      {.name = "infinity",
       .inputs = {"str[] \"h\"", "f64[1] -inf"},
       .error = "Infinity in Histogram for: "},
      {.name = "two tags",
       .inputs = {"str[2] \"h\" \"i\"", "f32[1] 1"},
       .error = "tags must be scalar"},
  };
}

TROUPE_OP_CASES(TensorSummary) {
  return {
      {.name = "under the node's name",
       .inputs = {"i32[2] 1 2"},
       .outputs = {
           R"(str[] "\x0a\x1a:\x04nodeB\x12\x08\x03\x12\x04\x12\x02\x08\x02\x22\x08\x01\x00\x00\x00\x02\x00\x00\x00")"}}};
}

TROUPE_OP_CASES(TensorSummaryV2) {
  return {
      {.name = "text, and something for a plugin",
       .inputs = {"str[] \"t\"", "str[2] \"x\" \"y\"", R"(str[] "\x12\x01d")"},
       .outputs =
           {R"(str[] "\x0a\x18\x0a\x01tB\x0e\x08\x07\x12\x04\x12\x02\x08\x02B\x01xB\x01yJ\x03\x12\x01d")"}},
      {.name = "a number, and nothing",
       .inputs = {"str[] \"t\"", "f32[] 3", "str[] \"\""},
       .outputs = {R"(str[] "\x0a\x11\x0a\x01tB\x0a\x08\x01\x12\x00\x22\x04\x00\x00@@J\x00")"}},
      {.name = "two tags",
       .inputs = {"str[2] \"t\" \"u\"", "f32[] 3", "str[] \"\""},
       .error = "tag must be scalar"},
  };
}

TROUPE_OP_CASES(MergeSummary) {
  const std::string a = R"(str[] "\x0a\x08\x0a\x01a\x15\x00\x00\x80?")",
                    b = R"(str[] "\x0a\x08\x0a\x01b\x15\x00\x00\x00@")";
  return {
      {.name = "two",
       .inputs = {a, b},
       .outputs =
           {R"(str[] "\x0a\x08\x0a\x01a\x15\x00\x00\x80?\x0a\x08\x0a\x01b\x15\x00\x00\x00@")"}},
      {.name = "an empty one", .inputs = {a, "str[] \"\""}, .outputs = {a}},
      {.name = "one tag twice",
       .inputs = {a, a},
       .error = "Duplicate tag a found in summary inputs"},
      {.name = "no message",
       .inputs = {"str[] \"\\x0a\\x05a\""},
       .error = "Could not parse one of the summary inputs"},
  };
}

TROUPE_OP_CASES(ImageSummary) {
  const std::vector<std::pair<std::string, AttrValue>> one{{"max_images", std::int64_t{1}}};
  return {
      {.name = "floats",
       .inputs = {"str[] \"s\"", "f32[2,1,2,3] 0 nan -1 1 2 3 4 5 6 7 8 9"},
       .outputs = {"?"}},
      {.name = "halves of four channels",
       .inputs = {"str[] \"s\"", "f16[1,1,1,4] 1"},
       .attrs = one,
       .outputs = {"?"}},
      {.name = "bytes", .inputs = {"str[] \"s\"", "u8[1,2,1,1] 1 2"}, .outputs = {"?"}},
      {.name = "no images", .inputs = {"str[] \"s\"", "f64[0,1,1,1]"}, .outputs = {"str[] \"\""}},
      {.name = "two channels",
       .inputs = {"str[] \"s\"", "f32[1,1,1,2] 1"},
       .error = "Tensor must be 4-D with last dim 1, 3, or 4, not [1,1,1,2]"},
      {.name = "no pixels",
       .inputs = {"str[] \"s\"", "f32[1,0,1,1]"},
       .error = "input tensor must have non-zero dims."},
      {.name = "two tags",
       .inputs = {"str[2] \"s\" \"t\"", "f32[1,1,1,1] 1"},
       .error = "Tags must be a scalar"},
  };
}

constexpr auto sound =
    R"(str[] "\x0aU\x0a\x07s/audio2J\x0d\x00\x00\xfaE\x10\x01\x18\x04\x224RIFF,\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x08\x00\x00\x00\x00\x00\xff\x7f\x00\x80\x00@*\x09audio/wav")";

TROUPE_OP_CASES(AudioSummaryV2) {
  return {
      {.name = "one sound",
       .inputs = {"str[] \"s\"", "f32[1,4] 0 1 -1 0.5", "f32[] 8000"},
       .attrs = {{"max_outputs", std::int64_t{1}}},
       .outputs = {sound}},
      {.name = "no rate",
       .inputs = {"str[] \"s\"", "f32[1,1] 0", "f32[] 0"},
       .error = "sample_rate must be > 0"},
      {.name = "no batch",
       .inputs = {"str[] \"s\"", "f32[1] 0", "f32[] 1"},
       .error = "Tensor must be 3-D or 2-D, got: [1]"},
      {.name = "two rates",
       .inputs = {"str[] \"a\"", "f32[1,2] 0", "f32[2] 1"},
       .error = "sample_rate must be rank-0 or contain a single value"},
      {.name = "no channels",
       .inputs = {"str[] \"a\"", "f32[1,2,0]", "f32[] 8"},
       .error = "audio is null"},
      {.name = "neither frames nor channels",
       .inputs = {"str[] \"a\"", "f32[1,0,0]", "f32[] 8"},
       .error = "num_channels must be in (0, 2^16), got: 0"},
  };
}

TROUPE_OP_CASES(AudioSummary) {
  return {{.name = "one sound",
           .inputs = {"str[] \"s\"", "f32[1,4,1] 0 1 -1 0.5"},
           .attrs = {{"max_outputs", std::int64_t{1}}, {"sample_rate", 8000.0F}},
           .outputs = {sound}}};
}

TROUPE_OP_CASES(SerializeTensor) {
  return {
      {.name = "numbers",
       .inputs = {"i32[2] 1 2"},
       .outputs =
           {R"(str[] "\x08\x03\x12\x04\x12\x02\x08\x02\x22\x08\x01\x00\x00\x00\x02\x00\x00\x00")"}},
      {.name = "text",
       .inputs = {"str[2] \"ab\" \"c\""},
       .outputs = {R"(str[] "\x08\x07\x12\x04\x12\x02\x08\x02B\x02abB\x01c")"}},
      {.name = "a scalar",
       .inputs = {"f32[] 3"},
       .outputs = {R"(str[] "\x08\x01\x12\x00\x22\x04\x00\x00@@")"}},
  };
}

TROUPE_OP_CASES(ParseTensor) {
  auto parsed = [](std::string name, std::string message, DType dtype, std::string output) {
    return OpCase{.name = std::move(name),
                  .inputs = {"str[] \"" + message + "\""},
                  .attrs = {{"out_type", dtype}},
                  .outputs = {std::move(output)}};
  };
  auto refused = [](std::string name, std::string message, DType dtype, std::string error) {
    return OpCase{.name = std::move(name),
                  .inputs = {"str[] \"" + message + "\""},
                  .attrs = {{"out_type", dtype}},
                  .error = std::move(error)};
  };
  return {
      parsed("content",
             R"(\x08\x03\x12\x04\x12\x02\x08\x02\x22\x08\x01\x00\x00\x00\x02\x00\x00\x00)",
             DType::int32, "i32[2] 1 2"),
      parsed("text", R"(\x08\x07\x12\x04\x12\x02\x08\x02B\x02abB\x01c)", DType::string,
             "str[2] \"ab\" \"c\""),
      parsed("one value for all", R"(\x08\x03\x12\x04\x12\x02\x08\x03:\x02\x07\x08)", DType::int32,
             "i32[3] 7 8 8"),
      parsed("no value", R"(\x08\x01\x12\x04\x12\x02\x08\x02)", DType::float32, "f32[2] 0 0"),
      parsed("a half", R"(\x08\x13\x12\x00j\x02\x80x)", DType::float16, "f16[] 1"),
      refused("another dtype", R"(\x08\x01\x12\x00)", DType::int32,
              "Type mismatch between parsed tensor (float) and dtype (int32)"),
      refused("no message", "xx", DType::int32, "Could not parse `serialized` as TensorProto"),
      refused("too little content", R"(\x08\x01\x12\x00\x22\x01x)", DType::float32,
              "Could not parse `serialized` as TensorProto"),
  };
}

} // namespace

TEST_CASE("summary: a PNG file holds its pixels") {
  const std::uint8_t pixels[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  auto file = io::png_file(pixels, 2, 2, 3);
  REQUIRE(file.ok());
  CHECK(file->starts_with("\x89PNG\r\n\x1a\n"));
  const std::size_t at = file->find("IDAT");
  REQUIRE(at != std::string::npos);
  std::string rows(14, '\0');
  uLongf size = static_cast<uLongf>(rows.size());
  CHECK(::uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                     reinterpret_cast<const Bytef*>(file->data() + at + 4),
                     static_cast<uLong>(file->size() - at - 4 - 16)) == Z_OK);
  // Differences from the pixel to the left, then from what Paeth's filter predicts.
  CHECK(rows == std::string("\1\1\2\3\3\3\3\4\6\6\6\3\3\3", 14));
}

} // namespace troupe
