#include "storage/schemas/message_schema.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include "core/base/strings.hpp"
#include "storage/message/message.hpp"

namespace troupe {
namespace {

namespace pb = google::protobuf;

constexpr std::size_t most_descriptor_bytes = std::size_t{64} << 20;
constexpr std::size_t most_object_bytes = std::size_t{1} << 30;
constexpr int most_nesting = 100; // as protobuf has it

/// Keeps the first error, and says nothing to the log.
class PoolErrors final : public pb::DescriptorPool::ErrorCollector {
public:
  void AddError(const std::string&, const std::string& element, const pb::Message*, ErrorLocation,
                const std::string& message) override {
    if (text.empty())
      text = str_cat(element, ": ", message);
  }
  std::string text;
};
class NoErrors final : public pb::io::ErrorCollector {
public:
  void AddError(int, int, const std::string&) override {}
};

MessageField field_of(const pb::FieldDescriptor& from) {
  MessageField out{.full_name = from.full_name(),
                   .type_name = from.type_name(),
                   .cpp_name = from.cpp_type_name(),
                   .number = from.number(),
                   .type = static_cast<FieldType>(from.type()),
                   .is_repeated = from.is_repeated(),
                   .is_packed = from.options().packed(),
                   .text = {}};
  switch (from.cpp_type()) {
  case pb::FieldDescriptor::CPPTYPE_INT32:
    out.integer = from.default_value_int32();
    break;
  case pb::FieldDescriptor::CPPTYPE_INT64:
    out.integer = from.default_value_int64();
    break;
  case pb::FieldDescriptor::CPPTYPE_UINT32:
    out.integer = from.default_value_uint32();
    break;
  case pb::FieldDescriptor::CPPTYPE_UINT64:
    out.integer = static_cast<std::int64_t>(from.default_value_uint64());
    break;
  case pb::FieldDescriptor::CPPTYPE_DOUBLE:
    out.real = from.default_value_double();
    break;
  case pb::FieldDescriptor::CPPTYPE_FLOAT:
    out.real = from.default_value_float();
    break;
  case pb::FieldDescriptor::CPPTYPE_BOOL:
    out.integer = from.default_value_bool();
    break;
  case pb::FieldDescriptor::CPPTYPE_ENUM:
    out.integer = from.default_value_enum()->number();
    break;
  case pb::FieldDescriptor::CPPTYPE_STRING:
    out.text = from.default_value_string();
    break;
  case pb::FieldDescriptor::CPPTYPE_MESSAGE:
    break;
  }
  return out;
}

/// How many messages there are in a message, about: what is no message counts as many as its bytes
/// could be.
std::size_t count_messages(const pb::Descriptor& type, std::string_view bytes, int depth) {
  std::size_t out = 1;
  MessageReader in(bytes);
  while (in.next()) {
    const pb::FieldDescriptor* field = type.FindFieldByNumber(in.field());
    if (field && field->message_type() && in.is_bytes() && depth < most_nesting)
      out += count_messages(*field->message_type(), in.bytes(), depth + 1);
  }
  return in.ok() ? out : out + bytes.size() / 2;
}

class PoolSchema final : public MessageSchema {
public:
  PoolSchema(std::unique_ptr<pb::DescriptorPool> owned, const pb::DescriptorPool& pool,
             const pb::Descriptor& type)
      : owned_(std::move(owned)), pool_(pool), type_(type), factory_(&pool_),
        prototype_(factory_.GetPrototype(&type)), object_bytes_(largest_object()) {}

  Result<MessageField> field(const std::string& name) const override {
    if (const pb::FieldDescriptor* found = type_.FindFieldByName(name))
      return field_of(*found);
    std::vector<const pb::FieldDescriptor*> extensions;
    pool_.FindAllExtensions(&type_, &extensions);
    for (const pb::FieldDescriptor* extension : extensions)
      if (extension->full_name() == name)
        return field_of(*extension);
    return invalid_argument(
        str_cat("Unknown field: ", name, " in message type ", type_.full_name()));
  }

  Result<std::string> from_text(const std::string& text) const override {
    const auto is_opening = [](char c) { return c == '{' || c == '<'; };
    TROUPE_TRY(check_size(1 + static_cast<std::size_t>(std::ranges::count_if(text, is_opening)),
                          text.size()));
    const std::unique_ptr<pb::Message> message(prototype_->New());
    pb::TextFormat::Parser parser;
    NoErrors errors;
    parser.RecordErrorsTo(&errors);
    parser.SetRecursionLimit(most_nesting);
    if (!parser.ParseFromString(text, message.get()))
      return data_loss("Unable to parse text protobuf");
    return message->SerializeAsString();
  }

  Result<std::string> sanitized(const std::string& bytes) const override {
    TROUPE_TRY(check_size(count_messages(type_, bytes, 0), bytes.size()));
    const std::unique_ptr<pb::Message> message(prototype_->New());
    if (!message->ParsePartialFromString(bytes) || !message->IsInitialized())
      return data_loss("Unable to parse binary protobuf");
    return message->SerializeAsString();
  }

private:
  /// The largest empty message of the types that this one may hold, and itself.
  std::size_t largest_object() {
    std::size_t out = 0;
    std::unordered_set<const pb::Descriptor*> seen = {&type_};
    std::vector<const pb::Descriptor*> left = {&type_};
    while (!left.empty()) {
      const pb::Descriptor& type = *left.back();
      left.pop_back();
      out = std::max(out, factory_.GetPrototype(&type)->SpaceUsedLong());
      for (int i = 0; i < type.field_count(); ++i)
        if (const pb::Descriptor* inner = type.field(i)->message_type();
            inner && seen.insert(inner).second)
          left.push_back(inner);
    }
    return out;
  }

  Status check_size(std::size_t messages, std::size_t bytes) const {
    constexpr std::size_t of_a_byte = 16; // a short text, an element of a repeated field
    if (messages <= most_object_bytes / std::max<std::size_t>(1, object_bytes_) &&
        bytes <= most_object_bytes / of_a_byte)
      return {};
    return resource_exhausted(str_cat("A message of ", bytes, " bytes with about ", messages,
                                      " messages of ", type_.full_name(),
                                      " in it is too large to be read whole; split it, or pass "
                                      "message_format='binary' and sanitize=False"));
  }

  const std::unique_ptr<pb::DescriptorPool> owned_; // null: the program's own
  const pb::DescriptorPool& pool_;
  const pb::Descriptor& type_;
  mutable pb::DynamicMessageFactory factory_;
  const pb::Message* const prototype_;
  const std::size_t object_bytes_;
};

using Found = std::shared_ptr<const MessageSchema>;

Result<Found> schema_of(std::unique_ptr<pb::DescriptorPool> owned, const pb::DescriptorPool& pool,
                        const std::string& type) {
  const pb::Descriptor* found = pool.FindMessageTypeByName(type);
  if (!found)
    return invalid_argument(str_cat("No descriptor found for message type ", type));
  return Found(std::make_shared<PoolSchema>(std::move(owned), pool, *found));
}

} // namespace

Result<Found> MessageSchema::find(std::string_view source, const std::string& type) {
  constexpr std::string_view bytes = "bytes://";
  if (source == "local://")
    return schema_of(nullptr, *pb::DescriptorPool::generated_pool(), type);
  if (source.starts_with(bytes))
    return read(source.substr(bytes.size()), type);
  return invalid_argument(str_cat("Source does not represent serialized file descriptor set proto. "
                                  "It is 'local://', or 'bytes://' with the set: ",
                                  str_quote(source.substr(0, 100))));
}

Result<Found> MessageSchema::read(std::string_view descriptors, const std::string& type) {
  if (descriptors.size() > most_descriptor_bytes)
    return resource_exhausted(str_cat("A file descriptor set of ", descriptors.size(),
                                      " bytes is too large; at most ", most_descriptor_bytes,
                                      " are read"));
  pb::FileDescriptorSet files;
  if (!files.ParseFromArray(descriptors.data(), static_cast<int>(descriptors.size())))
    return invalid_argument("Source does not represent serialized file descriptor set proto.");
  auto pool = std::make_unique<pb::DescriptorPool>();
  PoolErrors errors;
  for (const pb::FileDescriptorProto& file : files.file())
    if (!pool->BuildFileCollectingErrors(file, &errors))
      return invalid_argument(
          str_cat("Failed to load FileDescriptorProto: ", file.name(), ": ", errors.text));
  const pb::DescriptorPool& built = *pool;
  return schema_of(std::move(pool), built, type);
}

} // namespace troupe
