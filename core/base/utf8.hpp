// UTF-8: finds invalid sequences, and replaces them for readers that would refuse the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe {

/// Bytes of the well-formed UTF-8 sequence at the front of `text`, 0 if there is none.
std::size_t utf8_length(std::string_view text);

/// The text with U+FFFD for each byte that is no part of UTF-8.
std::string to_utf8(std::string_view text);

} // namespace troupe
