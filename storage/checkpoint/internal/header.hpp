// The header of an index: the entry of the empty key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/message/message.hpp"

namespace troupe::checkpoint {

/// BundleHeaderProto: the number of shards, little-endian, version 1.
inline std::string header_message(int shards) {
  MessageWriter version;
  version.integer(1, 1);
  MessageWriter out;
  out.signed_integer(1, shards).message(3, version);
  return out.take();
}

/// The number of shards; nothing for what is no header of a little-endian checkpoint.
inline std::optional<int> shards_of_header(std::string_view message) {
  std::int64_t shards = 0;
  bool is_little = true;
  MessageReader in(message);
  while (in.next()) {
    if (in.field() == 1)
      shards = in.signed_integer();
    else if (in.field() == 2)
      is_little = in.integer() == 0;
  }
  if (!in.ok() || !is_little || shards < 1 || shards > 99'999)
    return {};
  return static_cast<int>(shards);
}

/// A string's length as checksums take it: in eight bytes where four do not hold it.
inline void append_length(std::string& out, std::uint64_t length) {
  const auto small = static_cast<std::uint32_t>(length);
  if (small == length)
    out.append(reinterpret_cast<const char*>(&small), sizeof small);
  else
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
}

} // namespace troupe::checkpoint
