// MessageSchema: a protobuf message type that is known at run time alone, from the descriptors of
// its files. Protobuf's own library reads them; nobody else needs its headers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.hpp"

namespace troupe {

/// Protobuf's types of fields, under its numbers.
enum class FieldType : std::uint8_t {
  double_ = 1,
  float_,
  int64,
  uint64,
  int32,
  fixed64,
  fixed32,
  bool_,
  string,
  group,
  message,
  bytes,
  uint32,
  enum_,
  sfixed32,
  sfixed64,
  sint32,
  sint64,
};

struct MessageField {
  std::string full_name;
  std::string type_name; ///< as protobuf's language has it: "sint32"
  std::string cpp_name;  ///< of the C++ type: "int32"
  int number = 0;
  FieldType type = FieldType::double_;
  bool is_repeated = false;
  bool is_packed = false; ///< because its options say so
  // The default, by type: of text, of floats, of everything else; without a sign as its bits.
  std::string text;
  double real = 0;
  std::int64_t integer = 0;
};

/// Safe for any thread.
class MessageSchema {
public:
  /// `source` is "local://", the messages that this program knows itself, or "bytes://" and a
  /// serialized FileDescriptorSet. INVALID_ARGUMENT for another source, for descriptors that do not
  /// fit together, and "No descriptor found for message type X".
  static Result<std::shared_ptr<const MessageSchema>> find(std::string_view source,
                                                           const std::string& type);
  /// From the bytes of a FileDescriptorSet.
  static Result<std::shared_ptr<const MessageSchema>> read(std::string_view descriptors,
                                                           const std::string& type);
  virtual ~MessageSchema() = default;

  /// By its name, or an extension by its full name. INVALID_ARGUMENT "Unknown field: f in message
  /// type M".
  virtual Result<MessageField> field(const std::string& name) const = 0;
  /// A message in protobuf's text form as bytes. DATA_LOSS "Unable to parse text protobuf";
  /// RESOURCE_EXHAUSTED for one that would take more than a gigabyte.
  virtual Result<std::string> from_text(const std::string& text) const = 0;
  /// A message read and written again, so that it is one. DATA_LOSS "Unable to parse binary
  /// protobuf"; RESOURCE_EXHAUSTED as of texts.
  virtual Result<std::string> sanitized(const std::string& bytes) const = 0;
};

} // namespace troupe
