// Hashes, regular expressions, joins along dimensions, bytes as numbers, Unicode. Expected values
// are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using namespace std::string_literals;
using Attrs = std::vector<std::pair<std::string, AttrValue>>;

const std::pair<std::string, AttrValue> many{"num_buckets", std::int64_t{1} << 62};

std::string text(char c, std::size_t count) {
  return "\"" + std::string(count, c) + "\"";
}

TROUPE_OP_CASES(StringToHashBucketFast) {
  return {
      {.name = "every length",
       .inputs = {"str[6] \"a\" \"Hello\" " + text('x', 20) + " " + text('y', 40) + " " +
                  text('z', 100) + " \"\""},
       .attrs = {many},
       .outputs = {"i64[6] 3694432073954588131 1569640939275362439 3621402210320469444 "
                   "276292113409495006 4609163928736578169 1936946117179621455"}},
      {.name = "one bucket",
       .inputs = {"str[] \"a\""},
       .attrs = {{"num_buckets", std::int64_t{1}}},
       .outputs = {"i64[] 0"}},
      {.name = "no elements", .inputs = {"str[0]"}, .attrs = {many}, .outputs = {"i64[0]"}},
  };
}

TROUPE_OP_CASES(StringToHashBucket) {
  return {
      {.name = "three lengths",
       .inputs = {"str[3] \"a\" \"Hello\" " + text('x', 20)},
       .attrs = {many},
       .outputs = {"i64[3] 2996632905371535868 1802903312739808229 2648813785153059629"}},
  };
}

TROUPE_OP_CASES(StringToHashBucketStrong) {
  return {
      {.name = "a key",
       .inputs = {"str[4] \"a\" \"Hello\" " + text('x', 20) + " \"\""},
       .attrs = {many, {"key", std::vector<std::int64_t>{123, 456}}},
       .outputs = {"i64[4] 2150915142212405420 157189255173532072 3675803614113848381 "
                   "887865449656487406"}},
      {.name = "half a key",
       .inputs = {"str[1] \"a\""},
       .attrs = {many, {"key", std::vector<std::int64_t>{123}}},
       .error = "Key must have 2 elements"},
  };
}

TROUPE_OP_CASES(RegexFullMatch) {
  return {
      {.name = "the whole text or not",
       .inputs = {"str[3] \"abc\" \"abcd\" \"\"", "str[] \"a.c\""},
       .outputs = {"bool[3] true false false"}},
      {.name = "no elements", .inputs = {"str[0]", "str[] \"a\""}, .outputs = {"bool[0]"}},
      {.name = "no pattern",
       .inputs = {"str[1] \"a\"", "str[] \"(b\""},
       .error = "Invalid pattern: (b, error: missing ): (b"},
      {.name = "two patterns", .inputs = {"str[1] \"a\"", "str[2] \"a\" \"b\""}, .error = "rank 0"},
  };
}

TROUPE_OP_CASES(StaticRegexFullMatch) {
  return {
      {.name = "the whole text or not",
       .inputs = {"str[2] \"s3://a\" \"/tmp/a\""},
       .attrs = {{"pattern", "^s3://.*"s}},
       .outputs = {"bool[2] true false"}},
      {.name = "no pattern",
       .inputs = {"str[1] \"a\""},
       .attrs = {{"pattern", "(b"s}},
       .error = "Invalid pattern: (b, error: missing ): (b"},
  };
}

TROUPE_OP_CASES(RegexReplace) {
  return {
      {.name = "everywhere",
       .inputs = {"str[2] \"abcb\" \"x\"", "str[] \"(b)\"", "str[] \"<\\\\1\\\\0>\""},
       .outputs = {"str[2] \"a<bb>c<bb>\" \"x\""}},
      {.name = "once",
       .inputs = {"str[1] \"abcb\"", "str[] \"b\"", "str[] \"-\""},
       .attrs = {{"replace_global", false}},
       .outputs = {"str[1] \"a-cb\""}},
      {.name = "a group that is not there",
       .inputs = {"str[1] \"abcb\"", "str[] \"(b)\"", "str[] \"\\\\2\""},
       .outputs = {"str[1] \"abcb\""}},
      {.name = "no pattern",
       .inputs = {"str[1] \"a\"", "str[] \"(b\"", "str[] \"\""},
       .error = "Invalid pattern: (b, error: missing ): (b"},
  };
}

TROUPE_OP_CASES(StaticRegexReplace) {
  return {
      {.name = "everywhere",
       .inputs = {"str[] \"abcb\""},
       .attrs = {{"pattern", "b"s}, {"rewrite", "-"s}},
       .outputs = {"str[] \"a-c-\""}},
  };
}

TROUPE_OP_CASES(ReduceJoin) {
  const std::string matrix = "str[2,2] \"a\" \"b\" \"c\" \"d\"";
  return {
      {.name = "rows", .inputs = {matrix, "i32[1] 1"}, .outputs = {"str[2] \"ab\" \"cd\""}},
      {.name = "columns", .inputs = {matrix, "i32[] 0"}, .outputs = {"str[2] \"ac\" \"bd\""}},
      {.name = "both, columns first",
       .inputs = {matrix, "i32[2] 0 1"},
       .outputs = {"str[] \"acbd\""}},
      {.name = "both, rows first", .inputs = {matrix, "i32[2] 1 0"}, .outputs = {"str[] \"abcd\""}},
      {.name = "a separator, the dimension kept",
       .inputs = {matrix, "i32[1] -1"},
       .attrs = {{"separator", ", "s}, {"keep_dims", true}},
       .outputs = {"str[2,1] \"a, b\" \"c, d\""}},
      {.name = "no dimensions", .inputs = {matrix, "i32[0]"}, .outputs = {matrix}},
      {.name = "a scalar", .inputs = {"str[] \"a\"", "i32[0]"}, .outputs = {"str[] \"a\""}},
      {.name = "nothing to join",
       .inputs = {"str[2,0]", "i32[1] 1"},
       .outputs = {"str[2] \"\" \"\""}},
      {.name = "no such dimension",
       .inputs = {matrix, "i32[1] 2"},
       .error = "Invalid reduction dimension 2 for input with 2 dimension(s)"},
      {.name = "twice",
       .inputs = {matrix, "i32[2] 1 -1"},
       .error = "Duplicate reduction dimension -1"},
  };
}

TROUPE_OP_CASES(UnsortedSegmentJoin) {
  const std::string three = "str[3] \"a\" \"b\" \"c\"";
  const Attrs comma{{"separator", ","s}};
  return {
      {.name = "a segment without text",
       .inputs = {three, "i32[3] 0 2 0", "i32[] 3"},
       .attrs = comma,
       .outputs = {"str[3] \"a,c\" \"\" \"b\""}},
      {.name = "no separator before the first text that is not empty",
       .inputs = {"str[4] \"\" \"a\" \"\" \"b\"", "i32[4] 0 0 0 0", "i32[] 1"},
       .attrs = comma,
       .outputs = {"str[1] \"a,,b\""}},
      {.name = "rows",
       .inputs = {"str[2,2] \"a\" \"b\" \"c\" \"d\"", "i64[2] 1 1", "i64[] 2"},
       .attrs = comma,
       .outputs = {"str[2,2] \"\" \"\" \"a,c\" \"b,d\""}},
      {.name = "no elements",
       .inputs = {"str[0]", "i32[0]", "i32[] 1"},
       .outputs = {"str[1] \"\""}},
      {.name = "a segment beyond the last",
       .inputs = {three, "i32[3] 0 3 0", "i32[] 3"},
       .error = "segment_ids are not allowed to exceed num_segments or to have negative values."},
      {.name = "a negative segment",
       .inputs = {three, "i32[3] 0 -1 0", "i32[] 3"},
       .error = "segment_ids are not allowed to exceed num_segments or to have negative values."},
      {.name = "segments of another shape",
       .inputs = {three, "i32[2] 0 1", "i32[] 3"},
       .error = "Segment dimension is 2 while input dimension is 1 in rank 0"},
      {.name = "a scalar segment",
       .inputs = {three, "i32[] 0", "i32[] 3"},
       .error = "Segment_id cannot have rank 0"},
      {.name = "fewer than no segments",
       .inputs = {three, "i32[3] 0 0 0", "i32[] -3"},
       .error = "Number of segments must be non-negative but got -3"},
      {.name = "several numbers of segments",
       .inputs = {three, "i32[3] 0 0 0", "i32[1] 3"},
       .error = "Number of segments must be a scalar"},
  };
}

TROUPE_OP_CASES(DecodeRaw) {
  auto as = [](DType dtype, bool little = true) {
    return Attrs{{"out_type", dtype}, {"little_endian", little}};
  };
  return {
      {.name = "bytes",
       .inputs = {"str[2] \"ab\" \"cd\""},
       .attrs = as(DType::uint8),
       .outputs = {"u8[2,2] 97 98 99 100"}},
      {.name = "int16",
       .inputs = {"str[1] \"ab\""},
       .attrs = as(DType::int16),
       .outputs = {"i16[1,1] 25185"}},
      {.name = "int16, the other end first",
       .inputs = {"str[1] \"ab\""},
       .attrs = as(DType::int16, false),
       .outputs = {"i16[1,1] 24930"}},
      {.name = "a scalar",
       .inputs = {"str[] \"abcd\""},
       .attrs = as(DType::int32),
       .outputs = {"i32[1] 1684234849"}},
      {.name = "no elements",
       .inputs = {"str[0]"},
       .attrs = as(DType::int32),
       .outputs = {"i32[0,0]"}},
      {.name = "empty texts",
       .inputs = {"str[2] \"\" \"\""},
       .attrs = as(DType::float32),
       .outputs = {"f32[2,0]"}},
      {.name = "two lengths",
       .inputs = {"str[2] \"abc\" \"ab\""},
       .attrs = as(DType::uint8),
       .error = "DecodeRaw requires input strings to all be the same size, but element 1 has size "
                "3 != 2"},
      {.name = "half a number",
       .inputs = {"str[1] \"abc\""},
       .attrs = as(DType::int16),
       .error = "Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16"},
  };
}

TROUPE_OP_CASES(DecodePaddedRaw) {
  const Attrs as{{"out_type", DType::int16}};
  return {
      {.name = "more numbers than there can be",
       .inputs = {"str[0,1099511627776]", "i32[] 2147483644"},
       .attrs = as,
       .error = "more than 2^63 - 1 elements"},
      {.name = "filled up and cut",
       .inputs = {"str[2] \"abcdef\" \"a\"", "i32[] 4"},
       .attrs = as,
       .outputs = {"i16[2,2] 25185 25699 97 0"}},
      {.name = "half a number",
       .inputs = {"str[1] \"a\"", "i32[] 3"},
       .attrs = as,
       .error = "fixed_length (3) must be a multiple of the size of out_type (2)"},
      {.name = "no length",
       .inputs = {"str[1] \"a\"", "i32[] 0"},
       .attrs = as,
       .error = "fixed_length (0) must be greater than zero."},
      {.name = "a negative length, no multiple",
       .inputs = {"str[1] \"a\"", "i32[] -1"},
       .attrs = {{"out_type", DType::float32}},
       .error = "fixed_length (-1) must be a multiple of the size of out_type (4)"},
      {.name = "a length in a vector",
       .inputs = {"str[1] \"a\"", "i32[1] 4"},
       .attrs = {{"out_type", DType::float32}},
       .error = "k must be scalar, got shape [1]"},
  };
}

TROUPE_OP_CASES(EncodeBase64) {
  return {
      {.name = "every rest",
       .inputs = {"str[5] \"\" \"a\" \"ab\" \"abc\" \"\xc3\xbf\xc3\xbe\""},
       .outputs = {"str[5] \"\" \"YQ\" \"YWI\" \"YWJj\" \"w7_Dvg\""}},
      {.name = "filled up",
       .inputs = {"str[2] \"a\" \"ab\""},
       .attrs = {{"pad", true}},
       .outputs = {"str[2] \"YQ==\" \"YWI=\""}},
  };
}

TROUPE_OP_CASES(DecodeBase64) {
  return {
      {.name = "filled up or not",
       .inputs = {"str[5] \"YQ\" \"YQ==\" \"YWI\" \"w7_Dvg\" \"\""},
       .outputs = {"str[5] \"a\" \"a\" \"ab\" \"\xc3\xbf\xc3\xbe\" \"\""}},
      {.name = "no letter",
       .inputs = {"str[1] \"YQ=\""},
       .error = "Invalid character found in base64."},
      {.name = "a letter too many",
       .inputs = {"str[1] \"!\""},
       .error = "Base64 string length cannot be 1 modulo 4."},
  };
}

Attrs transcoding(std::string from, std::string to, std::string errors = "replace") {
  return {{"input_encoding", from}, {"output_encoding", to}, {"errors", errors}};
}

TROUPE_OP_CASES(UnicodeTranscode) {
  auto controls = transcoding("UTF-8", "UTF-8");
  auto strict = transcoding("UTF-8", "UTF-8", "strict");
  strict.emplace_back("replace_control_characters", true);
  controls.emplace_back("replace_control_characters", true);
  return {
      {.name = "a backslash of Shift JIS, and half a character",
       .inputs = {"str[2] \"\\\\\" \"\\x82\""},
       .attrs = {{"input_encoding", "shift_jis"}, {"output_encoding", "UTF-8"}},
       .outputs = {"str[2] \"\\\\\" \"\\xef\\xbf\\xbd\""}},
      {.name = "a mark that says which byte is first",
       .inputs = {"str[3] \"\\xfe\\xff\\x00a\" \"\\xff\\xfea\\x00\" \"\\x00a\""},
       .attrs = {{"input_encoding", "UTF-16"}, {"output_encoding", "UTF-8"}},
       .outputs = {"str[3] \"a\" \"a\" \"a\""}},
      {.name = "a mark that says nothing is kept",
       .inputs = {"str[1] \"\\xef\\xbb\\xbfa\""},
       .attrs = {{"input_encoding", "UTF-8"}, {"output_encoding", "UTF-8"}},
       .outputs = {"str[1] \"\\xef\\xbb\\xbfa\""}},
      {.name = "what is no character is replaced",
       .inputs = {"str[1] \"a\\xffb\\xe2\\x82x\\xf0\\x90(\\xed\\xa0\\x80\""},
       .attrs = transcoding("UTF-8", "UTF-8"),
       .outputs = {"str[1] \"a\xef\xbf\xbd"
                   "b\xef\xbf\xbdx\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}},
      {.name = "or left out",
       .inputs = {"str[1] \"a\\xffb\""},
       .attrs = transcoding("UTF-8", "UTF-8", "ignore"),
       .outputs = {"str[1] \"ab\""}},
      {.name = "or an error",
       .inputs = {"str[1] \"a\\xff\""},
       .attrs = transcoding("UTF-8", "UTF-8", "strict"),
       .error = "Invalid formatting on input string"},
      {.name = "and so is a control character that would be replaced",
       .inputs = {"str[1] \"a\\x0a\""},
       .attrs = strict,
       .error = "Invalid formatting on input string"},
      {.name = "UTF-16",
       .inputs = {"str[] \"a\xf0\x9f\x98\x80\""},
       .attrs = transcoding("utf8", "UTF-16-BE"),
       .outputs = {"str[] \"\\x00a\\xd8=\\xde\\x00\""}},
      {.name = "UTF-32",
       .inputs = {"str[1] \"a\""},
       .attrs = transcoding("UTF-8", "UTF-32-BE"),
       .outputs = {"str[1] \"\\x00\\x00\\x00a\""}},
      {.name = "Latin 1",
       .inputs = {"str[1] \"\\xe9\""},
       .attrs = transcoding("ISO-8859-1", "UTF-8"),
       .outputs = {"str[1] \"\xc3\xa9\""}},
      {.name = "control characters",
       .inputs = {"str[1] \"a\\x01\\n\\x7f\""},
       .attrs = controls,
       .outputs = {"str[1] \"a\xef\xbf\xbd\xef\xbf\xbd\x7f\""}},
      {.name = "no such encoding",
       .inputs = {"str[1] \"a\""},
       .attrs = transcoding("nonsense", "UTF-8"),
       .error = "Could not create converter for input encoding: nonsense"},
  };
}

TROUPE_OP_CASES(UnicodeDecode) {
  return {
      {.name = "two texts",
       .inputs = {"str[2] \"a\\xff\xe2\x82\xac\" \"\""},
       .attrs = {{"input_encoding", "UTF-8"s}},
       .outputs = {"i64[3] 0 3 3", "i32[3] 97 65533 8364"}},
      {.name = "a control character is no mistake",
       .inputs = {"str[1] \"a\\nb\""},
       .attrs = {{"input_encoding", "UTF-8"s},
                 {"errors", "strict"s},
                 {"replace_control_characters", true},
                 {"replacement_char", std::int64_t{32}}},
       .outputs = {"i64[2] 0 3", "i32[3] 97 32 98"}},
      {.name = "a byte that begins nothing is one",
       .inputs = {"str[1] \"a\\xff\""},
       .attrs = {{"input_encoding", "UTF-8"s}, {"errors", "strict"s}},
       .error = "Invalid formatting on input string"},
      {.name = "splits of int32, ASCII",
       .inputs = {"str[1] \"a\\xff\""},
       .attrs = {{"input_encoding", "US-ASCII"s}, {"Tsplits", DType::int32}},
       .outputs = {"i32[2] 0 2", "i32[2] 97 65533"}},
      {.name = "no elements",
       .inputs = {"str[0]"},
       .attrs = {{"input_encoding", "UTF-8"s}},
       .outputs = {"i64[1] 0", "i32[0]"}},
  };
}

TROUPE_OP_CASES(UnicodeDecodeWithOffsets) {
  return {
      {.name = "a mark belongs to the first character",
       .inputs = {"str[1] \"\\xfe\\xff\\x00a\\x00b\""},
       .attrs = {{"input_encoding", "UTF-16"}},
       .outputs = {"i64[2] 0 2", "i32[2] 97 98", "i64[2] 0 4"}},
      {.name = "half a pair, half a unit",
       .inputs = {"str[1] \"\\x00a\\xd8\\x00\\x00b\\x00\""},
       .attrs = {{"input_encoding", "UTF-16-BE"s}},
       .outputs = {"i64[2] 0 4", "i32[4] 97 65533 98 65533", "i64[4] 0 2 4 6"}},
      {.name = "an encoding of the C library",
       .inputs = {"str[1] \"a\\x82\\xa0b\""},
       .attrs = {{"input_encoding", "SHIFT_JIS"s}},
       .outputs = {"i64[2] 0 3", "i32[3] 97 12354 98", "i64[3] 0 1 3"}},
  };
}

TROUPE_OP_CASES(UnicodeEncode) {
  auto to = [](std::string encoding, std::string errors = "replace") {
    return Attrs{{"output_encoding", encoding}, {"errors", errors}};
  };
  return {
      {.name = "what is no character is replaced",
       .inputs = {"i32[4] 72 1114112 55296 128512", "i64[2] 0 4"},
       .attrs = to("UTF-16-BE"),
       .outputs = {"str[1] \"\\x00H\\xff\\xfd\\xff\\xfd\\xd8=\\xde\\x00\""}},
      {.name = "or left out",
       .inputs = {"i32[3] 72 -1 73", "i32[3] 0 2 3"},
       .attrs = to("UTF-8", "ignore"),
       .outputs = {"str[2] \"H\" \"I\""}},
      {.name = "or an error",
       .inputs = {"i32[2] 72 1114112", "i64[2] 0 2"},
       .attrs = to("UTF-8", "strict"),
       .error = "Code point is out of range for Unicode, or is a surrogate."},
      {.name = "no texts",
       .inputs = {"i32[0]", "i64[1] 0"},
       .attrs = to("UTF-8"),
       .outputs = {"str[0]"}},
      {.name = "splits beyond the end",
       .inputs = {"i32[2] 72 73", "i64[2] 0 3"},
       .attrs = to("UTF-8"),
       .error = "Last value in input_splits must be equal to length of input_tensor."},
      {.name = "splits that begin late",
       .inputs = {"i32[2] 72 73", "i64[2] 1 2"},
       .attrs = to("UTF-8"),
       .error = "First value in input_splits must be zero."},
      {.name = "splits that go back",
       .inputs = {"i32[2] 72 73", "i64[4] 0 2 1 2"},
       .attrs = to("UTF-8"),
       .error = "Values in input_splits must be equal or in ascending order."},
  };
}

} // namespace
} // namespace troupe
