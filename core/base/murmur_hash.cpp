#include "core/base/murmur_hash.hpp"

#include <bit>
#include <cstring>

namespace troupe {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

std::uint64_t murmur_hash(std::string_view text) {
  constexpr std::uint64_t m = 0xc6a4a7935bd1e995ULL, seed = 0xDECAFCAFFEULL;
  constexpr int r = 47;
  std::uint64_t h = seed ^ text.size() * m;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    std::uint64_t k = word * m;
    k = (k ^ k >> r) * m;
    h = (h ^ k) * m;
  }
  if (!text.empty()) {
    std::uint64_t rest = 0;
    std::memcpy(&rest, text.data(), text.size());
    h = (h ^ rest) * m;
  }
  h = (h ^ h >> r) * m;
  return h ^ h >> r;
}

} // namespace troupe
