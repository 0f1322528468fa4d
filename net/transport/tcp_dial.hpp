// A TCP connection made within a budget. CAF's own attempt has none: the kernel repeats it ever
// more slowly for two minutes, and every other dial of the process waits behind it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/status.hpp"
#include "net/data/sockets.hpp"

namespace troupe {

class StopEvent;

/// Attempts at a time. The first ones wait for their answer to the end, however long a round trip
/// takes; of the others the oldest makes room for a new one, which sees at once that a network is
/// there again.
inline constexpr std::size_t most_dial_attempts = 8, kept_dial_attempts = 4;

/// Blocks the calling thread for at most `budget`, and not beyond `stop` (may be null), until
/// something accepts at host:port. The socket does not block. UNAVAILABLE naming the address and
/// what happened (refused, no answer, unknown host, stopped).
Result<data::Fd> dial_tcp(const std::string& host, std::uint16_t port,
                          std::chrono::milliseconds budget, const StopEvent* stop = nullptr);

} // namespace troupe
