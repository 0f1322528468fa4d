// Size classes of the caching allocator: 64 bytes for a buffer's header, plus a payload of 0, 64,
// 128, 192, 256 bytes, and from there four sizes for each power of two. So the payloads that
// programs like best, powers of two, waste nothing.
#pragma once

#include <bit>
#include <cstddef>

namespace troupe::memory {

inline constexpr std::size_t header_bytes = 64;
/// Larger requests are refused.
inline constexpr std::size_t max_request = std::size_t{1} << 47;
/// The largest request that the lists of a thread serve: a payload of 32 KiB.
inline constexpr std::size_t max_small = (std::size_t{32} << 10) + header_bytes;
inline constexpr int small_classes = 33;
inline constexpr int classes = 161;

/// The class that serves a request of 0 ≤ `bytes` ≤ max_request.
constexpr int class_of(std::size_t bytes) {
  if (bytes <= header_bytes)
    return 0;
  std::size_t payload = bytes - header_bytes;
  if (payload <= 256)
    return static_cast<int>((payload + 63) / 64);
  int power = std::bit_width(payload - 1); // 2^(power-1) < payload ≤ 2^power
  std::size_t below = std::size_t{1} << (power - 1);
  std::size_t quarter = (payload - below + below / 4 - 1) >> (power - 3); // 1 … 4
  return 4 + (power - 9) * 4 + static_cast<int>(quarter);
}

/// Bytes of a block of the class, a multiple of 64.
constexpr std::size_t class_bytes(int index) {
  if (index <= 4)
    return header_bytes + static_cast<std::size_t>(index) * 64;
  int power = 9 + (index - 5) / 4;
  std::size_t below = std::size_t{1} << (power - 1);
  return header_bytes + below + below / 4 * static_cast<std::size_t>((index - 5) % 4 + 1);
}

static_assert(class_of(max_small) == small_classes - 1 && class_of(max_small + 1) == small_classes);
static_assert(class_of(max_request) == classes - 1 && class_bytes(classes - 1) >= max_request);

} // namespace troupe::memory
