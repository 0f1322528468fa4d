#include "kernels/parsing/internal/proto_fields.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"

namespace troupe::parsing {
namespace {

using Fields = std::shared_ptr<const ProtoFields>;

Result<Fields> fields_of(std::shared_ptr<const MessageSchema> schema,
                         const std::vector<std::string>& names) {
  auto out = std::make_shared<ProtoFields>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    TROUPE_ASSIGN(MessageField field, schema->field(names[i]));
    out->fields.push_back({std::move(field), static_cast<int>(i)});
  }
  std::ranges::stable_sort(out->fields, {}, [](const auto& one) { return one.field.number; });
  out->schema = std::move(schema);
  return Fields(std::move(out));
}

bool is_in_source(std::string_view source) {
  return source == "local://" || source.starts_with("bytes://");
}

Result<std::string> read_file(const KernelContext& c, const std::string& path) {
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  TROUPE_ASSIGN(auto file, files->open(path));
  constexpr std::uint64_t most = std::uint64_t{64} << 20;
  if (file->size() > most)
    return resource_exhausted(str_cat("descriptor_source ", path, " has ", file->size(),
                                      " bytes; at most ", most, " are read"));
  std::string out(static_cast<std::size_t>(file->size()), '\0');
  TROUPE_TRY(file->read(0, std::as_writable_bytes(std::span(out))));
  return out;
}

} // namespace

ProtoFieldsOfNode::ProtoFieldsOfNode(const AttrMap& attrs)
    : source_(attrs.get_or("descriptor_source", std::string("local://"))),
      type_(attrs.get_or("message_type", std::string())),
      names_(attrs.get_or("field_names", std::vector<std::string>())) {}

Result<Fields> ProtoFieldsOfNode::at_once() const {
  if (!is_in_source(source_))
    return Fields();
  std::scoped_lock guard(lock_);
  if (!read_) {
    TROUPE_ASSIGN(auto schema, MessageSchema::find(source_, type_));
    TROUPE_ASSIGN(read_, fields_of(std::move(schema), names_));
  }
  return read_;
}

Result<Fields> ProtoFieldsOfNode::get(const KernelContext& c) const {
  if (is_in_source(source_))
    return at_once();
  {
    std::scoped_lock guard(lock_);
    if (read_)
      return read_;
  }
  TROUPE_ASSIGN(const std::string descriptors, read_file(c, source_));
  TROUPE_ASSIGN(auto schema, MessageSchema::read(descriptors, type_));
  TROUPE_ASSIGN(Fields fields, fields_of(std::move(schema), names_));
  std::scoped_lock guard(lock_);
  return read_ = std::move(fields);
}

bool is_compatible(FieldType type, DType dtype) {
  switch (type) {
  case FieldType::double_:
    return dtype == DType::float64;
  case FieldType::float_:
    return dtype == DType::float32 || dtype == DType::float64;
  case FieldType::int64:
  case FieldType::sfixed64:
  case FieldType::sint64:
    return dtype == DType::int64;
  case FieldType::uint64:
  case FieldType::fixed64:
    return dtype == DType::uint64;
  case FieldType::int32:
  case FieldType::sfixed32:
  case FieldType::sint32:
    return dtype == DType::int32 || dtype == DType::int64;
  case FieldType::uint32:
  case FieldType::fixed32:
    return dtype == DType::uint32 || dtype == DType::uint64;
  case FieldType::bool_:
    return dtype == DType::bool_;
  case FieldType::enum_:
    return dtype == DType::int32;
  case FieldType::string:
  case FieldType::bytes:
  case FieldType::message:
  case FieldType::group:
    return dtype == DType::string;
  }
  return false;
}

WireKind wire_kind(FieldType type) {
  switch (type) {
  case FieldType::double_:
  case FieldType::fixed64:
  case FieldType::sfixed64:
    return WireKind::fixed64;
  case FieldType::float_:
  case FieldType::fixed32:
  case FieldType::sfixed32:
    return WireKind::fixed32;
  case FieldType::string:
  case FieldType::bytes:
  case FieldType::message:
    return WireKind::block;
  case FieldType::group:
    return WireKind::group;
  default:
    return WireKind::varint;
  }
}

std::uint64_t from_wire(FieldType type, std::uint64_t bits) {
  const auto lower = static_cast<std::uint32_t>(bits);
  const auto widened = [](std::uint32_t value) {
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value)});
  };
  switch (type) {
  case FieldType::int32:
  case FieldType::sfixed32:
  case FieldType::enum_:
    return widened(lower);
  case FieldType::uint32:
  case FieldType::fixed32:
    return lower;
  case FieldType::sint32:
    return widened(lower >> 1 ^ (0 - (lower & 1)));
  case FieldType::sint64:
    return bits >> 1 ^ (0 - (bits & 1));
  case FieldType::bool_:
    return bits != 0;
  default:
    return bits;
  }
}

std::uint64_t to_wire(FieldType type, std::uint64_t bits) {
  switch (type) {
  case FieldType::int32:
  case FieldType::enum_: // negative ones take ten bytes
    return from_wire(type, bits);
  case FieldType::uint32:
  case FieldType::fixed32:
  case FieldType::sfixed32:
    return static_cast<std::uint32_t>(bits);
  case FieldType::sint32: {
    const auto value = static_cast<std::int32_t>(bits);
    return static_cast<std::uint32_t>(value) << 1 ^ static_cast<std::uint32_t>(value >> 31);
  }
  case FieldType::sint64: {
    const auto value = static_cast<std::int64_t>(bits);
    return bits << 1 ^ static_cast<std::uint64_t>(value >> 63);
  }
  default:
    return bits;
  }
}

} // namespace troupe::parsing
