// Hashes of text that TensorFlow's ops promise; the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::strings {

/// FarmHash's Fingerprint64.
std::uint64_t farm_fingerprint(std::string_view text);
/// SipHash-2-4 (Aumasson and Bernstein 2012).
std::uint64_t sip_hash(std::uint64_t key0, std::uint64_t key1, std::string_view text);

} // namespace troupe::strings
