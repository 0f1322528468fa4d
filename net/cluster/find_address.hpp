// Where tasks are, if the addresses that their cluster lists are not those of their ports.
#pragma once

#include <chrono>
#include <functional>

#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

class StopEvent;

/// Finds the port of a task from its listed address. Blocks for at most `budget`, and not beyond
/// `stop` (may be null). UNAVAILABLE naming the address.
using FindAddress = std::function<Result<Address>(
    const Address& listed, std::chrono::milliseconds budget, const StopEvent* stop)>;

} // namespace troupe
