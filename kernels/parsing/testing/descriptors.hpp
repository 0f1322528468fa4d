// Descriptors of messages, written by hand, for tests: a FileDescriptorSet.
#pragma once

#include <string>
#include <vector>

#include "storage/message/message.hpp"
#include "storage/schemas/message_schema.hpp"

namespace troupe::testing {

struct DescribedField {
  std::string name;
  int number = 0;
  FieldType type = FieldType::int32;
  bool is_repeated = false, is_packed = false;
  std::string default_value = {}, type_name = {};
};

inline MessageWriter descriptor_of(const DescribedField& field) {
  MessageWriter out;
  out.bytes(1, field.name)
      .integer(3, static_cast<std::uint64_t>(field.number))
      .integer(4, field.is_repeated ? 3 : 1)
      .integer(5, static_cast<std::uint64_t>(field.type));
  if (!field.type_name.empty())
    out.bytes(6, field.type_name);
  if (!field.default_value.empty())
    out.bytes(7, field.default_value);
  if (field.is_packed)
    out.message(8, MessageWriter().integer(2, 1));
  return out;
}

/// One file of package p, with a message M of these fields and an enum E of A = 3 and B = 5.
inline std::string descriptor_set(const std::vector<DescribedField>& fields) {
  MessageWriter message;
  message.bytes(1, "M");
  for (const DescribedField& field : fields)
    message.message(2, descriptor_of(field));
  MessageWriter group; // the type of a field g = 20 that is a group
  group.bytes(1, "G").message(2, descriptor_of({.name = "x", .number = 1}));
  message.message(3, group);
  MessageWriter numbers;
  numbers.bytes(1, "E")
      .message(2, MessageWriter().bytes(1, "A").integer(2, 3))
      .message(2, MessageWriter().bytes(1, "B").integer(2, 5));
  return MessageWriter()
      .message(
          1,
          MessageWriter().bytes(1, "t.proto").bytes(2, "p").message(4, message).message(5, numbers))
      .take();
}

/// A field of every type, some repeated, some packed.
inline std::string every_type() {
  const auto one = [](std::string name, int number, FieldType type) {
    return DescribedField{.name = std::move(name), .number = number, .type = type};
  };
  const auto many = [&](std::string name, int number, FieldType type, bool is_packed = false) {
    DescribedField out = one(std::move(name), number, type);
    out.is_repeated = true;
    out.is_packed = is_packed;
    return out;
  };
  std::vector<DescribedField> fields = {one("i32", 1, FieldType::int32),
                                        many("r32", 2, FieldType::int32),
                                        many("p32", 3, FieldType::int32, true),
                                        one("s", 4, FieldType::string),
                                        many("rs", 5, FieldType::string),
                                        one("b", 6, FieldType::bytes),
                                        one("f", 7, FieldType::float_),
                                        one("d", 8, FieldType::double_),
                                        many("u64", 9, FieldType::uint64),
                                        one("sub", 10, FieldType::message),
                                        one("e", 11, FieldType::enum_),
                                        many("s32", 12, FieldType::sint32, true),
                                        many("f32", 13, FieldType::fixed32, true),
                                        one("sf64", 14, FieldType::sfixed64),
                                        many("bo", 15, FieldType::bool_),
                                        one("u32", 16, FieldType::uint32),
                                        one("f64", 17, FieldType::fixed64),
                                        one("i64", 18, FieldType::int64),
                                        one("s64", 19, FieldType::sint64),
                                        one("g", 20, FieldType::group),
                                        one("sf32", 21, FieldType::sfixed32)};
  fields[0].default_value = "7";
  fields[3].default_value = "dflt";
  fields[6].default_value = "1.5";
  fields[9].type_name = ".p.M";
  fields[10].type_name = ".p.E";
  fields[19].type_name = ".p.M.G";
  return descriptor_set(fields);
}

} // namespace troupe::testing
