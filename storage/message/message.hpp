// Protobuf's wire format, for the few small messages of files: fields are written one after the
// other and read as they come. No generated code, so that kernels may use it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Appends fields to a message. Fields of value zero are written too; who wants proto3's defaults
/// left out leaves them out.
class MessageWriter {
public:
  MessageWriter& integer(int field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
    return *this;
  }
  /// int32, int64 and enums: negative ones take ten bytes.
  MessageWriter& signed_integer(int field, std::int64_t value) {
    return integer(field, static_cast<std::uint64_t>(value));
  }
  MessageWriter& fixed32(int field, std::uint32_t value) {
    tag(field, 5);
    return raw(&value, sizeof value);
  }
  MessageWriter& real(int field, float value) {
    return fixed32(field, std::bit_cast<std::uint32_t>(value));
  }
  MessageWriter& real(int field, double value) {
    tag(field, 1);
    return raw(&value, sizeof value);
  }
  MessageWriter& bytes(int field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    text_.append(value);
    return *this;
  }
  /// Text as proto3 has it: none where it is empty.
  MessageWriter& text(int field, std::string_view value) {
    return value.empty() ? *this : bytes(field, value);
  }
  MessageWriter& message(int field, const MessageWriter& value) {
    return bytes(field, value.text_);
  }

  /// A number without a tag, such as an element of a packed field.
  MessageWriter& varint(std::uint64_t value);
  MessageWriter& raw(const void* data, std::size_t size) {
    text_.append(static_cast<const char*>(data), size);
    return *this;
  }

  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

private:
  void tag(int field, unsigned kind) { varint(static_cast<std::uint64_t>(field) << 3 | kind); }
  std::string text_;
};

/// Reads a message's fields in their order:
///
///   MessageReader in(text);
///   while (in.next())
///     if (in.field() == 1) …
///   if (!in.ok()) …
class MessageReader {
public:
  explicit MessageReader(std::string_view text) : rest_(text) {}
  /// The next field; false at the end, and where the text is not a message.
  bool next();
  bool ok() const { return ok_; }
  int field() const { return field_; }
  /// Whether the field is a length and bytes; a repeated number may come in either form.
  bool is_bytes() const { return kind_ == 2; }
  /// The field's value; zero or empty where its kind on the wire is another.
  std::uint64_t integer() const { return kind_ == 0 ? number_ : 0; }
  std::int64_t signed_integer() const { return static_cast<std::int64_t>(integer()); }
  std::uint32_t fixed32() const { return kind_ == 5 ? static_cast<std::uint32_t>(number_) : 0; }
  std::uint64_t fixed64() const { return kind_ == 1 ? number_ : 0; }
  std::string_view bytes() const { return kind_ == 2 ? bytes_ : std::string_view(); }

private:
  std::string_view rest_;
  bool ok_ = true;
  int field_ = 0;
  unsigned kind_ = 0;
  std::uint64_t number_ = 0;
  std::string_view bytes_;
};

/// Takes a varint off the front; nothing, and `text` as it was, if there is none.
std::optional<std::uint64_t> take_varint(std::string_view& text);

} // namespace troupe
