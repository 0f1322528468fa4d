// DecodeProtoV2, EncodeProto. Expected values and refusals are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include "kernels/parsing/testing/descriptors.hpp"
#include "kernels/parsing/testing/examples.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe::testing::of_protos { // files of tests are compiled together
namespace {

using Attrs = std::vector<std::pair<std::string, AttrValue>>;
using Texts = std::vector<std::string>;
using Types = std::vector<DType>;

Attrs reading(Texts names, Types types, Attrs more = {}) {
  Attrs out = {{"message_type", std::string("p.M")},
               {"field_names", std::move(names)},
               {"output_types", std::move(types)}};
  bool has_source = false;
  for (auto& attr : more)
    has_source = has_source || attr.first == "descriptor_source";
  if (!has_source)
    out.emplace_back("descriptor_source", "bytes://" + every_type());
  for (auto& attr : more) {
    std::erase_if(out, [&](const auto& one) { return one.first == attr.first; });
    out.push_back(std::move(attr));
  }
  return out;
}

std::string full() {
  MessageWriter out;
  out.integer(1, 5).integer(2, 1).signed_integer(2, -2).integer(2, 3);
  out.message(3, MessageWriter().varint(4).varint(300));
  out.bytes(4, "x").bytes(5, "a").bytes(5, "bb").bytes(6, "\xff").real(7, 2.5F).real(8, 1e300);
  out.integer(9, 1).integer(9, UINT64_MAX).bytes(10, "\x08\x09").integer(11, 5);
  out.message(12, MessageWriter().varint(1).varint(14)).bytes(13, "\xff\xff\xff\xff");
  const std::int64_t nine = -9;
  out.varint(14 << 3 | 1).raw(&nine, 8).integer(15, 1).integer(15, 0).integer(16, UINT32_MAX);
  const std::uint64_t high = std::uint64_t{1} << 63;
  out.varint(17 << 3 | 1).raw(&high, 8).signed_integer(18, -5).integer(19, 9);
  out.varint(20 << 3 | 3).integer(1, 8).varint(20 << 3 | 4);
  out.fixed32(21, static_cast<std::uint32_t>(-3));
  return out.take();
}

const Texts every_name = {"i32", "r32", "p32",  "s",  "rs",  "b",   "f",   "d",   "u64", "sub", "e",
                          "s32", "f32", "sf64", "bo", "u32", "f64", "i64", "s64", "g",   "sf32"};
const Types every_dtype = {
    DType::int32,   DType::int32,   DType::int32,  DType::string, DType::string, DType::string,
    DType::float32, DType::float64, DType::uint64, DType::string, DType::int32,  DType::int32,
    DType::uint32,  DType::int64,   DType::bool_,  DType::uint32, DType::uint64, DType::int64,
    DType::int64,   DType::string,  DType::int32};

TROUPE_OP_CASES(DecodeProtoV2) {
  const auto message = [](std::string bytes) { return texts({std::move(bytes)}); };
  const Attrs number = reading({"i32"}, {DType::int32});
  const auto fails = [&](std::string name, std::string bytes, std::string error) {
    return OpCase{.name = std::move(name),
                  .inputs = {texts({std::move(bytes)})},
                  .attrs = number,
                  .error = std::move(error)};
  };
  return {
      {.name = "every type, present and not",
       .inputs = {texts({full(), ""})},
       .attrs = reading(every_name, every_dtype),
       .outputs = {"i32[2,21] 1 3 2 1 2 1 1 1 2 1 1 2 1 1 2 1 1 1 1 1 1 "
                   "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
                   "i32[2,1] 5 7",
                   "i32[2,3] 1 -2 3 0 0 0",
                   "i32[2,2] 4 300 0 0",
                   "str[2,1] \"x\" \"dflt\"",
                   "str[2,2] \"a\" \"bb\" \"\" \"\"",
                   "str[2,1] \"\\xff\" \"\"",
                   "f32[2,1] 2.5 1.5",
                   "f64[2,1] 1e300 0",
                   "u64[2,2] 1 18446744073709551615 0 0",
                   "str[2,1] \"\\x08\\x09\" \"\"",
                   "i32[2,1] 5 3",
                   "i32[2,2] -1 7 0 0",
                   "u32[2,1] 4294967295 0",
                   "i64[2,1] -9 0",
                   "bool[2,2] true false false false",
                   "u32[2,1] 4294967295 0",
                   "u64[2,1] 9223372036854775808 0",
                   "i64[2,1] -5 0",
                   "i64[2,1] -5 0",
                   "str[2,1] \"\\x08\\x08\" \"\"",
                   "i32[2,1] -3 0"}},
      {.name = "wider dtypes",
       .inputs = {message(full())},
       .attrs = reading({"r32", "f", "u32", "s32", "sf32"},
                        {DType::int64, DType::float64, DType::uint64, DType::int64, DType::int64}),
       .outputs = {"i32[1,5] 3 1 1 2 1", "i64[1,3] 1 -2 3", "f64[1,1] 2.5", "u64[1,1] 4294967295",
                   "i64[1,2] -1 7", "i64[1,1] -3"}},
      {.name = "fields in another order",
       .inputs = {message(full())},
       .attrs = reading({"s", "i32"}, {DType::string, DType::int32}),
       .outputs = {"i32[1,2] 1 1", "str[1,1] \"x\"", "i32[1,1] 5"}},
      {.name = "the last of several values",
       .inputs = {message(full() + full())},
       .attrs = reading({"i32", "rs"}, {DType::int32, DType::string}),
       .outputs = {"i32[1,2] 1 4", "i32[1,1] 5", "str[1,4] \"a\" \"bb\" \"a\" \"bb\""}},
      {.name = "a batch of two dimensions",
       .inputs = {to_literal(Tensor::of<std::string>({2, 1}, {full(), full()}))},
       .attrs = number,
       .outputs = {"i32[2,1,1] 1 1", "i32[2,1,1] 5 5"}},
      {.name = "a scalar",
       .inputs = {text(full())},
       .attrs = number,
       .outputs = {"i32[1] 1", "i32[1] 5"}},
      {.name = "no fields",
       .inputs = {message(full())},
       .attrs = reading({}, {}),
       .outputs = {"i32[1,0]"}},
      {.name = "a value of another kind on the wire",
       .inputs = {message(MessageWriter().fixed32(1, 9).take())},
       .attrs = number,
       .outputs = {"i32[1,1] 0", "i32[1,1] 7"}},
      {.name = "text",
       .inputs = {message("i32: 3 r32: 1 r32: [2,3] s: \"q\" sub { i32: 4 } e: B")},
       .attrs = reading({"i32", "r32", "s", "sub", "e"},
                        {DType::int32, DType::int32, DType::string, DType::string, DType::int32},
                        {{"message_format", std::string("text")}}),
       .outputs = {"i32[1,5] 1 3 1 1 1", "i32[1,1] 3", "i32[1,3] 1 2 3", "str[1,1] \"q\"",
                   "str[1,1] \"\\x08\\x04\"", "i32[1,1] 5"}},
      {.name = "sanitized",
       .inputs = {message(full())},
       .attrs = reading({"i32", "rs"}, {DType::int32, DType::string}, {{"sanitize", true}}),
       .outputs = {"i32[1,2] 1 2", "i32[1,1] 5", "str[1,2] \"a\" \"bb\""}},
      fails("a number that is cut", "\x08", "ReadValue: Failed skipping field when counting"),
      fails("another field that is cut", "\x22\x09x", "Failed skipping unrequested field"),
      fails("an end of no group", "\x0c", "CountFields: Failed to consume entire buffer"),
      fails("a group without end", "\xa3\x01\x08\x01", "Failed skipping unrequested field"),
      fails("groups without end", std::string(1000, '\x0b'), "CollectField: Failed skipping"),
      fails("field 0", std::string(1, '\0'), "CountFields: Failed to consume entire buffer"),
      {.name = "packed numbers that are cut",
       .inputs = {message("\x1a\x02\x80\x80")},
       .attrs = reading({"p32"}, {DType::int32}),
       .error = "Corrupt packed varint"},
      {.name = "packed numbers of three bytes",
       .inputs = {message("\x6a\x03\x01\x02\x03")},
       .attrs = reading({"f32"}, {DType::uint32}),
       .error = "Illegal data length for packed fixed-size type: 3"},
      {.name = "no text form",
       .inputs = {message("i32: x")},
       .attrs = reading({"i32"}, {DType::int32}, {{"message_format", std::string("text")}}),
       .error = "Unable to parse text protobuf"},
      {.name = "sanitized, but no message",
       .inputs = {message("\x08")},
       .attrs = reading({"i32"}, {DType::int32}, {{"sanitize", true}}),
       .error = "Unable to parse binary protobuf"},
      {.name = "another format",
       .inputs = {message("")},
       .attrs = reading({"i32"}, {DType::int32}, {{"message_format", std::string("json")}}),
       .error = "format must be one of binary or text"},
      {.name = "no messages",
       .inputs = {"str[0]"},
       .attrs = number,
       .error = "Bufs argument must contain at least one value"},
      {.name = "another field",
       .inputs = {message("")},
       .attrs = reading({"zz"}, {DType::int32}),
       .error = "Unknown field: zz in message type p.M"},
      {.name = "another type",
       .inputs = {message("")},
       .attrs = reading({"i32"}, {DType::int32}, {{"message_type", std::string("p.Q")}}),
       .error = "No descriptor found for message type p.Q"},
      {.name = "a dtype that does not fit",
       .inputs = {message("")},
       .attrs = reading({"s32"}, {DType::int8}),
       .error = "Unexpected output type for p.M.s32: int32 to DT_INT8"},
      {.name = "dtypes that are too few",
       .inputs = {message("")},
       .attrs = reading({"i32"}, {}),
       .error = "field_names and output_types attributes must have the same length"},
      {.name = "descriptors that are none",
       .inputs = {message("")},
       .attrs =
           reading({"i32"}, {DType::int32}, {{"descriptor_source", std::string("bytes://zzz")}}),
       .error = "Source does not represent serialized file descriptor set proto."},
      {.name = "descriptors that do not fit together",
       .inputs = {message("")},
       .attrs =
           reading({"i32"}, {DType::int32},
                   {{"descriptor_source", "bytes://" + descriptor_set({{.name = "a",
                                                                        .number = 1,
                                                                        .type = FieldType::message,
                                                                        .type_name = ".p.N"}})}}),
       .error = "Failed to load FileDescriptorProto: t.proto: p.M.a: "},
  };
}

Attrs writing(Texts names, Attrs more = {}) {
  Attrs out = {{"message_type", std::string("p.M")},
               {"field_names", std::move(names)},
               {"descriptor_source", "bytes://" + every_type()}};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

TROUPE_OP_CASES(EncodeProto) {
  const auto message = [](const MessageWriter& bytes) { return texts({bytes.text()}); };
  return {
      {.name = "every type",
       .inputs = {"i32[1,21] 1 3 2 1 2 1 1 1 2 1 1 2 1 1 2 1 1 1 1 1 1",
                  "i32[1,1] 5",
                  "i32[1,3] 1 -2 3",
                  "i32[1,2] 4 300",
                  "str[1,1] \"x\"",
                  "str[1,2] \"a\" \"bb\"",
                  "str[1,1] \"\\xff\"",
                  "f32[1,1] 2.5",
                  "f64[1,1] 1e300",
                  "u64[1,2] 1 18446744073709551615",
                  "str[1,1] \"\\x08\\x09\"",
                  "i32[1,1] 5",
                  "i32[1,2] -1 7",
                  "u32[1,1] 4294967295",
                  "i64[1,1] -9",
                  "bool[1,2] true false",
                  "u32[1,1] 4294967295",
                  "u64[1,1] 9223372036854775808",
                  "i64[1,1] -5",
                  "i64[1,1] -5",
                  "str[1,1] \"\\x08\\x08\"",
                  "i32[1,1] -3"},
       .attrs = writing(every_name),
       .outputs = {texts({full()})}},
      {.name = "in the order of their numbers, as many as there are",
       .inputs = {"i32[2,2] 1 1 0 1", "str[2,1] \"x\" \"y\"", "i32[2,1] 5 6"},
       .attrs = writing({"s", "i32"}),
       .outputs = {texts({MessageWriter().integer(1, 5).bytes(4, "x").take(),
                          MessageWriter().integer(1, 6).take()})}},
      {.name = "wider dtypes",
       .inputs = {"i32[1,3] 1 1 1", "i64[1,1] -2", "f64[1,1] 1.5", "u64[1,1] 4294967295"},
       .attrs = writing({"i32", "f", "u32"}),
       .outputs = {message(
           MessageWriter().signed_integer(1, -2).real(7, 1.5F).integer(16, UINT32_MAX))}},
      {.name = "fewer than there are, in two dimensions",
       .inputs = {"i32[1,2,1] 1 2", "i32[1,2,2] 1 2 3 4"},
       .attrs = writing({"r32"}),
       .outputs = {to_literal(Tensor::of<std::string>({1, 2}, {"\x10\x01", "\x10\x03\x10\x04"}))}},
      {.name = "fewer than none",
       .inputs = {"i32[1,1] -1", "i32[1,1] 5"},
       .attrs = writing({"i32"}),
       .outputs = {"str[1] \"\""}},
      {.name = "no messages",
       .inputs = {"i32[0,1]", "i32[0,1]"},
       .attrs = writing({"i32"}),
       .outputs = {"str[0]"}},
      {.name = "more than there are",
       .inputs = {"i32[1,2] 2 1", "str[1,1] \"x\"", "i32[1,1] 5"},
       .attrs = writing({"s", "i32"}),
       .error = "Size to write must not be larger than value tensor; but saw: 2 > 1 at message 0 "
                "field 0"},
      {.name = "a vector",
       .inputs = {"i32[1] 1", "str[1] \"x\""},
       .attrs = writing({"s"}),
       .error = "Invalid shape for field s.  Saw shape [1] but it should be at least a matrix."},
      {.name = "batches of two sizes",
       .inputs = {"i32[1,2] 1 1", "str[2,1] \"x\" \"y\"", "i32[1,1] 5"},
       .attrs = writing({"s", "i32"}),
       .error = "Values must match up to the last dimension"},
      {.name = "sizes that are too few",
       .inputs = {"i32[1,1] 1", "str[1,1] \"x\"", "i32[1,1] 5"},
       .attrs = writing({"s", "i32"}),
       .error = "sizes should be batch_size + [len(field_names)].  Saw: [1,1] but expected: [1,2]"},
      {.name = "a dtype that does not fit",
       .inputs = {"i32[1,1] 1", "f32[1,1] 1.5"},
       .attrs = writing({"s"}),
       .error = "Incompatible type for field s.  Saw dtype: float but field type is: string"},
      {.name = "names that are too many",
       .inputs = {"i32[1,1] 1", "f32[1,1] 1.5"},
       .attrs = writing({"s", "f"}),
       .error = "Length of inputs list must match field_names"},
      {.name = "another field",
       .inputs = {"i32[1,1] 1", "f32[1,1] 1.5"},
       .attrs = writing({"zz"}),
       .error = "Unknown field: zz in message type p.M"},
  };
}

} // namespace
} // namespace troupe::testing::of_protos
