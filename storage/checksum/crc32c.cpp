#include "storage/checksum/crc32c.hpp"

#include <algorithm>

#include <isa-l/crc.h>

namespace troupe {

std::uint32_t extend_crc32c(std::uint32_t crc, std::span<const std::byte> bytes) {
  constexpr std::size_t most = 1 << 30; // the library counts in int
  crc = ~crc;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), most));
    // The library takes a pointer to what it may write, and only reads.
    crc =
        crc32_iscsi(const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(part.data())),
                    static_cast<int>(part.size()), crc);
    bytes = bytes.subspan(part.size());
  }
  return ~crc;
}

} // namespace troupe
