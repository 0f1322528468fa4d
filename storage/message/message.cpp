#include "storage/message/message.hpp"

namespace troupe {

MessageWriter& MessageWriter::varint(std::uint64_t value) {
  while (value >= 0x80) {
    text_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  text_.push_back(static_cast<char>(value));
  return *this;
}

std::optional<std::uint64_t> take_varint(std::string_view& text) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < text.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    out |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      text.remove_prefix(i + 1);
      return out;
    }
  }
  return {};
}

bool MessageReader::next() {
  if (!ok_ || rest_.empty())
    return false;
  ok_ = false; // until the whole field was read
  const auto tag = take_varint(rest_);
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 536'870'911)
    return false;
  field_ = static_cast<int>(*tag >> 3);
  kind_ = static_cast<unsigned>(*tag & 7);
  std::size_t size = 0;
  if (kind_ == 0 || kind_ == 2) {
    const auto number = take_varint(rest_);
    if (!number)
      return false;
    number_ = *number;
    if (kind_ == 0)
      return ok_ = true;
    if (number_ > rest_.size())
      return false;
    size = static_cast<std::size_t>(number_);
    bytes_ = rest_.substr(0, size);
  } else if (kind_ == 1 || kind_ == 5) {
    size = kind_ == 1 ? 8 : 4;
    if (rest_.size() < size)
      return false;
    number_ = 0;
    std::memcpy(&number_, rest_.data(), size);
  } else {
    return false; // groups
  }
  rest_.remove_prefix(size);
  return ok_ = true;
}

} // namespace troupe
