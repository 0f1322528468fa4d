// Bytes that are 0 or not.
#pragma once
#include <cstdint>

namespace troupe::arith {

/// How many of n bytes are not 0.
int64_t count_flags(const uint8_t* flags, int64_t n);

/// Writes first + i for each flags[i] that is not 0, in order, and at most `room` of them; returns
/// how many. Each byte is read once: another thread may write them.
int64_t find_flags(const uint8_t* flags, int64_t n, int64_t first, int64_t room, int64_t* out);

} // namespace troupe::arith
