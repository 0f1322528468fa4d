// MurmurHash64A: the hash that TensorFlow's runtime calls Hash64.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// With TensorFlow's seed; the same on every machine.
std::uint64_t murmur_hash(std::string_view text);

} // namespace troupe
