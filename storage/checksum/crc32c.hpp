// CRC32C (Castagnoli's polynomial), as TensorFlow's and LevelDB's files have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace troupe {

/// The checksum of what `crc` is that of, followed by `bytes`; 0 is that of nothing.
std::uint32_t extend_crc32c(std::uint32_t crc, std::span<const std::byte> bytes);
inline std::uint32_t crc32c(std::string_view text) {
  return extend_crc32c(0, std::as_bytes(std::span(text)));
}

/// A checksum is stored masked, so that the checksum of bytes that hold one stays of use.
constexpr std::uint32_t mask_crc(std::uint32_t crc) {
  return (crc >> 15 | crc << 17) + 0xa282ead8U;
}
constexpr std::uint32_t unmask_crc(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xa282ead8U;
  return rotated >> 17 | rotated << 15;
}

} // namespace troupe
