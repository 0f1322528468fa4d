// Protobuf's wire format where speed counts: a cursor over bytes that someone else holds.
// storage/message/message.hpp reads small messages more comfortably.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace troupe::parsing {

/// Tags of fields with numbers below 16, one byte each.
constexpr std::uint8_t varint_tag(int field) {
  return static_cast<std::uint8_t>(field << 3);
}
constexpr std::uint8_t block_tag(int field) {
  return static_cast<std::uint8_t>(field << 3 | 2);
}
constexpr std::uint8_t fixed32_tag(int field) {
  return static_cast<std::uint8_t>(field << 3 | 5);
}

/// Every `take_…` returns false where the bytes are something else; the cursor is then anywhere.
class WireCursor {
public:
  explicit WireCursor(std::string_view text)
      : at_(reinterpret_cast<const std::uint8_t*>(text.data())), end_(at_ + text.size()) {}

  bool at_end() const { return at_ == end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  const std::uint8_t* position() const { return at_; }
  /// Requires that many bytes left.
  void skip(std::size_t bytes) { at_ += bytes; }
  bool is_at_tag(std::uint8_t tag) const { return at_ != end_ && *at_ == tag; }
  bool take_tag(std::uint8_t tag) {
    if (!is_at_tag(tag))
      return false;
    ++at_;
    return true;
  }
  bool take_varint(std::uint64_t& value) {
    if (at_ != end_ && *at_ < 0x80) [[likely]] {
      value = *at_++;
      return true;
    }
    return take_long_varint(value);
  }
  /// A length and that many bytes.
  bool take_block(std::string_view& block) {
    std::uint64_t size = 0;
    if (!take_varint(size) || size > left())
      return false;
    block = {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(size)};
    at_ += size;
    return true;
  }
  /// As take_block; one of more bytes than are left ends with them. Of the length 32 bits count, as
  /// in TensorFlow.
  bool take_cut_block(std::string_view& block) {
    std::uint64_t size = 0;
    if (!take_varint(size))
      return false;
    const std::size_t taken = std::min<std::size_t>(static_cast<std::uint32_t>(size), left());
    block = {reinterpret_cast<const char*>(at_), taken};
    at_ += taken;
    return true;
  }
  bool take_fixed32(std::uint32_t& value) { return take_fixed(value); }
  bool take_fixed64(std::uint64_t& value) { return take_fixed(value); }
  /// A field whatever it is, tag and value, even of the number 0; groups are refused, a block may
  /// be cut if its length is below 2^31.
  bool skip_field() {
    std::uint64_t tag = 0, number = 0;
    std::uint32_t half = 0;
    if (!take_varint(tag))
      return false;
    switch (tag & 7) {
    case 0:
      return take_varint(number);
    case 1:
      return take_fixed64(number);
    case 2:
      if (!take_varint(number) || static_cast<std::uint32_t>(number) > INT32_MAX)
        return false;
      skip(std::min<std::size_t>(static_cast<std::uint32_t>(number), left()));
      return true;
    case 5:
      return take_fixed32(half);
    default:
      return false;
    }
  }

private:
  template <class T>
  bool take_fixed(T& value) {
    if (left() < sizeof value)
      return false;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return true;
  }
  bool take_long_varint(std::uint64_t& value) {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 70 && at_ != end_; shift += 7) {
      const std::uint8_t byte = *at_++;
      out |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        value = out;
        return true;
      }
    }
    return false;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

} // namespace troupe::parsing
