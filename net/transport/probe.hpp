// A TCP probe with an end: asked before CAF connects, because CAF's own connect holds up every
// other connection of the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/base/status.hpp"

namespace troupe {

class StopEvent;

/// Blocks the calling thread for at most `budget`, and not beyond `stop` (may be null), until
/// something accepts at host:port; then closes again. UNAVAILABLE naming the address and what
/// happened (refused, no answer, unknown host, stopped).
Status probe_tcp(const std::string& host, std::uint16_t port, std::chrono::milliseconds budget,
                 const StopEvent* stop = nullptr);

} // namespace troupe
