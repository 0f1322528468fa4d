// A TCP probe with an end: asked before CAF connects, because CAF's own connect holds up every
// other connection of the process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/status.hpp"

namespace troupe {

class StopEvent;

/// Attempts at a time. The first ones wait for their answer to the end, however long a round trip
/// takes; of the others the oldest makes room for a new one, which sees at once that a network is
/// there again.
inline constexpr std::size_t most_probe_attempts = 8, kept_probe_attempts = 4;

/// Blocks the calling thread for at most `budget`, and not beyond `stop` (may be null), until
/// something accepts at host:port; then closes again. UNAVAILABLE naming the address and what
/// happened (refused, no answer, unknown host, stopped).
Status probe_tcp(const std::string& host, std::uint16_t port, std::chrono::milliseconds budget,
                 const StopEvent* stop = nullptr);

} // namespace troupe
