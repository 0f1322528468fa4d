#include "storage/schemas/message_schema.hpp"

#include <doctest/doctest.h>

#include "storage/message/message.hpp"

using namespace troupe;

namespace {

/// A file with message p.M: a number a = 1 with default 7, and itself in m = 2.
std::string descriptors() {
  const auto field = [](const char* name, int number, int type) {
    return MessageWriter()
        .bytes(1, name)
        .integer(3, static_cast<std::uint64_t>(number))
        .integer(4, 1)
        .integer(5, static_cast<std::uint64_t>(type));
  };
  const MessageWriter message = MessageWriter()
                                    .bytes(1, "M")
                                    .message(2, field("a", 1, 5).bytes(7, "7"))
                                    .message(2, field("m", 2, 11).bytes(6, ".p.M"));
  return MessageWriter()
      .message(1, MessageWriter().bytes(1, "f.proto").bytes(2, "p").message(4, message))
      .take();
}

std::string nested(int depth, std::string_view opening, std::string_view closing) {
  std::string out;
  for (int i = 0; i < depth; ++i)
    out += opening;
  for (int i = 0; i < depth; ++i)
    out += closing;
  return out;
}

} // namespace

TEST_CASE("message schema: fields come with number, type and default") {
  const auto schema = MessageSchema::find("bytes://" + descriptors(), "p.M");
  REQUIRE_MESSAGE(schema.ok(), schema.status().to_string());
  const auto a = (*schema)->field("a");
  REQUIRE(a.ok());
  CHECK(a->number == 1);
  CHECK(a->type == FieldType::int32);
  CHECK(a->type_name == "int32");
  CHECK(a->integer == 7);
  CHECK(!a->is_repeated);
  CHECK((*schema)->field("m")->full_name == "p.M.m");
  CHECK((*schema)->field("b").status().message() == "Unknown field: b in message type p.M");
}

TEST_CASE("message schema: the program's own messages, and sources that are none") {
  CHECK(MessageSchema::find("local://", "google.protobuf.FileDescriptorSet").ok());
  CHECK(MessageSchema::find("local://", "p.M").status().message() ==
        "No descriptor found for message type p.M");
  for (const std::string source : {"bytes://\xff", "file.pb", "", "bytes:/"})
    CHECK(MessageSchema::find(source, "p.M")
              .status()
              .message()
              .starts_with("Source does not represent serialized file descriptor set proto."));
}

TEST_CASE("message schema: text becomes bytes, and bytes are read and written again") {
  const auto schema = *MessageSchema::read(descriptors(), "p.M");
  CHECK(*schema->from_text("m { a: 3 } # more\n a: 4") == std::string("\x08\x04\x12\x02\x08\x03"));
  CHECK(schema->from_text("a: x").status().code() == Code::data_loss);
  // Twice one message is their merger.
  const std::string twice("\x12\x02\x08\x03\x12\0\x08\x04", 8);
  CHECK(*schema->sanitized(twice) == "\x08\x04\x12\x02\x08\x03");
  CHECK(schema->sanitized("\x08").status().code() == Code::data_loss);
}

TEST_CASE("message schema: what would take too much memory or nests too deep is refused") {
  const auto schema = *MessageSchema::read(descriptors(), "p.M");
  CHECK(schema->from_text(nested(1000, "m{", "}")).status().code() == Code::data_loss);
  std::string many;
  for (int i = 0; i < 20'000'000; ++i)
    many += "m{}";
  CHECK(schema->from_text(many).status().code() == Code::resource_exhausted);
  std::string message;
  for (int i = 0; i < 1000; ++i)
    message = MessageWriter().bytes(2, message).take();
  CHECK(schema->sanitized(message).status().code() == Code::data_loss);
  std::string bytes;
  for (int i = 0; i < 40'000'000; ++i)
    bytes += std::string_view("\x12\0", 2);
  CHECK(schema->sanitized(bytes).status().code() == Code::resource_exhausted);
}
