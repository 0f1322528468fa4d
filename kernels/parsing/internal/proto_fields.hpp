// What DecodeProtoV2 and EncodeProto share: the fields that a node names, and which dtypes they may
// have.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/framework/context.hpp"
#include "storage/schemas/message_schema.hpp"

namespace troupe::parsing {

/// A message type and fields of it, in the order of their numbers.
struct ProtoFields {
  struct Field {
    MessageField field;
    int place = 0; ///< in the attributes' lists
  };
  std::shared_ptr<const MessageSchema> schema;
  std::vector<Field> fields;
};

/// Of a node; a file of descriptors is read when the first step needs it.
class ProtoFieldsOfNode {
public:
  explicit ProtoFieldsOfNode(const AttrMap& attrs);
  /// Attributes: `descriptor_source`, `message_type`, `field_names`. What MessageSchema says, and
  /// what AllowedFiles says of a file.
  Result<std::shared_ptr<const ProtoFields>> get(const KernelContext& c) const;
  /// Before any step; null where the descriptors are in a file.
  Result<std::shared_ptr<const ProtoFields>> at_once() const;

private:
  std::string source_, type_;
  std::vector<std::string> names_;
  mutable std::mutex lock_;
  mutable std::shared_ptr<const ProtoFields> read_;
};

/// Whether a field's values can be elements of that dtype.
bool is_compatible(FieldType type, DType dtype);

/// How a field's values are written one by one.
enum class WireKind : std::uint8_t { varint = 0, fixed64 = 1, block = 2, group = 3, fixed32 = 5 };
WireKind wire_kind(FieldType type);

/// Bits as they are written, as a number whose sign is right in 64 bits; and back. Of floats their
/// bits.
std::uint64_t from_wire(FieldType type, std::uint64_t bits);
std::uint64_t to_wire(FieldType type, std::uint64_t bits);

} // namespace troupe::parsing
